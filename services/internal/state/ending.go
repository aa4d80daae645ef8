package state

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Ending is the end of a match: what becomes of it, and the result of each of its tickets. One result is that of all.
type Ending struct {
	Match   *pb.Match
	Tickets []string
	Results []*pb.Assignment
	Outcome
}

// result is that of the i-th ticket.
func (e *Ending) result(i int) *pb.Assignment { return e.Results[min(i, len(e.Results)-1)] }

// Ended tells what became of an Ending. Assigned are the tickets that still existed, and the tickets that were proposed
// to the match's backfill ticket meanwhile: they get the connection as well. Any status but MatchActive means that
// nothing was written: the match had ended before, or, with MatchLeased, another holder has the lease. A server that no
// ticket uses is to be deallocated then. A match whose players are still asked, since Redis lost that they accepted,
// ends so too, and its tickets wait again.
type Ended struct {
	Status   MatchStatus
	Assigned []string
	// Results are those of the assigned tickets; nil for one that was proposed to the backfill ticket.
	Results []*pb.Assignment
	// Room is true when matches that had to wait for servers may be claimed now.
	Room bool
}

// EndMatch writes the results of a match and ends it.
func (s *Store) EndMatch(ctx context.Context, project string, e Ending) (Ended, error) {
	if e.Match.GetBackfill() != "" {
		return s.endWithBackfill(ctx, project, e)
	}
	all, err := s.EndMatches(ctx, project, []Ending{e})
	if err != nil {
		return Ended{}, err
	}
	return all[0], nil
}

// EndMatches writes the results of matches that were made without backfill tickets, and ends them. Their results are
// readable equally long. After an error it returns what became of the first matches, to which it did not come.
func (s *Store) EndMatches(ctx context.Context, project string, endings []Ending) ([]Ended, error) {
	k := keysOf(project)
	all := make([]ending, len(endings))
	for i := range endings {
		var err error
		if all[i], err = s.encodeEnding(&endings[i]); err != nil {
			return nil, err
		}
	}
	var calls []call
	var sizes []int
	for batch := range batchesOf(all, func(e ending) (tickets, bytes int) { return len(e.Tickets), e.bytes }) {
		calls, sizes = append(calls, s.endCall(k, batch)), append(sizes, len(batch))
	}
	ended := make([]Ended, 0, len(endings))
	replies, err := s.runAllShared(ctx, project, calls)
	for i, reply := range replies {
		r, err := listOf(reply, 2*sizes[i])
		if err != nil {
			return ended, err
		}
		for values := range slices.Chunk(r, 2) {
			var in replied
			status, flags := in.text(values[0]), in.text(values[1])
			if in.err != nil {
				return ended, in.err
			}
			e := Ended{Status: MatchStatus(status), Room: status == room}
			if e.Room {
				e.Status = MatchActive
			}
			of := &endings[len(ended)]
			for j, id := range of.Tickets {
				if j < len(flags) && flags[j] == '1' {
					e.Assigned, e.Results = append(e.Assigned, id), append(e.Results, of.result(j))
				}
			}
			if e.Status == matchAsked {
				if e, err = s.endAsked(ctx, project, of); err != nil {
					return ended, err
				}
			}
			ended = append(ended, e)
		}
	}
	return ended, err
}

// matchAsked is the status of a match with a server whose players are still asked: Redis lost that they accepted.
const matchAsked MatchStatus = "asked"

// endAsked ends such a match: its server is deallocated, and its tickets wait again.
func (s *Store) endAsked(ctx context.Context, project string, e *Ending) (Ended, error) {
	mayHaveServer := true
	_, _, err := s.releaseMatch(ctx, project, e.Match, release{reason: "lost", holder: e.Holder,
		mayHaveServer: &mayHaveServer})
	return Ended{Status: MatchReleased}, err
}

// room is the status of a match that was assigned, when matches that had to wait may be claimed now.
const room = "room"

// ending is an Ending as scripts get it.
type ending struct {
	*Ending
	event, body, server []byte
	outcome             outcome
	results             [][]byte
	bytes               int // of all of them
}

func (s *Store) encodeEnding(e *Ending) (a ending, err error) {
	a = ending{Ending: e, event: s.encodeEvent(e.event())}
	m := e.Match
	if a.outcome, err = outcomeOf(m.GetId(), m.GetProposal()); err != nil {
		return a, err
	}
	if e.Connection != "" || e.MayHaveServer {
		if a.body, err = proto.Marshal(m); err != nil {
			return a, corrupt("match", err)
		}
	}
	if e.Server != nil {
		if a.server, err = proto.Marshal(e.Server); err != nil {
			return a, corrupt("game server", err)
		}
	}
	a.results = make([][]byte, len(e.Results))
	for i, result := range e.Results {
		if a.results[i], err = proto.Marshal(a.outcome.refer(result)); err != nil {
			return a, corrupt("assignment", err)
		}
		a.bytes += len(a.results[i])
	}
	a.bytes += len(a.body) + len(a.outcome.body)
	return a, nil
}

