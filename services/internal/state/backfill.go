package state

import (
	"context"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
)

// CreateBackfill stores a new backfill ticket, whose id is set, and sets its version and created. Limited
// when the project has as many as it may. It returns the feed's position after it.
func (s *Store) CreateBackfill(ctx context.Context, project string, b *pb.Backfill, now time.Time) (position uint64, err error) {
	body, err := backfillBody(b)
	if err != nil {
		return 0, err
	}
	// Nobody else would ever find out that a server of a project that has no config fell silent.
	if err := s.redis.SAdd(ctx, global.projects(), project).Err(); err != nil {
		return 0, unavailable(err)
	}
	reply, err := s.run(ctx, s.call(backfillCreateScript, keysOf(project), ids{ofBackfill: b.GetId()},
		"limit", s.limits.Backfills,
		"backfill_id", b.GetId(),
		"now", millis(now),
		"connection", b.GetConnection(),
		"match_id", b.GetMatch(),
		"body", body))
	if err != nil {
		return 0, err
	}
	if position, err = positionOf(reply); err != nil {
		return 0, err
	}
	if position == 0 {
		return 0, &problem.Error{
			Kind: problem.Limited, RetryAfter: drain,
			Detail: "too many games of this project are being filled, come again when some have ended",
			Limit:  &problem.Limit{Name: "backfill", Amount: s.limits.Backfills},
		}
	}
	b.Version, b.Generation, b.Created = 1, 1, millis(now)
	return position, nil
}

// ReplaceBackfill replaces what its server says of a backfill ticket, and sets its new version, its created and, where
// the server names none, the connection that was allocated. The tickets that were
// proposed to it wait again. It returns the feed's position after it; NotFound when there is none, or b names a match
// that it does not belong to.
func (s *Store) ReplaceBackfill(ctx context.Context, project string, b *pb.Backfill, now time.Time) (position uint64, err error) {
	body, err := backfillBody(b)
	if err != nil {
		return 0, err
	}
	k, id := keysOf(project), b.GetId()
	r, err := s.insist(func(proposed []string) (any, error) {
		c := s.call(backfillReplaceScript, k, ids{ofBackfill: id},
			"backfill_id", id,
			"now", millis(now),
			"connection", b.GetConnection(),
			"match_id", b.GetMatch(),
			"body", body,
			"rejected_event", eventOf(rejected(id, "replaced"), now))
		c.tickets(k, proposed)
		return s.run(ctx, c)
	})
	if err != nil {
		return 0, err
	}
	if r[0] != "ok" || len(r) < 5 {
		return 0, noBackfill(id)
	}
	b.Version, _ = r[2].(int64)
	b.Created, _ = r[3].(int64)
	b.Connection, _ = r[4].(string)
	return positionOf(r[1])
}

// ApprovalOptions are the conditions of an approval.
type ApprovalOptions struct {
	Now time.Time
	// Expiry is how long the results of the tickets stay readable.
	Expiry time.Time
	// RepeatJoined is for how long a ticket that joined is reported again, in case an answer was lost.
	RepeatJoined time.Duration
	// Rate is how often one server may approve.
	Rate Rate
	// Match is the one that the backfill ticket must belong to; empty when it may be any.
	Match string
	// Trace is the mark of the span that approves, for those who read the results; nil where it is not sampled.
	Trace []byte
}

// Approval is what a server learns when it approves.
type Approval struct {
	Backfill *pb.Backfill
	// Assigned are the tickets that were assigned by it: these, and no others.
	Assigned []*Ticket
	// Previous are tickets that were assigned before, and that the server may not know of yet.
	Previous []*Ticket
	// Position is the feed's after it, 0 when nothing changed.
	Position uint64
}

