package state

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

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

// ApproveBackfill notes that the server of a backfill ticket lives, and assigns the tickets of the matches that go to
// its game. Tickets whose approval comes too late wait again instead. While the server is being allocated, they wait
// for it. Errors: NotFound when there is no such backfill ticket, or it belongs to another match. Limited when its
// server approves too often.
func (s *Store) ApproveBackfill(ctx context.Context, project, id string, a ApprovalOptions) (*Approval, error) {
	k := keysOf(project)
	interval, burst := a.Rate.bucket()
	var verdict, connection, body string
	var version, generation, created int64
	var matches, lapsed words
	var previous []string
	approved := new(Approval)
	if err := s.eval(ctx, s.call("backfill_approve", k, ids{ofBackfill: id},
		"backfill_id", id,
		"repeat_time", a.RepeatJoined.Milliseconds(),
		"interval", interval,
		"burst", burst,
		"match_id", a.Match), &verdict, &approved.Position, &version, &generation, &created, &connection, &body, &matches,
		&lapsed, &previous); err != nil {
		return nil, err
	}
	switch verdict {
	case "ok":
	case "limited":
		return nil, a.Rate.LimitError(problem.Limited, "backfill", time.Duration(approved.Position)*time.Microsecond,
			"this backfill ticket is approved too often: once a second is enough, %v times are tolerated", a.Rate.PerSecond)
	default:
		return nil, noBackfill(id)
	}
	var err error
	if approved.Backfill, err = backfillOfRow(id, version, generation, created, connection, body); err != nil {
		return nil, err
	}
	at, err := s.releaseOthers(ctx, project, lapsed, "lapsed")
	if err != nil {
		return nil, err
	}
	approved.Position = max(approved.Position, at)
	if approved.Previous, err = s.ticketsWithResults(ctx, k, previous); err != nil || len(matches) == 0 {
		return approved, err
	}
	return approved, s.approve(ctx, project, approved, matches, a)
}

// approve assigns the tickets of matches, and reads what has become of the backfill ticket.
func (s *Store) approve(ctx context.Context, project string, to *Approval, matches []string, a ApprovalOptions) error {
	k, b := keysOf(project), to.Backfill
	going, err := s.matches(ctx, k, matches, false)
	if err != nil {
		return err
	}
	joined, position, err := s.join(ctx, project, going, arrival{
		connection: b.GetConnection(), readable: a.Readable, trace: a.Trace, told: true,
	})
	if err != nil {
		return err
	}
	to.Position = max(to.Position, position)
	var ids []string
	for _, one := range joined {
		ids = append(ids, one.Assigned...)
	}
	var fields []any
	reads, abreast := errgroup.WithContext(ctx)
	reads.Go(func() (err error) {
		to.Assigned, err = s.ticketsWithResults(abreast, k, ids)
		return err
	})
	reads.Go(func() (err error) {
		fields, err = rowOf(s.redis.HMGet(abreast, k.backfill(b.GetId()), "v", "g", "c", "b", "q", "y"))
		return err
	})
	if err := reads.Wait(); err != nil {
		return err
	}
	if fields[0] == nil {
		return nil // it was deleted meanwhile
	}
	var in replied
	body := in.text(fields[3]) + in.text(fields[4]) + in.text(fields[5])
	now, err := backfillOfRow(b.GetId(), in.digits(fields[0]), in.digits(fields[1]), in.digits(fields[2]),
		b.GetConnection(), body)
	if err = cmp.Or(in.err, err); err == nil {
		to.Backfill = now
	}
	return err
}

// backfillOfRow makes a backfill ticket of its fields. body has its queue and roster behind it.
func backfillOfRow(id string, version, generation, created int64, connection, body string) (*pb.Backfill, error) {
	b, err := parse[pb.Backfill]("backfill ticket", body)
	if err != nil {
		return nil, err
	}
	b.Id, b.Version, b.Generation, b.Created, b.Connection = id, version, generation, created, connection
	return b, nil
}

// Overdue is what became of matches whose servers did not approve in time.
type Overdue struct {
	// Games counts the games that they went to. Their tickets wait again.
	Games int
	// Joined are matches whose game has its server since: their tickets have their results.
	Joined []Ended
	// Position is the feed's position after the change, 0 when nothing changed there.
	Position uint64
	// More is true when there may be more.
	More bool
}

// EndOverdueJoins ends up to limit matches that go to a running game, and whose time is over. Functions do not see the
// game until its server calls again.
func (s *Store) EndOverdueJoins(
	ctx context.Context, project string, readable time.Duration, limit int,
) (o Overdue, err error) {
	k := keysOf(project)
	due, err := s.redis.ZRangeArgsWithScores(ctx, dueArgs(k.joins(), millis(s.Now())-1, limit)).Result()
	if err != nil || len(due) == 0 {
		return o, unavailable(err)
	}
	o.More = len(due) == limit
	ids, served := make([]string, len(due)), map[string]bool{}
	for i, one := range due {
		ids[i] = memberOf(one)
		served[ids[i]] = one.Score == servedScore
	}
	matches, err := s.matches(ctx, k, ids, false)
	if err != nil {
		return o, err
	}
	ofGame := map[string][]*pb.Match{}
	var lapsed []*pb.Match
	for _, m := range matches {
		if served[m.GetId()] {
			ofGame[gameOf(m)] = append(ofGame[gameOf(m)], m)
		} else {
			lapsed = append(lapsed, m)
		}
	}
	if lapsed, o.Position, err = s.releaseAll(ctx, project, lapsed, "lapsed"); err != nil {
		return o, err
	}
	games := map[string]bool{}
	for _, m := range lapsed {
		games[gameOf(m)] = true
	}
	o.Games = len(games)
	for game, matches := range ofGame {
		if err := s.joinServed(ctx, project, game, matches, readable, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// servedScore is SERVED of script/include/names.lua.
const servedScore = 1

// joinServed assigns matches whose game has its server since.
func (s *Store) joinServed(
	ctx context.Context, project, game string, matches []*pb.Match, readable time.Duration, o *Overdue,
) error {
	fields, err := rowOf(s.redis.HMGet(ctx, keysOf(project).backfill(game), "a", "d"))
	if err != nil {
		return err
	}
	var in replied
	connection := cmp.Or(in.text(fields[0]), in.text(fields[1]))
	joined, at, err := s.join(ctx, project, matches, arrival{connection: connection, readable: readable})
	o.Joined, o.Position = append(o.Joined, joined...), max(o.Position, at)
	return cmp.Or(in.err, err)
}