// event is that of the tickets of the match.
func (e *Ending) event() *pb.Event {
	ended := matchEvent(e.Match, pb.Event_KIND_ASSIGNED)
	if e.Error != "" {
		ended.Kind, ended.Error, ended.Reason, ended.Detail = pb.Event_KIND_FAILED, e.Error, e.Reason, e.Detail
	}
	return ended
}

func (s *Store) endCall(k keys, all []ending) call {
	c := s.call(matchAssignScript, k, ids{},
		"readable", all[0].Readable.Milliseconds(),
		"memory", matchMemory.Milliseconds(),
		"match_count", len(all))
	for _, a := range all {
		m := a.Match
		c.keys = append(c.keys, k.match(m.GetId()), k.outcome(m.GetId()))
		for _, id := range a.Tickets {
			c.keys = append(c.keys, k.ticket(id))
		}
		c.args = append(c.args, m.GetId(), a.Holder, len(a.Tickets), strings.Join(a.Tickets, " "), a.event, a.Connection,
			a.body, flag(a.MayHaveServer), a.server, a.KeepServer.Milliseconds(), neededTarget(m), a.answer(), a.outcome.body,
			len(a.results))
		for _, result := range a.results {
			c.args = append(c.args, result)
		}
	}
	return c
}

// endWithBackfill ends a match that a backfill ticket was created with.
func (s *Store) endWithBackfill(ctx context.Context, project string, e Ending) (ended Ended, err error) {
	m := e.Match
	k, backfill := keysOf(project), m.GetBackfill()
	a, err := s.encodeEnding(&e)
	if err != nil {
		return ended, err
	}
	joined := matchEvent(m, pb.Event_KIND_ASSIGNED)
	joined.Backfill = backfill
	assignments := make([]*pb.Assignment, len(e.Tickets))
	for i := range assignments {
		assignments[i] = a.outcome.refer(e.result(i))
	}
	var proposed []string
	var r []any
	for range maxAttempts {
		c := s.call(matchAssignBackfillScript, k, ids{ofMatch: m.GetId(), ofBackfill: backfill},
			"match_id", m.GetId(),
			"holder", e.Holder,
			"readable", e.Readable.Milliseconds(),
			"event", a.event,
			"backfill_id", backfill,
			"ticket_count", len(e.Tickets),
			"connection", e.Connection,
			"joined_event", s.encodeEvent(joined),
			"rejected_event", s.encodeEvent(rejectedEvent(backfill, "unallocated")),
			"body", a.body,
			"call_lost", flag(e.MayHaveServer),
			"server", a.server,
			"server_time", e.KeepServer.Milliseconds(),
			"memory", matchMemory.Milliseconds(),
			"target", targetName(m),
			"answer", e.answer(),
			"outcome_body", a.outcome.body,
			"joined_outcomes", outcomesOf(assignments[len(e.Tickets):]))
		if err := c.assignments(k, slices.Concat(e.Tickets, proposed), assignments); err != nil {
			return ended, err
		}
		reply, err := s.runShared(ctx, project, c)
		if err != nil {
			return ended, err
		}
		if r, err = listOf(reply, 1); err != nil {
			return ended, err
		}
		if r[0] != "again" {
			break
		}
		var theirs []*pb.Assignment
		if proposed, theirs, err = parseAssignments(r[1:], e.Connection); err != nil {
			return ended, err
		}
		assignments = append(assignments[:len(e.Tickets)], theirs...)
	}
	var in replied
	switch verdict := in.text(r[0]); verdict {
	case "again":
		return ended, busyBackfill(backfill)
	case string(matchAsked):
		return s.endAsked(ctx, project, &e)
	case room:
		ended.Status, ended.Room = MatchActive, true
	default:
		ended.Status = MatchStatus(verdict)
	}
	for i, id := range slices.Concat(e.Tickets, proposed) {
		if 1+i >= len(r) || !in.flag(r[1+i]) {
			continue
		}
		var result *pb.Assignment
		if i < len(e.Tickets) {
			result = e.result(i)
		}
		ended.Assigned, ended.Results = append(ended.Assigned, id), append(ended.Results, result)
	}
	return ended, in.err
}
