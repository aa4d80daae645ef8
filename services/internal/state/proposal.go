package state

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
)

// maxProposed is the most tickets that can be proposed to a backfill ticket before its server approves them: one script
// moves all of them.
const maxProposed = 500

// proposedLimit is the most tickets that may be proposed to a backfill ticket at all: a single match may have more than
// are left until maxProposed.
const proposedLimit = 1000

// maxAttempts is how often a script is called when the tickets that are proposed to a backfill ticket change meanwhile.
// They change about once a cycle.
const maxAttempts = 32

// proposalCall proposes a match's tickets to a backfill ticket.
func (s *Store) proposalCall(k keys, terms ClaimOptions, claim *Claim) (call, error) {
	m := claim.Match
	id := gameOf(m)
	made, shared, err := encodeJoining(m)
	if err != nil {
		return call{}, err
	}
	event := matchEvent(m, pb.Event_KIND_PROPOSED)
	event.Backfill, event.Epoch = id, terms.Epoch
	claim.describe(event)
	c := s.call(proposalCreateScript, k, ids{ofMatch: m.GetId(), ofBackfill: id},
		"epoch", terms.Epoch,
		"approval_time", terms.Approval.Milliseconds(),
		"config", m.GetConfig(),
		"revision", m.GetRevision(),
		"backfill_id", id,
		"generation", m.GetProposal().GetFilling().GetGeneration(),
		"new_body", made,
		"limit", maxProposed,
		"max_proposed", proposedLimit,
		"bytes_limit", s.limits.BackfillMemory<<20,
		"results_limit", s.limits.TicketMemory<<20,
		"match_id", m.GetId(),
		"outcome_body", shared.body,
		"event", s.encodeEvent(event))
	return c, c.assignments(k, claim.Tickets, seated(m, claim.Tickets, shared.referAll(claim.Assignments)))
}

// offerCall asks the players of a match whether they go to the running game of a backfill ticket.
func (s *Store) offerCall(k keys, terms ClaimOptions, claim *Claim) (call, error) {
	m := claim.Match
	id := gameOf(m)
	made, shared, err := encodeJoining(m)
	if err != nil {
		return call{}, err
	}
	body, err := proto.Marshal(m)
	if err != nil {
		return call{}, corrupt("match", err)
	}
	event := claim.event(terms.Epoch)
	event.Backfill = id
	c := s.call(proposalOfferScript, k, ids{ofMatch: m.GetId(), ofBackfill: id},
		"epoch", terms.Epoch,
		"max_matches", terms.Matches,
		"config", m.GetConfig(),
		"revision", m.GetRevision(),
		"backfill_id", id,
		"generation", m.GetProposal().GetFilling().GetGeneration(),
		"new_body", made,
		"max_proposed", proposedLimit,
		"bytes_limit", s.limits.BackfillMemory<<20,
		"results_limit", s.limits.TicketMemory<<20,
		"outcome_size", len(shared.body),
		"match_id", m.GetId(),
		"body", body,
		"acceptance", acceptanceOf(m),
		"event", s.encodeEvent(event))
	c.tickets(k, claim.Tickets)
	return c, nil
}

// ProposeAccepted proposes the tickets of matches that all their players accepted to the running games that they asked
// for, whose servers have the time from now on. The claims have assignments, as those of proposals. It sets a claim's
// Refusal: "game" when the game changed, ended or has no room, so that the tickets wait again, and "other" when the
// match ended before, or goes on in another way. It returns the feed's position after the last change.
func (s *Store) ProposeAccepted(
	ctx context.Context, project string, approval time.Duration, claims []*Claim,
) (position uint64, err error) {
	k := keysOf(project)
	return s.claimEach(ctx, claims, func(c *Claim) (call, error) { return s.acceptCall(k, approval, c) })
}

func (s *Store) acceptCall(k keys, approval time.Duration, claim *Claim) (call, error) {
	m, id := claim.Match, gameOf(claim.Match)
	made, shared, err := encodeJoining(m)
	if err != nil {
		return call{}, err
	}
	event, released := matchEvent(m, pb.Event_KIND_PROPOSED), matchEvent(m, pb.Event_KIND_RELEASED)
	event.Backfill, released.Reason = id, "game"
	c := s.call(proposalAcceptScript, k, ids{ofMatch: m.GetId(), ofBackfill: id},
		"approval_time", approval.Milliseconds(),
		"backfill_id", id,
		"new_body", made,
		"limit", maxProposed,
		"max_proposed", proposedLimit,
		"bytes_limit", s.limits.BackfillMemory<<20,
		"match_id", m.GetId(),
		"outcome_body", shared.body,
		"event", s.encodeEvent(event),
		"released_event", s.encodeEvent(released))
	return c, c.assignments(k, claim.Tickets, seated(m, claim.Tickets, shared.referAll(claim.Assignments)))
}

