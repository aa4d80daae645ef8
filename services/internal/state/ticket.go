package state

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
)

// Ticket is a ticket and its result.
type Ticket struct {
	Body *pb.Ticket
	// Assignment is nil until the ticket has a result.
	Assignment *pb.Assignment
}

// Ticket reads a ticket; NotFound when there is none.
func (s *Store) Ticket(ctx context.Context, project, id string) (*Ticket, error) {
	fields, err := s.readShared(ctx, project, keysOf(project).ticket(id), "b", "s", "a")
	if err != nil {
		return nil, err
	}
	t, err := ticketOf(fields)
	if t == nil && err == nil {
		return nil, noTicket(id)
	}
	return t, err
}

// ticketOf reads the fields b, s and a of a ticket; nil when there is none.
func ticketOf(fields []any) (*Ticket, error) {
	body, ok := fields[0].(string)
	if !ok {
		return nil, nil
	}
	t := &Ticket{Body: new(pb.Ticket)}
	if err := proto.Unmarshal([]byte(body), t.Body); err != nil {
		return nil, corrupt("ticket", err)
	}
	if assignment, ok := fields[2].(string); ok && fields[1] == "r" {
		t.Assignment = new(pb.Assignment)
		if err := proto.Unmarshal([]byte(assignment), t.Assignment); err != nil {
			return nil, corrupt("assignment", err)
		}
	}
	return t, nil
}

// resolved reads those of some tickets that have a result.
func (s *Store) resolved(ctx context.Context, k keys, ids []any) ([]*Ticket, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows := make([]*redis.SliceCmd, len(ids))
	_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range ids {
			id, _ := ids[i].(string)
			rows[i] = p.HMGet(ctx, k.ticket(id), "b", "s", "a")
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	var tickets []*Ticket
	for _, row := range rows {
		t, err := ticketOf(row.Val())
		if err != nil {
			return nil, err
		}
		if t != nil && t.Assignment != nil {
			tickets = append(tickets, t)
		}
	}
	return tickets, nil
}

// DeleteTicket deletes a ticket whose owner is owner, or any when owner is "".
// It returns the feed's position after the change, 0 when the ticket did not
// wait any more; NotFound when there is no such ticket.
func (s *Store) DeleteTicket(ctx context.Context, project, id, owner string, now time.Time) (position uint64, err error) {
	cancelled := func(state string) []byte {
		return eventOf(&pb.Event{Kind: pb.Event_KIND_CANCELLED, Reason: state}, now)
	}
	reply, err := s.runShared(ctx, project, s.call(ticketDeleteScript, keysOf(project), ids{ofTicket: id},
		"id", id,
		"owner", owner,
		"waiting_event", cancelled("waiting"),
		"claimed_event", cancelled("claimed"),
		"resolved_event", cancelled("resolved"),
		"proposed_event", cancelled("proposed")))
	if err != nil {
		return 0, err
	}
	r, err := listOf(reply, 2)
	if err != nil {
		return 0, err
	}
	if r[0] == "" {
		return 0, noTicket(id)
	}
	return positionOf(r[1])
}

// Waiting is the number of waiting tickets of a project.
func (s *Store) Waiting(ctx context.Context, project string) (int64, error) {
	n, err := s.redis.ZCard(ctx, keysOf(project).waiting()).Result()
	return n, unavailable(err)
}

// Expired counts what was deleted because nobody ended it.
type Expired struct {
	// Abandoned tickets had waited for too long, Read ones had their result for long enough, Matches had ended long ago.
	Abandoned, Read, Matches int
	// More tells that there may be more of them.
	More bool
	// Position is the feed's when tickets that waited were among them, else 0.
	Position uint64
}

// Expire deletes up to about limit tickets each that have waited since before waiting,
// or whose result became unreadable before now, and forgets as many matches that ended long ago.
func (s *Store) Expire(ctx context.Context, project string, waiting, now time.Time, limit int) (e Expired, err error) {
	k := keysOf(project)
	expired := func(reason string) []byte {
		return eventOf(&pb.Event{Kind: pb.Event_KIND_EXPIRED, Reason: reason}, now)
	}
	if e.Abandoned, e.Position, err = s.expireWaiting(ctx, k, millis(waiting), limit, expired("abandoned")); err != nil {
		return e, err
	}
	if e.Matches, err = s.expireMatches(ctx, k, millis(now), limit); err != nil {
		return e, err
	}
	e.More = max(e.Abandoned, e.Matches) == limit
	var more bool
	e.Read, more, err = s.expireResults(ctx, k, millis(now), limit, expired("read"))
	e.More = e.More || more
	return e, err
}

// expireWaiting deletes tickets that were created long ago and still wait.
func (s *Store) expireWaiting(ctx context.Context, k keys, latest int64, limit int, event []byte) (n int, position uint64, err error) {
	tickets, err := s.due(ctx, k.waiting(), latest, limit)
	if err != nil || len(tickets) == 0 {
		return 0, 0, err
	}
	c := s.call(expireWaitingScript, k, ids{},
		"latest", latest,
		"event", event)
	c.tickets(k, tickets)
	reply, err := s.run(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	r, err := listOf(reply, 2)
	if err != nil {
		return 0, 0, err
	}
	deleted, err := positionOf(r[0])
	if err != nil {
		return 0, 0, err
	}
	position, err = positionOf(r[1])
	return int(deleted), position, err
}

// expireMatches deletes matches that ended long ago.
func (s *Store) expireMatches(ctx context.Context, k keys, latest int64, limit int) (n int, err error) {
	matches, err := s.due(ctx, k.ended(), latest, limit)
	if err != nil || len(matches) == 0 {
		return 0, err
	}
	c := s.call(expireMatchesScript, k, ids{},
		"latest", latest)
	for _, id := range matches {
		c.keys = append(c.keys, k.match(id))
		c.args = append(c.args, id)
	}
	reply, err := s.run(ctx, c)
	if err != nil {
		return 0, err
	}
	deleted, err := positionOf(reply)
	return int(deleted), err
}

// expireResults deletes tickets whose results became unreadable. Those that had theirs in one script go in one. more tells that
// it left some.
func (s *Store) expireResults(ctx context.Context, k keys, latest int64, limit int, event []byte) (n int, more bool, err error) {
	groups, err := s.due(ctx, k.resolved(), latest, limit)
	if err != nil || len(groups) == 0 {
		return 0, false, err
	}
	more = len(groups) == limit
	c := s.call(expireResultsScript, k, ids{},
		"latest", latest,
		"event", event)
	for i, group := range groups {
		for id := range strings.SplitSeq(group, " ") {
			c.keys = append(c.keys, k.ticket(id))
		}
		c.args = append(c.args, group)
		if len(c.keys) >= limit && i+1 < len(groups) {
			more = true
			break
		}
	}
	reply, err := s.run(ctx, c)
	if err != nil {
		return 0, more, err
	}
	deleted, err := positionOf(reply)
	return int(deleted), more, err
}

func noTicket(id string) error { return problem.New(problem.NotFound, "ticket %q was not found", id) }

// listOf is a script's reply as a list of at least n values.
func listOf(reply any, n int) ([]any, error) {
	list, ok := reply.([]any)
	if !ok || len(list) < n {
		return nil, fmt.Errorf("state: unexpected reply of a script: %T", reply)
	}
	return list, nil
}

func positionOf(reply any) (uint64, error) {
	n, ok := reply.(int64)
	if !ok || n < 0 {
		return 0, fmt.Errorf("state: unexpected reply of a script: %T for a position", reply)
	}
	return uint64(n), nil
}
