package state

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// enough is how many tickets are proposed to a backfill ticket before it takes no more until they are approved: all of
// them are moved by one script.
const enough = 500

// claimFillings claims matches whose proposals have a filling, with a script for each.
func (s *Store) claimFillings(ctx context.Context, project string, terms ClaimOptions, claims []*Claim) (position uint64, err error) {
	var proposed, opened []*Claim
	for _, c := range claims {
		if c.Match.GetProposal().GetFilling().GetBackfill() != "" {
			proposed = append(proposed, c)
		} else {
			opened = append(opened, c)
		}
	}
	k := keysOf(project)
	first, err := s.claimEach(ctx, proposed, func(c *Claim) (call, error) { return s.proposeCall(k, terms, c) })
	if err != nil {
		return first, err
	}
	second, err := s.claimEach(ctx, opened, func(c *Claim) (call, error) { return s.openCall(k, terms, c) })
	return max(first, second), err
}

// claimEach calls a script for each claim, in one round trip, and sets its Refused.
func (s *Store) claimEach(ctx context.Context, claims []*Claim, callOf func(*Claim) (call, error)) (position uint64, err error) {
	if len(claims) == 0 {
		return 0, nil
	}
	calls := make([]call, len(claims))
	for i, c := range claims {
		if calls[i], err = callOf(c); err != nil {
			return 0, err
		}
	}
	replies, err := s.runAll(ctx, calls)
	for i, reply := range replies {
		if reply == nil {
			break
		}
		r, err := listOf(reply, 2)
		if err != nil {
			return position, err
		}
		if verdict, _ := r[0].(string); verdict != "ok" {
			claims[i].Refusal = verdict
		}
		at, err := positionOf(r[1])
		if err != nil {
			return position, err
		}
		position = max(position, at)
	}
	return position, err
}

// proposeCall gives a match's tickets to a backfill ticket.
func (s *Store) proposeCall(k keys, terms ClaimOptions, claim *Claim) (call, error) {
	m := claim.Match
	f := m.GetProposal().GetFilling()
	id := f.GetBackfill()
	var made []byte
	if f.GetContents() != nil {
		body, err := backfillBody(f.GetContents())
		if err != nil {
			return call{}, err
		}
		made = append([]byte{'='}, body...)
	}
	event := of(m, pb.Event_KIND_PROPOSED)
	event.Backfill, event.Epoch = id, terms.Epoch
	c := s.call(proposalCreateScript, k, ids{ofBackfill: id},
		"epoch", terms.Epoch,
		"approval_deadline", millis(terms.ApprovalDeadline),
		"config", m.GetConfig(),
		"revision", m.GetRevision(),
		"backfill_id", id,
		"generation", f.GetGeneration(),
		"new_body", made,
		"limit", enough,
		"event", eventOf(event, terms.Now))
	return c, c.assignments(k, claim.Tickets, claim.Assignments)
}

// openCall claims a match's tickets, and creates the backfill ticket of its server.
func (s *Store) openCall(k keys, terms ClaimOptions, claim *Claim) (call, error) {
	m := claim.Match
	body, err := proto.Marshal(m)
	if err != nil {
		return call{}, corrupt("match", err)
	}
	contents, err := backfillBody(m.GetProposal().GetFilling().GetContents())
	if err != nil {
		return call{}, err
	}
	id := m.GetBackfill()
	event := claim.event(terms.Epoch)
	event.Backfill = id
	c := s.call(matchClaimBackfillScript, k, ids{ofMatch: m.GetId(), ofBackfill: id},
		"epoch", terms.Epoch,
		"now", millis(terms.Now),
		"deadline", millis(terms.Deadline),
		"config", m.GetConfig(),
		"revision", m.GetRevision(),
		"match_id", m.GetId(),
		"body", body,
		"backfill_id", id,
		"backfill_body", contents,
		"event", eventOf(event, terms.Now))
	c.tickets(k, claim.Tickets)
	return c, nil
}

// assignments adds the keys of tickets, their ids and what they get.
func (c *call) assignments(k keys, tickets []string, assignments []*pb.Assignment) error {
	if len(tickets) != len(assignments) {
		return errors.New("state: a claim does not say what each of its tickets gets")
	}
	for i, id := range tickets {
		body, err := proto.Marshal(assignments[i])
		if err != nil {
			return corrupt("assignment", err)
		}
		c.keys = append(c.keys, k.ticket(id))
		c.args = append(c.args, id, body)
	}
	return nil
}

// AssignWaiting assigns waiting tickets at once, all or nothing, to a game that runs; now is when, and expiry is how long the results
// stay readable. refused is the id of a ticket that does not
// wait, "" when they were assigned.
func (s *Store) AssignWaiting(ctx context.Context, project string, tickets []string, assignments []*pb.Assignment, now, expiry time.Time) (assigned []*Ticket, refused string, position uint64, err error) {
	k := keysOf(project)
	c := s.call(ticketAssignScript, k, ids{},
		"expiry", millis(expiry),
		"event", eventOf(&pb.Event{Kind: pb.Event_KIND_ASSIGNED}, now))
	if err := c.assignments(k, tickets, assignments); err != nil {
		return nil, "", 0, err
	}
	reply, err := s.run(ctx, c)
	if err != nil {
		return nil, "", 0, err
	}
	r, err := listOf(reply, 2)
	if err != nil {
		return nil, "", 0, err
	}
	if verdict, _ := r[0].(string); verdict != "ok" {
		return nil, verdict, 0, nil
	}
	for i, body := range r[2:] {
		t := &Ticket{Body: new(pb.Ticket), Assignment: assignments[i]}
		text, _ := body.(string)
		if err := proto.Unmarshal([]byte(text), t.Body); err != nil {
			return nil, "", 0, corrupt("ticket", err)
		}
		assigned = append(assigned, t)
	}
	position, err = positionOf(r[1])
	return assigned, "", position, err
}

// stale tells a claim that was refused because the lease has passed on.
func stale(err error) bool { return err != nil && strings.Contains(err.Error(), "STALE ") }