// gameOf is the backfill ticket of the running game that a match's tickets go to, "" if they get a server of their own.
func gameOf(m *pb.Match) string { return m.GetProposal().GetFilling().GetBackfill() }

// encodeJoining encodes what a match whose tickets go to a running game brings: what its function made of the backfill
// ticket, with "=" before its body and empty for nothing, and what the results have in common.
func encodeJoining(m *pb.Match) (made []byte, shared outcome, err error) {
	if contents := m.GetProposal().GetFilling().GetContents(); contents != nil {
		body, err := backfillBody(contents)
		if err != nil {
			return nil, outcome{}, err
		}
		made = append([]byte{'='}, body...)
	}
	shared, err = outcomeOf(m.GetId(), m.GetProposal())
	return made, shared, err
}

// ApprovalOptions are the conditions of an approval.
type ApprovalOptions struct {
	// Readable is how long the results of the tickets stay readable.
	Readable time.Duration
	// RepeatJoined is how long a ticket that joined is reported again, in case an answer was lost.
	RepeatJoined time.Duration
	// Rate is how often one server may approve.
	Rate Rate
	// Match is the match that the backfill ticket must belong to; empty for any.
	Match string
	// Trace is the trace of the approval, for readers of the results; nil when it is not sampled.
	Trace []byte
}

// Approval is the result of an approval.
type Approval struct {
	Backfill *pb.Backfill
	// Assigned are exactly the tickets that this approval assigned.
	Assigned []*Ticket
	// Previous are tickets that were assigned before, of which the server may not have learned.
	Previous []*Ticket
	// Position is the feed's position after the approval, 0 when nothing changed.
	Position uint64
}

// ApproveBackfill assigns the tickets that are proposed to a backfill ticket, and notes that its server lives. If they
// were proposed too long ago, they wait again instead. While the server is being allocated, they stay proposed. Errors:
// NotFound when there is no such backfill ticket, or it belongs to another match. Limited when its server approves too
// often.
func (s *Store) ApproveBackfill(ctx context.Context, project, id string, a ApprovalOptions) (*Approval, error) {
	k := keysOf(project)
	interval, burst := a.Rate.bucket()
	var generation any = ""
	var tickets []string
	var assignments []*pb.Assignment
	for range maxAttempts {
		c := s.call(proposalApproveScript, k, ids{ofBackfill: id},
			"backfill_id", id,
			"readable", a.Readable.Milliseconds(),
			"repeat_time", a.RepeatJoined.Milliseconds(),
			"interval", interval,
			"burst", burst,
			"match_id", a.Match,
			"assigned_event", s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_ASSIGNED, Backfill: id}),
			"rejected_event", s.encodeEvent(rejectedEvent(id, "lapsed")),
			"generation", generation,
			"outcome_ids", outcomesOf(assignments))
		if err := c.assignments(k, tickets, assignments); err != nil {
			return nil, err
		}
		reply, err := s.run(ctx, c)
		if err != nil {
			return nil, err
		}
		r, err := listOf(reply, 1)
		if err != nil {
			return nil, err
		}
		switch {
		case r[0] == "limited" && len(r) > 1:
			after, err := positionOf(r[1])
			if err != nil {
				return nil, err
			}
			return nil, a.Rate.LimitError("backfill", time.Duration(after)*time.Microsecond,
				"this backfill ticket is approved too often: once a second is enough, %v times are tolerated", a.Rate.PerSecond)
		case r[0] == "again" && len(r) > 2:
			generation = r[1]
			var in replied
			connection := in.text(r[2])
			if tickets, assignments, err = parseAssignments(r[3:], connection); cmp.Or(in.err, err) != nil {
				return nil, cmp.Or(in.err, err)
			}
			if a.Trace != nil {
				for _, of := range assignments {
					of.Trace = a.Trace
				}
			}
		case r[0] == "ok" && len(r) > 7:
			assignmentOf := make(map[string]*pb.Assignment, len(tickets))
			for i, ticket := range tickets {
				assignmentOf[ticket] = assignments[i]
			}
			return s.approval(ctx, k, id, r, assignmentOf)
		default:
			return nil, noBackfill(id)
		}
	}
	return nil, busyBackfill(id)
}

