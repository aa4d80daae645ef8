package state

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// Ticket is a ticket and its result.
type Ticket struct {
	Body *pb.Ticket
	// Assignment is nil until the ticket has a result.
	Assignment *pb.Assignment
	// Matched: it has no assignment yet, and belongs to a match or is proposed to a running game.
	Matched bool
	// Acceptance is its match's question to its players; nil unless the match asks.
	Acceptance *Acceptance
	// Ended: it ended without a match, and its Assignment says why.
	Ended bool
	// endedBy names the players that deleted it, as include/ended.lua says.
	endedBy string
	// Unserved are its queues that no config serves, if the caller looked.
	Unserved []string
	// Estimate is how much longer it is expected to wait; nil if that is not known, or was not asked for.
	Estimate *Estimate
	// Seats are the seat passes of its players, by their ids, if the caller made them. They are not stored.
	Seats map[string]string
}

// Estimate is a range of a time to wait: four of five tickets wait for no less and no longer.
type Estimate struct{ Low, High time.Duration }

// Ticket reads a ticket. Errors: NotFound.
func (s *Store) Ticket(ctx context.Context, project, id string) (*Ticket, error) {
	fields, err := s.readShared(ctx, project, keysOf(project).ticket(id), "b", "s", "a", "q", "x")
	if err != nil {
		return nil, err
	}
	t, err := ticketOf(fields)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, noTicket(id)
	}
	if found, err := s.resolve(ctx, project, t.Assignment); err != nil || !found {
		return nil, cmp.Or(err, noTicket(id))
	}
	t.endedBy, t.Ended = fields[4].(string)
	if match, asked := fields[3].(string); asked && t.Matched {
		t.Acceptance, err = s.acceptance(ctx, project, match, t.Body)
	}
	return t, err
}

// IsGoneFor reports whether a ticket does not exist any more for a player, or for service tokens, because they deleted
// it. Others can read that it was deleted.
func (t *Ticket) IsGoneFor(player string, service bool) bool {
	for one := range strings.SplitSeq(t.endedBy, "\n") {
		if service && strings.HasPrefix(one, "s") || one != "" && one[1:] == player {
			return true
		}
	}
	return false
}

// TicketsOf reads the listed tickets of a player, the newest first.
func (s *Store) TicketsOf(ctx context.Context, project, player string) ([]*Ticket, error) {
	list, err := textOf(s.redis.HGet(ctx, keysOf(project).byPlayer(), player))
	if err != nil || list == "" {
		return nil, err
	}
	ids := strings.Fields(list)
	slices.Reverse(ids)
	tickets, err := s.Tickets(ctx, project, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(tickets, func(t *Ticket) bool { return t == nil }), nil // these ended meanwhile
}

// readsAtOnce is how many reads of one call are under way at a time.
const readsAtOnce = 64

// Tickets reads tickets, in the order of their ids; nil stands for one that does not exist. Reads that are under way at
// a time travel together, so that it takes few round trips.
func (s *Store) Tickets(ctx context.Context, project string, ids []string) ([]*Ticket, error) {
	tickets := make([]*Ticket, len(ids))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(readsAtOnce)
	for i, id := range ids {
		reads.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err() // the others, and what is under way, need not be read
			}
			t, err := s.Ticket(ctx, project, id)
			if problem.KindOf(err) == problem.NotFound {
				return nil
			}
			tickets[i] = t
			return err
		})
	}
	return tickets, reads.Wait()
}

// ticketOf reads the fields b, s and a of a ticket; nil when there is none.
func ticketOf(fields []any) (*Ticket, error) {
	body, ok := fields[0].(string)
	if !ok {
		return nil, nil
	}
	var err error
	t := &Ticket{Matched: fields[1] == "c"}
	if t.Body, err = parse[pb.Ticket]("ticket", body); err != nil {
		return nil, err
	}
	if assignment, ok := fields[2].(string); ok && fields[1] == "r" {
		t.Assignment, err = parse[pb.Assignment]("assignment", assignment)
	}
	return t, err
}

// ticketsWithResults reads the tickets that have a result, without what its outcome has.
func (s *Store) ticketsWithResults(ctx context.Context, k keys, ids []string) ([]*Ticket, error) {
	rows, err := s.readTickets(ctx, k, ids)
	if err != nil {
		return nil, err
	}
	var tickets []*Ticket
	for _, row := range rows {
		t, err := ticketOf(row)
		if err != nil {
			return nil, err
		}
		if t != nil && t.Assignment != nil && row[3] == nil { // not one that ended without a match
			tickets = append(tickets, t)
		}
	}
	return tickets, nil
}

// DeleteTicket deletes a ticket whose owner, or one of whose players, is player, or any when player is "". It returns
// the feed's position after the change, 0 when the ticket did not wait. Errors: NotFound.
func (s *Store) DeleteTicket(ctx context.Context, project, id, player string) (position uint64, err error) {
	position, _, err = s.Leave(ctx, project, Leaving{Ticket: id, Player: player, By: player, Decline: []string{player}})
	return position, err
}

// Leaving is how a ticket is deleted.
type Leaving struct {
	Ticket string
	// Player must be its owner or one of its players; "" deletes any ticket.
	Player string
	// Keeps: a ticket that has a result stays, and is not found.
	Keeps bool
	// By is the player that deletes it, "" for no particular player; Service is true for a service token. If the ticket's
	// end is told, others can read it for the time Readable.
	By       string
	Service  bool
	Readable time.Duration
	// Decline are the players that decline the ticket's match by that, if it asks them: see Pauses.
	Decline []string
}

