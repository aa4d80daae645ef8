package state

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// MatchLease is a holder's right to allocate the server of a match.
type MatchLease struct {
	// Holder names one attempt at a match.
	Holder string
	// Hold is how long no other holder asks for the match's server.
	Hold time.Duration
	// The search for a server ends after Search. The tickets wait again after Claim if the match has no result by then.
	// Later leases of the match have what earlier leases left of these times, which stand while there is no lease.
	Search, Claim time.Duration
}

// Allocation is what BeginAllocations says of a match.
type Allocation struct {
	Status MatchStatus
	// First is true when this is the match's first lease.
	First bool
	// Search is the time after which the search for a server ends.
	Search time.Duration
	// Players are the ids of the players of each ticket, in the order of TicketsOf. A ticket that has left has none.
	Players [][]string
	// Wait is how long another holder's lease still lasts, with the status MatchLeased.
	Wait time.Duration
	// Position is the feed's position after tickets were released, else 0.
	Position uint64
}

// Beginning asks for the lease of a match.
type Beginning struct {
	Match *pb.Match
	Lease MatchLease
}

// BeginAllocations takes the leases of matches. From then on a match is no longer dropped when a ticket leaves. All
// leases last equally long. After an error, the matches whose lease is not known have no status.
func (s *Store) BeginAllocations(ctx context.Context, project string, matches []Beginning) ([]Allocation, error) {
	all := make([]Allocation, 0, len(matches))
	err := runBatches(ctx, s, project, matches, 5, func(b Beginning) (tickets, bytes int) {
		return CountTickets(b.Match.GetProposal()), 0
	}, func(batch []Beginning) (call, error) { return s.beginCall(keysOf(project), batch), nil },
		func(_ Beginning, position uint64, said []any) (err error) {
			var b Allocation
			var others []string
			if said != nil {
				b, others, err = allocationOf(said)
			}
			if b.Status == MatchDropped {
				b.Position, err = s.releaseOthers(ctx, project, others, "unallocated")
				b.Position = max(position, b.Position)
			}
			all = append(all, b)
			return err
		})
	return all, err
}

func (s *Store) beginCall(k keys, matches []Beginning) call {
	l := matches[0].Lease
	c := s.call("allocation_begin", k, ids{},
		"duration", l.Hold.Milliseconds(),
		"search_time", l.Search.Milliseconds(),
		"claim_time", l.Claim.Milliseconds(),
		"match_count", len(matches))
	for _, b := range matches {
		m := b.Match
		tickets := TicketsOf(m.GetProposal())
		c.keys = append(c.keys, k.match(m.GetId()))
		c.addKeys(k.ticket, tickets)
		c.keys = append(c.keys, placeKeys(k, m)...)
		c.args = append(c.args, m.GetId(), b.Lease.Holder, len(tickets), strings.Join(tickets, " "),
			s.encodeEvent(matchEvent(m, pb.Event_KIND_ALLOCATING)), s.encodeEvent(droppedEvent(m)), placeOf(m))
	}
	return c
}

// droppedEvent is the event of a match that is dropped because a ticket left.
func droppedEvent(m *pb.Match) *pb.Event {
	dropped := matchEvent(m, pb.Event_KIND_RELEASED)
	dropped.Reason = "left"
	return dropped
}

// allocationOf reads what a script says of the lease of a match: status, number, first, time left and players; or, of
// one that was dropped, matches that went to its game.
func allocationOf(values []any) (b Allocation, others []string, err error) {
	var status, names string
	var busy, left int64
	if err := parseReply(values, &status, &busy, &b.First, &left, &names); err != nil {
		return b, nil, err
	}
	b.Status, b.Wait = MatchStatus(status), time.Duration(busy)*time.Millisecond
	b.Search = time.Duration(left) * time.Millisecond
	if b.Status != MatchActive {
		return b, strings.Fields(names), nil
	}
	for ticket := range strings.SplitSeq(names, "\t") {
		b.Players = append(b.Players, strings.FieldsFunc(ticket, func(c rune) bool { return c == '\n' }))
	}
	return b, nil, nil
}

// SetMatchLease extends a lease to hold from now on. With 0 it ends: another holder may take it at once. It is false
// when another holder has the lease, or the match has ended.
func (s *Store) SetMatchLease(
	ctx context.Context, project, match, holder string, hold time.Duration,
) (has bool, err error) {
	err = s.evalShared(ctx, project, s.call("allocation_lease", keysOf(project), ids{ofMatch: match},
		"holder", holder,
		"duration", hold.Milliseconds()), &has)
	return has, err
}

// LongestBackoff is the longest pause between two tries to deallocate a server.
const LongestBackoff = 10 * time.Minute