// ApproveBackfill assigns the tickets that are proposed to a backfill ticket, and notes that its server lives. When they were proposed
// too long ago they wait again instead. While the server is being allocated they stay as they are. NotFound when there is no
// such backfill ticket, or it belongs to another match, Limited when it is approved far too often.
func (s *Store) ApproveBackfill(ctx context.Context, project, id string, a ApprovalOptions) (*Approval, error) {
	k := keysOf(project)
	interval, burst := a.Rate.bucket()
	var generation any = ""
	var tickets []string
	var assignments []*pb.Assignment
	for range insistence {
		c := s.call(proposalApproveScript, k, ids{ofBackfill: id},
			"backfill_id", id,
			"now", millis(a.Now),
			"expiry", millis(a.Expiry),
			"repeat_since", millis(a.Now.Add(-a.RepeatJoined)),
			"now_micros", a.Now.UnixMicro(),
			"interval", interval,
			"burst", burst,
			"match_id", a.Match,
			"assigned_event", eventOf(&pb.Event{Kind: pb.Event_KIND_ASSIGNED, Backfill: id}, a.Now),
			"rejected_event", eventOf(rejected(id, "lapsed"), a.Now),
			"generation", generation)
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
			connection, _ := r[2].(string)
			if tickets, assignments, err = resultsOf(r[3:], connection); err != nil {
				return nil, err
			}
			if a.Trace != nil {
				for _, of := range assignments {
					of.Trace = a.Trace
				}
			}
		case r[0] == "ok" && len(r) > 7:
			given := make(map[string]*pb.Assignment, len(tickets))
			for i, ticket := range tickets {
				given[ticket] = assignments[i]
			}
			return s.approval(ctx, k, id, r, given)
		default:
			return nil, noBackfill(id)
		}
	}
	return nil, busyBackfill(id)
}

// approval reads the reply of the script.
func (s *Store) approval(ctx context.Context, k keys, id string, r []any, given map[string]*pb.Assignment) (*Approval, error) {
	a := &Approval{Backfill: new(pb.Backfill)}
	body, _ := r[6].(string)
	if err := proto.Unmarshal([]byte(body), a.Backfill); err != nil {
		return nil, corrupt("backfill ticket", err)
	}
	a.Backfill.Id = id
	a.Backfill.Version, _ = r[2].(int64)
	a.Backfill.Generation, _ = r[3].(int64)
	a.Backfill.Created, _ = r[4].(int64)
	a.Backfill.Connection, _ = r[5].(string)
	assigned, _ := r[7].(int64)
	rest := r[8:]
	if int64(len(rest)) < 2*assigned {
		return nil, corrupt("reply of an approval", strconv.ErrRange)
	}
	for ; assigned > 0; assigned-- {
		ticket, _ := rest[0].(string)
		body, _ := rest[1].(string)
		t := &Ticket{Body: new(pb.Ticket), Assignment: given[ticket]}
		if err := proto.Unmarshal([]byte(body), t.Body); err != nil {
			return nil, corrupt("ticket", err)
		}
		a.Assigned, rest = append(a.Assigned, t), rest[2:]
	}
	var err error
	if a.Previous, err = s.resolved(ctx, k, rest); err != nil {
		return nil, err
	}
	a.Position, err = positionOf(r[1])
	return a, err
}

// DeleteBackfill deletes a backfill ticket that belongs to a match, or to any when match is "", and tells whether it was there. The
// tickets that were proposed to it wait again; the position is the feed's after it.
func (s *Store) DeleteBackfill(ctx context.Context, project, id, match string, now time.Time) (there bool, position uint64, err error) {
	return s.deleteBackfill(ctx, keysOf(project), id, "", match, eventOf(rejected(id, "deleted"), now))
}

func (s *Store) deleteBackfill(ctx context.Context, k keys, id string, silentSince any, match string, event []byte) (there bool, position uint64, err error) {
	r, err := s.insist(func(proposed []string) (any, error) {
		c := s.call(backfillDeleteScript, k, ids{ofBackfill: id},
			"backfill_id", id,
			"silent_since", silentSince,
			"match_id", match,
			"rejected_event", event)
		c.tickets(k, proposed)
		return s.run(ctx, c)
	})
	if err != nil || r[0] != "ok" || len(r) < 2 {
		return false, 0, err
	}
	position, err = positionOf(r[1])
	return true, position, err
}

// ExpireProposals ends proposals that were not approved by now, of up to limit backfill tickets: the tickets wait again at their old
// age, and no function is shown the backfill tickets, which are returned, until their servers speak again.
func (s *Store) ExpireProposals(ctx context.Context, project string, now time.Time, limit int) (lapsed []string, position uint64, err error) {
	k := keysOf(project)
	due, err := s.due(ctx, k.proposed(), millis(now)-1, limit)
	if err != nil {
		return nil, 0, err
	}
	for _, id := range due {
		r, err := s.insist(func(proposed []string) (any, error) {
			c := s.call(proposalExpireScript, k, ids{ofBackfill: id},
				"backfill_id", id,
				"now", millis(now),
				"rejected_event", eventOf(rejected(id, "lapsed"), now))
			c.tickets(k, proposed)
			return s.run(ctx, c)
		})
		if err != nil {
			return lapsed, position, err
		}
		if r[0] != "ok" || len(r) < 2 {
			continue // its server spoke meanwhile
		}
		if position, err = positionOf(r[1]); err != nil {
			return lapsed, position, err
		}
		lapsed = append(lapsed, id)
	}
	return lapsed, position, nil
}