// approval reads the reply of the script.
func (s *Store) approval(
	ctx context.Context, k keys, id string, r []any, assignmentOf map[string]*pb.Assignment,
) (*Approval, error) {
	a := &Approval{Backfill: new(pb.Backfill)}
	var in replied
	if err := proto.Unmarshal([]byte(in.text(r[6])), a.Backfill); err != nil {
		return nil, corrupt("backfill ticket", err)
	}
	a.Backfill.Id = id
	a.Backfill.Version, a.Backfill.Generation = in.number(r[2]), in.number(r[3])
	a.Backfill.Created, a.Backfill.Connection = in.number(r[4]), in.text(r[5])
	assigned := in.number(r[7])
	rest := r[8:]
	if assigned < 0 || int64(len(rest)) < 2*assigned {
		return nil, corrupt("reply of an approval", strconv.ErrRange)
	}
	ids, bodies, assignments := make([]string, assigned), make([]any, assigned), make([]*pb.Assignment, assigned)
	for i := range ids {
		ids[i] = in.text(rest[0])
		bodies[i], assignments[i], rest = rest[1], assignmentOf[ids[i]], rest[2:]
	}
	previous := in.texts(rest)
	err := in.err
	if err != nil {
		return nil, err
	}
	if a.Assigned, err = s.assigned(ctx, k, ids, assignments, bodies); err != nil {
		return nil, err
	}
	if a.Previous, err = s.ticketsWithResults(ctx, k, previous); err != nil {
		return nil, err
	}
	a.Position, err = positionOf(r[1])
	return a, err
}

// ExpireProposals ends proposals that were not approved in time, of up to limit backfill tickets: the tickets wait
// again at their old age. It returns the backfill tickets. Functions do not see these until their servers call again.
func (s *Store) ExpireProposals(
	ctx context.Context, project string, limit int,
) (lapsed []string, position uint64, err error) {
	k := keysOf(project)
	due, err := s.due(ctx, k.proposed(), millis(s.Now())-1, limit)
	if err != nil {
		return nil, 0, err
	}
	steps, err := stepAbreast(due, func(id string) (step, error) {
		r, err := s.withProposed(func(proposed []string) (any, error) {
			c := s.call(proposalExpireScript, k, ids{ofBackfill: id},
				"backfill_id", id,
				"rejected_event", s.encodeEvent(rejectedEvent(id, "lapsed")))
			c.tickets(k, proposed)
			return s.run(ctx, c)
		})
		if err != nil || r[0] != "ok" || len(r) < 2 {
			return step{}, err // without one, its server called meanwhile
		}
		at, err := positionOf(r[1])
		return step{true, at}, err
	})
	lapsed, position = doneOf(due, steps)
	return lapsed, position, err
}

// withProposed calls a script with the tickets that are proposed to a backfill ticket. It calls again while the script
// finds that they changed.
func (s *Store) withProposed(script func(proposed []string) (any, error)) ([]any, error) {
	var proposed []string
	for range maxAttempts {
		reply, err := script(proposed)
		if err != nil {
			return nil, err
		}
		r, err := listOf(reply, 1)
		if err != nil || r[0] != "again" {
			return r, err
		}
		var in replied
		if proposed = in.texts(r[1:]); in.err != nil {
			return nil, in.err
		}
	}
	return nil, problem.New(problem.Unavailable, "the backfill ticket changes all the time, try again")
}

// parseAssignments reads a list of id, assignment pairs. Assignments without a connection get this one.
func parseAssignments(pairs []any, connection string) (tickets []string, assignments []*pb.Assignment, err error) {
	for ; len(pairs) >= 2; pairs = pairs[2:] {
		var in replied
		id, body := in.text(pairs[0]), in.text(pairs[1])
		if in.err != nil {
			return nil, nil, in.err
		}
		a := new(pb.Assignment)
		if err := proto.Unmarshal([]byte(body), a); err != nil {
			return nil, nil, corrupt("assignment", err)
		}
		if a.Connection == "" {
			a.Connection = connection
		}
		tickets, assignments = append(tickets, id), append(assignments, a)
	}
	return tickets, assignments, nil
}

func busyBackfill(id string) error {
	return problem.New(problem.Unavailable, "backfill ticket %q changes all the time, try again", id)
}