// Backoff says when a failed deallocation is tried again.
type Backoff struct {
	// First is the time between the first two tries. After that the time doubles, up to Max, LongestBackoff at most.
	First, Max time.Duration
	// Patience is the time after which it is not tried again.
	Patience time.Duration
}

// Deallocation is a match that has ended and may have a server. When tickets use one, Used is its connection, and only
// the match's other servers are to be given back. Last is true when it was tried for as long as it may be. It is the
// caller's turn until Due, in Unix milliseconds, and longer if no other one comes.
type Deallocation struct {
	Match *pb.Match
	Used  string
	Last  bool
	Due   int64
}

// ClaimDeallocations returns up to limit deallocations of each project. The caller gives the server back and calls
// FinishDeallocation. If it does not, a later call returns the match again, after the time in b. When the last try
// fails, the caller gives up.
func (s *Store) ClaimDeallocations(
	ctx context.Context, projects []string, limit int, b Backoff,
) (map[string][]Deallocation, error) {
	due, err := forEach(ctx, s.redis, projects, func(p redis.Pipeliner, project string) *redis.StringSliceCmd {
		return p.ZRangeArgs(ctx, dueArgs(keysOf(project).deallocations(), millis(s.Now()), limit))
	})
	if err != nil {
		return nil, err
	}
	var all []matchOf
	for i, project := range projects {
		for _, id := range due[i].Val() {
			all = append(all, matchOf{project, id})
		}
	}
	claimed, err := stepAbreast(all, func(one matchOf) (Deallocation, error) { return s.claimDeallocation(ctx, one, b) })
	matches := map[string][]Deallocation{}
	for i, one := range claimed {
		if one.Match != nil {
			matches[all[i].project] = append(matches[all[i].project], one)
		}
	}
	return matches, err
}

// matchOf is a match of a project.
type matchOf struct{ project, id string }

// claimDeallocation claims a deallocation; its Match is nil if another caller has it.
func (s *Store) claimDeallocation(ctx context.Context, one matchOf, b Backoff) (d Deallocation, err error) {
	var body string
	err = s.eval(ctx, s.call("deallocation_claim", keysOf(one.project), ids{ofMatch: one.id},
		"match_id", one.id,
		"first_delay", b.First.Milliseconds(),
		"max_delay", b.Max.Milliseconds(),
		"patience", b.Patience.Milliseconds()), &body, &d.Used, &d.Last, &d.Due)
	if err == nil && body != "" {
		d.Match, err = parse[pb.Match]("match", body)
	}
	return d, err
}

// confirmAfter is the time between two deallocations of a match whose holder may still have been asking for the server.
// It is longer than any call.
const confirmAfter = time.Minute

// FinishDeallocation notes that the server of a match was given back, if it had one, or that the caller has given up.
// It does nothing, and is false, when it is another one's turn.
func (s *Store) FinishDeallocation(
	ctx context.Context, project string, d Deallocation, givenUp bool,
) (ended bool, err error) {
	event := matchEvent(d.Match, pb.Event_KIND_RETURNED)
	if givenUp {
		event.Kind, event.Reason = pb.Event_KIND_UNRETURNED, "expired"
	}
	err = s.eval(ctx, s.call("deallocation_finish", keysOf(project), ids{ofMatch: d.Match.GetId()},
		"match_id", d.Match.GetId(),
		"claimed", d.Due,
		"memory", matchMemory.Milliseconds(),
		"pause", confirmAfter.Milliseconds(),
		"given_up", flag(givenUp),
		"event", s.encodeEvent(event)), &ended)
	return ended, err
}

// GameServer reads the stored server of a match, and keeps it stored for at least as long. The status is MatchAssigned,
// MatchActive while the server is being asked for, MatchReleased when the match got none, or MatchForgotten. The server
// is nil unless the match was assigned and its server is stored.
func (s *Store) GameServer(
	ctx context.Context, project, match string, keep time.Duration,
) (MatchStatus, *pb.GameServer, error) {
	var state, body string
	if err := s.eval(ctx, s.call("match_server", keysOf(project), ids{ofMatch: match},
		"match_id", match,
		"duration", keep.Milliseconds()), &state, &body); err != nil {
		return "", nil, err
	}
	switch state {
	case "d":
	case "x":
		return MatchReleased, nil, nil
	case "":
		return MatchForgotten, nil, nil
	default:
		return MatchActive, nil, nil
	}
	if body == "" {
		return MatchAssigned, nil, nil
	}
	server, err := parse[pb.GameServer]("game server", body)
	return MatchAssigned, server, err
}

// ServerOf reads the stored server of a match; nil when none is stored.
func (s *Store) ServerOf(ctx context.Context, project, match string) (*pb.GameServer, error) {
	return readMessage[pb.GameServer](ctx, s, project, keysOf(project).match(match), "v", "game server")
}