// DeleteSilentBackfills deletes up to limit backfill tickets whose servers have said nothing since then, and returns them.
func (s *Store) DeleteSilentBackfills(ctx context.Context, project string, since, now time.Time, limit int) (forgotten []string, position uint64, err error) {
	k := keysOf(project)
	due, err := s.due(ctx, k.backfills(), millis(since), limit)
	if err != nil {
		return nil, 0, err
	}
	for _, id := range due {
		there, at, err := s.deleteBackfill(ctx, k, id, millis(since), "", eventOf(rejected(id, "silent"), now))
		if err != nil {
			return forgotten, position, err
		}
		if there {
			forgotten, position = append(forgotten, id), at
		}
	}
	return forgotten, position, nil
}

// insistence is how often a script is called whose caller did not know which tickets are proposed to a
// backfill ticket: they change about once a cycle.
const insistence = 32

// insist calls a script with the tickets that are proposed to a backfill ticket, until these are right.
func (s *Store) insist(script func(proposed []string) (any, error)) ([]any, error) {
	var proposed []string
	for range insistence {
		reply, err := script(proposed)
		if err != nil {
			return nil, err
		}
		r, err := listOf(reply, 1)
		if err != nil || r[0] != "again" {
			return r, err
		}
		proposed = proposed[:0]
		for _, value := range r[1:] {
			id, _ := value.(string)
			proposed = append(proposed, id)
		}
	}
	return nil, problem.New(problem.Unavailable, "the backfill ticket changes all the time, try again")
}

// resultsOf reads ids and assignments, one behind the other. Assignments that name no connection get this one.
func resultsOf(pairs []any, connection string) (tickets []string, assignments []*pb.Assignment, err error) {
	for ; len(pairs) >= 2; pairs = pairs[2:] {
		id, _ := pairs[0].(string)
		body, _ := pairs[1].(string)
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

// DecodeBackfill is the backfill ticket that a change is about, as functions are to see it; nil when they are to see it no more.
func (c *Change) DecodeBackfill() (*pb.Backfill, error) {
	if c.Body == "" {
		return nil, nil
	}
	var numbers [4]int64
	rest := c.Body
	for i := range numbers {
		number, behind, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, corrupt("backfill ticket in the feed", err)
		}
		numbers[i], rest = n, behind
	}
	length := numbers[3]
	if length < 0 || length >= int64(len(rest)) {
		return nil, corrupt("backfill ticket in the feed", strconv.ErrRange)
	}
	b := new(pb.Backfill)
	if err := proto.Unmarshal([]byte(rest[length+1:]), b); err != nil {
		return nil, corrupt("backfill ticket in the feed", err)
	}
	b.Id, b.Version, b.Generation, b.Created, b.Connection = c.Backfill, numbers[0], numbers[1], numbers[2], rest[:length]
	return b, nil
}

// shown is the body of a change, made of a backfill ticket's fields v, g, c, a, d, m, n, b and h as show in
// script/backfill.lua makes it; "" when functions are not to see it.
func shown(fields []any) string {
	text := func(i int) string {
		value, _ := fields[i].(string)
		return value
	}
	connection := text(3)
	if connection == "" {
		connection = text(4)
	}
	if fields[8] != nil || text(0) == "" || (connection == "" && fields[5] == nil) {
		return ""
	}
	body := text(7)
	if fields[6] != nil {
		body = text(6)
	}
	return strings.Join([]string{text(0), text(1), text(2), strconv.Itoa(len(connection)), connection}, " ") + " " + body
}

// backfillBody is what is stored of a backfill ticket as one value: what functions may change.
func backfillBody(b *pb.Backfill) ([]byte, error) {
	body, err := proto.Marshal(&pb.Backfill{
		AttributeNames: b.GetAttributeNames(), AttributeValues: b.GetAttributeValues(), Properties: b.GetProperties(),
	})
	if err != nil {
		return nil, problem.Wrap(problem.Invalid, err, "the backfill ticket holds text that is not UTF-8")
	}
	return body, nil
}

func noBackfill(id string) error {
	return problem.New(problem.NotFound, "backfill ticket %q was not found", id)
}

func busyBackfill(id string) error {
	return problem.New(problem.Unavailable, "backfill ticket %q changes all the time, try again", id)
}