// maxAttempts is how often a script is called that names another key each time.
const maxAttempts = 32

// Leave does the same, and reports whether that ended the acceptance of the ticket's match: EndAcceptances does the
// rest.
func (s *Store) Leave(ctx context.Context, project string, l Leaving) (position uint64, declined bool, err error) {
	var match string
	var pauses Pauses
	for range maxAttempts {
		var state, asks string
		if err := s.evalShared(ctx, project, s.call("ticket_delete", keysOf(project),
			ids{ofTicket: l.Ticket, ofMatch: match},
			"ticket_id", l.Ticket,
			"match_id", match,
			"player", l.Player,
			"keeps", flag(l.Keeps),
			"leaver", l.By,
			"by_service", flag(l.Service),
			"told_time", l.Readable.Milliseconds(),
			"event", s.cancelled(""),
			"first_pause", pauses.First.Milliseconds(),
			"longest_pause", pauses.Longest.Milliseconds(),
			"pause_limit", PausedPlayers,
			"missing", strings.Join(l.Decline, "\n")), &state, &position, &declined, &asks); err != nil {
			return 0, false, err
		}
		switch state {
		case "again":
			match = asks
			if pauses, err = s.pausesOf(ctx, project); err != nil {
				return 0, false, err
			}
		case "":
			return 0, false, noTicket(l.Ticket)
		default:
			return position, declined, nil
		}
	}
	return 0, false, busyTicket()
}

// cancelled is the event of a ticket that ends for a reason, which the script adds if it is "": the state it was in.
func (s *Store) cancelled(reason string) []byte {
	return s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_CANCELLED, Reason: reason})
}

func busyTicket() error {
	return problem.New(problem.Unavailable, "the ticket changes too fast, try again").After(answerDelay)
}

// AssignWaiting assigns waiting tickets, all or none, to a running game. The results stay readable for as long. refused
// is the id of a ticket that does not wait, "players" when one of them is in two of the tickets, "" when they were
// assigned. Errors: Limited when the results would take too many bytes.
func (s *Store) AssignWaiting(
	ctx context.Context, project string, p *pb.Proposal, tickets []string, assignments []*pb.Assignment,
	readable time.Duration,
) (assigned []*Ticket, refused string, position uint64, err error) {
	k, id := keysOf(project), NewID(s.Now())
	shared, err := outcomeOf(id, p)
	if err != nil {
		return nil, "", 0, err
	}
	c := s.call("ticket_assign", k, ids{ofMatch: id},
		"readable", readable.Milliseconds(),
		"results_limit", s.limits.TicketMemory<<20,
		"outcome_id", id,
		"outcome_body", shared.body,
		"compare", flag(p.GetCompare()),
		"event", s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_ASSIGNED}))
	if err := c.assignments(k, tickets, shared.referAll(assignments)); err != nil {
		return nil, "", 0, err
	}
	var verdict string
	var bodies []string
	if err := s.eval(ctx, c, &verdict, &position, &bodies); err != nil {
		return nil, "", 0, err
	}
	switch verdict {
	case "ok":
	case "full":
		return nil, "", 0, full("ticket-memory", s.limits.TicketMemory,
			"the results of this project's tickets take too much memory, try again later")
	default:
		return nil, verdict, 0, nil
	}
	assigned, err = s.assigned(ctx, k, tickets, assignments, bodies)
	return assigned, "", position, err
}

// assigned makes tickets of the bodies in the reply of a script that assigned them. It reads those for which the reply
// had no room: one that was deleted meanwhile is left out, as its player does not come.
func (s *Store) assigned(
	ctx context.Context, k keys, ids []string, assignments []*pb.Assignment, bodies []string,
) ([]*Ticket, error) {
	var all []*Ticket
	for i, id := range ids {
		if i >= len(bodies) || bodies[i] == "" {
			rest, err := s.ticketsWithResults(ctx, k, ids[i:])
			return append(all, rest...), err
		}
		body, err := parse[pb.Ticket]("ticket "+id, bodies[i])
		if err != nil {
			return nil, err
		}
		all = append(all, &Ticket{Body: body, Assignment: assignments[i]})
	}
	return all, nil
}

// Waiting is the number of waiting tickets of a project.
func (s *Store) Waiting(ctx context.Context, project string) (int64, error) {
	n, err := s.redis.ZCard(ctx, keysOf(project).waiting()).Result()
	return n, unavailable(err)
}

// OldestWaiting returns the ids of the tickets that have waited for longest, at most so many, or of all when most is 0.
func (s *Store) OldestWaiting(ctx context.Context, project string, most int64) ([]string, error) {
	ids, err := s.redis.ZRange(ctx, keysOf(project).waiting(), 0, most-1).Result()
	return ids, unavailable(err)
}

// NewID makes an id, a UUID of version 7, of a time.
func NewID(now time.Time) string {
	id := uuid.Must(uuid.NewV7())
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(id[:6], ms[2:])
	return id.String()
}

// CreationTime reads a ticket's creation time from its id, a UUID of version 7. It is false for another id.
func CreationTime(ticket string) (time.Time, bool) {
	id, err := uuid.Parse(ticket)
	if err != nil || id.Version() != 7 {
		return time.Time{}, false
	}
	return time.Unix(id.Time().UnixTime()), true
}

func noTicket(id string) error {
	return problem.New(problem.TicketNotFound, "ticket %q was not found", id)
}
