package state

import (
	"context"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// Acceptance is what a match asks the players of its tickets before it goes on.
type Acceptance struct {
	Match string
	// Left is how long they may still answer; zero when they may not.
	Left time.Duration
	// Players are asked, in all tickets of the match, and Accepted of them accepted so far.
	Players, Accepted int
	// Answered are the ticket's players that accepted, and Open the others.
	Answered, Open []string
}

// Answer is the answer of a ticket's players to the match that asks them.
type Answer struct {
	Ticket, Match string
	Accept        bool
	// Players are some of the ticket; none means all of them.
	Players []string
}

// AnswerMatch takes an answer, and reports whether it ended the acceptance: all players accepted, or the first
// declined. EndAcceptances does the rest. The same answer may be given again. Errors: NotFound when there is no such
// ticket; Conflict when the match does not ask its players, or no longer; Invalid when a player is not one of the
// ticket's.
func (s *Store) AnswerMatch(ctx context.Context, project string, a Answer) (over bool, err error) {
	event := &pb.Event{Kind: pb.Event_KIND_DECLINED, Match: a.Match}
	if a.Accept {
		event.Kind = pb.Event_KIND_ACCEPTED
	}
	c := s.call("acceptance_answer", keysOf(project), ids{ofTicket: a.Ticket, ofMatch: a.Match},
		"match_id", a.Match,
		"id", a.Ticket,
		"answer", flag(a.Accept),
		"event", s.encodeEvent(event))
	c.addArgs(a.Players)
	var verdict string
	var n int
	if err := s.evalShared(ctx, project, c, &verdict, &n); err != nil {
		return false, err
	}
	switch verdict {
	case "ok":
		return n == 1, nil
	case "gone":
		return false, noTicket(a.Ticket)
	case "stranger":
		return false, problem.New(problem.Invalid, "players.%d: not a player of this ticket", n-1)
	case "other":
		return false, problem.New(problem.AcceptanceOver, "match: the ticket does not belong to the match %q, or no longer",
			a.Match)
	}
	return false, problem.New(problem.AcceptanceOver, "match: its acceptance is over")
}

// acceptance reads what a match asks the players of a ticket; nil when it does not ask them, or no longer.
func (s *Store) acceptance(ctx context.Context, project, match string, t *pb.Ticket) (*Acceptance, error) {
	names := PlayersOf(t)
	wanted := append(make([]string, 0, 4+len(names)), "s", "e", "q", "g")
	for _, name := range names {
		wanted = append(wanted, "p:"+name)
	}
	fields, err := s.readShared(ctx, project, keysOf(project).match(match), wanted...)
	if err != nil || fields[0] != "o" {
		return nil, err
	}
	in := replied{of: "match " + match}
	a := &Acceptance{Match: match, Players: int(in.digits(fields[2])), Accepted: int(in.digits(fields[3])),
		Left: max(0, time.UnixMilli(in.digits(fields[1])).Sub(s.Now()))}
	for i, name := range names {
		if fields[4+i] == nil {
			a.Open = append(a.Open, name)
		} else {
			a.Answered = append(a.Answered, name)
		}
	}
	return a, in.err
}

// PlayersOf lists the players of a ticket: its owner, unless it names others.
func PlayersOf(t *pb.Ticket) []string {
	if len(t.GetPlayers()) == 0 {
		return []string{t.GetOwner()}
	}
	names := make([]string, len(t.GetPlayers()))
	for i, p := range t.GetPlayers() {
		names[i] = p.GetId()
	}
	return names
}

// PlayerCount is how many players a ticket has: its owner alone, unless it names others.
func PlayerCount(t *pb.Ticket) int { return max(1, len(t.GetPlayers())) }

// isAsking reports whether a match in this state asks its players, or did and the director does not know yet.
func isAsking(state any) bool { return state == "o" || state == "q" || state == "n" }

// acceptanceOf is how many milliseconds the players of a match may accept it, 0 if they are not asked.
func acceptanceOf(m *pb.Match) int64 { return max(0, m.GetAcceptance()) }

// Acceptances is what EndAcceptances ended.
type Acceptances struct {
	// Accepted are matches that go on. Matches for hosting are in the outbox, and the caller has to end matches without a
	// place.
	Accepted []*pb.Match
	// Failed are matches that ended, and Declined and Silent their tickets that ended too, since a player declined or was
	// silent. The others wait again.
	Failed           []*pb.Match
	Declined, Silent []string
	// Position is the feed's position when tickets wait again, else 0.
	Position uint64
	// More is true when there may be more.
	More bool
}

// Ended are the tickets that ended.
func (a Acceptances) Ended() []string { return slices.Concat(a.Declined, a.Silent) }

// AcceptanceTerms say how acceptances end.
type AcceptanceTerms struct {
	// Claim is how long a match that goes on waits for an allocator, and Approval how long it waits for the server of a
	// running game.
	Claim, Approval time.Duration
	// Readable is how long ends of tickets can be read, where they are told.
	Readable time.Duration
	// Watched is how long the caller has found the state store and a service that takes answers without a gap. A player
	// who did not answer a match made before that is not taken for silent: the answer may have been lost. The ticket waits
	// again.
	Watched time.Duration
	// Limit is how many end at a time.
	Limit int
}

// EndAcceptances ends the acceptances of matches that all players accepted, that one declined, or whose time is over.
// After an error it returns what it ended before.
func (s *Store) EndAcceptances(
	ctx context.Context, project string, terms AcceptanceTerms,
) (ended Acceptances, err error) {
	k := keysOf(project)
	due, err := s.due(ctx, k.claims(), millis(s.Now()), terms.Limit)
	if err != nil || len(due) == 0 {
		return ended, err
	}
	matches, err := s.matches(ctx, k, due, true)
	if err != nil || len(matches) == 0 {
		return ended, err
	}
	ended.More = len(due) == terms.Limit
	pauses, err := s.pausesOf(ctx, project)
	if err != nil {
		return ended, err
	}
	all, err := stepAbreast(matches, func(m *pb.Match) (one Acceptances, err error) {
		err = s.endAcceptance(ctx, project, m, terms, pauses, &one)
		return one, err
	})
	for _, one := range all {
		ended.Accepted, ended.Failed = append(ended.Accepted, one.Accepted...), append(ended.Failed, one.Failed...)
		ended.Declined, ended.Silent = append(ended.Declined, one.Declined...), append(ended.Silent, one.Silent...)
		ended.Position = max(ended.Position, one.Position)
	}
	return ended, err
}

func (s *Store) endAcceptance(
	ctx context.Context, project string, m *pb.Match, terms AcceptanceTerms, pauses Pauses, ended *Acceptances,
) error {
	made, err := madeOf(m)
	if err != nil {
		return err
	}
	c := s.call("acceptance_end", keysOf(project), ids{ofMatch: m.GetId(), ofBackfill: backfillOf(m)},
		"match_id", m.GetId(),
		"told_time", terms.Readable.Milliseconds(),
		"claim_time", terms.Claim.Milliseconds(),
		"approval_time", terms.Approval.Milliseconds(),
		"acceptance", acceptanceOf(m),
		"watched", terms.Watched.Milliseconds(),
		"target", neededTarget(m),
		"event", s.encodeEvent(matchEvent(m, pb.Event_KIND_RELEASED)),
		"ended_event", s.encodeEvent(matchEvent(m, pb.Event_KIND_EXPIRED)),
		"place", placeOf(m),
		"made", made,
		"first_pause", pauses.First.Milliseconds(),
		"longest_pause", pauses.Longest.Milliseconds(),
		"pause_limit", PausedPlayers)
	c.addEach(keysOf(project).ticket, TicketsOf(m.GetProposal()))
	var verdict string
	var declined, silent, others words
	if err := s.eval(ctx, c, &verdict, &ended.Position, &declined, &silent, &others); err != nil || verdict == "other" {
		return err
	}
	if verdict == "accepted" {
		ended.Accepted = append(ended.Accepted, m)
		return nil
	}
	ended.Failed, ended.Declined, ended.Silent = append(ended.Failed, m), declined, silent
	at, err := s.releaseOthers(ctx, project, others, "unallocated")
	ended.Position = max(ended.Position, at)
	return err
}
