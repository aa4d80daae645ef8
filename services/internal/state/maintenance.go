package state

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
)

// Ages are the times after which work is due.
type Ages struct {
	// A match is overdue when it may not be in the work queue for longer than Outbox. A ticket is abandoned when it waits
	// for longer than Waiting, a backfill ticket when its server has not called for longer than Silence.
	Outbox, Waiting, Silence time.Duration
	// A match waits for the begin of its allocation for as long as Claim, for its running game for as long as Approval.
	Claim, Approval time.Duration
	// The tickets of a queue that no config has served for longer than Unserved may wait in vain.
	Unserved time.Duration
	// Urgent leaves out what may be found some seconds later: what is only deleted then, or has waited for long. Idle
	// leaves out matches: a moment ago there was none.
	Urgent, Idle bool
}

// DueWork is what is due in a project.
type DueWork struct {
	// Position is the feed's position.
	Position uint64
	// Waiting is the number of waiting tickets.
	Waiting int64
	// Revisions are the revisions of all configs.
	Revisions map[string]int64
	// Outbox and Claims: matches are overdue. Backfills: matches that go to running games, or backfill tickets, are
	// overdue. Tickets: tickets or ended matches have expired. Results: results of matches are missing or expired.
	Outbox, Claims, Backfills, Tickets, Results bool
	// Idle is true when no match has claimed tickets.
	Idle bool
	// Unserved is the number of queues whose tickets may wait in vain.
	Unserved int64
	// Feed is true when the feed may have entries that can be trimmed, and Quiet when nothing is stored that becomes due.
	// An urgent look leaves both out.
	Feed, Quiet bool

	caps []call
}

// DueWork reads what is due, in one round trip. It decides nothing: the scripts look at Redis's clock.
func (s *Store) DueWork(ctx context.Context, project string, after Ages) (DueWork, error) {
	k, now := keysOf(project), s.Now()
	var revisions *redis.MapStringStringCmd
	var waiting, matches, stored *redis.IntCmd
	var position, trimmed *redis.SliceCmd
	counts, ahead := map[string]*redis.IntCmd{}, map[string]*redis.StringSliceCmd{}
	longest := longestTimes(k, after)
	_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		position, revisions, waiting = p.MGet(ctx, k.feedSeq()), p.HGetAll(ctx, k.revisions()), p.ZCard(ctx, k.waiting())
		matches = p.Exists(ctx, k.outbox(), k.claims(), k.joins())
		if !after.Urgent {
			stored = p.Exists(ctx, k.backfills(), k.backfillSizes(), k.resolved(), k.ended(), k.awaited())
			trimmed = p.HMGet(ctx, k.streamBytes(), "t", "d")
		}
		for list, span := range longest {
			ahead[list] = p.ZRangeArgs(ctx, redis.ZRangeArgs{Key: list, ByScore: true, Count: capBatch,
				Start: strconv.FormatInt(millis(now.Add(span+clockSlack)), 10), Stop: "(inf"})
		}
		for set, latest := range map[string]time.Time{
			k.outbox(): now.Add(-after.Outbox), k.claims(): now, k.joins(): now,
			k.backfills(): now.Add(-withSlack(after.Silence)), k.waiting(): now.Add(-withSlack(after.Waiting)),
			k.resolved(): now, k.ended(): now, k.awaited(): now, k.rated(): now.Add(-s.ratingAge()),
			k.unserved(): now.Add(-withSlack(after.Unserved)),
		} {
			counts[set] = new(redis.IntCmd)
			match := set == k.outbox() || set == k.claims() || set == k.joins()
			if match && !after.Idle || !match && !after.Urgent {
				counts[set] = p.ZCount(ctx, set, "-inf", strconv.FormatInt(millis(latest), 10))
			}
		}
		return nil
	})
	if err != nil {
		return DueWork{}, unavailable(err)
	}
	some := func(sets ...string) bool {
		return slices.ContainsFunc(sets, func(set string) bool { return counts[set].Val() > 0 })
	}
	d := DueWork{
		Waiting: waiting.Val(), Revisions: make(map[string]int64, len(revisions.Val())),
		Outbox: some(k.outbox()), Claims: some(k.claims()), Backfills: some(k.joins(), k.backfills()),
		Tickets: some(k.waiting(), k.resolved(), k.ended()), Results: some(k.awaited(), k.rated()),
		Idle: matches.Val() == 0, Unserved: counts[k.unserved()].Val(),
	}
	var in replied
	at := in.row(position)[0]
	if d.Position = in.position(at); !after.Urgent {
		d.Feed = feedIsDue(in.text(at), in.row(trimmed), now)
		d.Quiet = waiting.Val()+stored.Val() == 0 && d.Idle && !d.Feed
	}
	for id, text := range revisions.Val() {
		d.Revisions[id] = in.digits(text)
	}
	for list, found := range ahead {
		if members := found.Val(); len(members) > 0 {
			c := s.call("due_cap", k, ids{}, "longest", longest[list].Milliseconds())
			c.keys = append(c.keys, list)
			if list == k.claims() {
				c.addKeys(k.match, members)
			}
			c.addArgs(members)
			d.caps = append(d.caps, c)
		}
	}
	return d, in.err
}

// clockSlack is how much later than after its longest time a member of a list may be due: the clocks of a Redis and of
// the one that takes over differ a little. Up to capBatch members of a list are capped at a time.
const (
	clockSlack = time.Minute
	capBatch   = 1000
)

// longestTimes are the longest times after which scripts let members of lists be due, for a full look. A list that is
// not among them has the times of tickets, or what is only deleted when it is due.
func longestTimes(k keys, after Ages) map[string]time.Duration {
	if after.Urgent {
		return nil
	}
	return map[string]time.Duration{
		k.outbox(): 0, k.claims(): max(after.Claim, definition.LongestAcceptance*time.Second), k.joins(): after.Approval,
		k.deallocations(): LongestBackoff, k.awaited(): ResultMemory, k.backfills(): 0, k.unserved(): 0,
	}
}

// CapDue lets what a full look found to be due too late be due after its longest time: a Redis whose clock was ahead,
// before a failover, said when. It returns how many there were.
func (s *Store) CapDue(ctx context.Context, project string, found DueWork) (capped int, err error) {
	for _, c := range found.caps {
		var n int
		if err = s.eval(ctx, c, &n); err != nil {
			break
		}
		capped += n
	}
	if capped > 0 {
		s.log.WarnContext(ctx, "Redis's clock was ahead before: what was due too late is due sooner", "project", project,
			"entries", capped)
	}
	return capped, err
}

// positionBatch is the number of projects whose positions are read in one round trip.
const positionBatch = 512

// Positions reads the positions of the feeds of projects. After an error it returns the positions of the first
// projects.
func (s *Store) Positions(ctx context.Context, projects []string) (positions []uint64, err error) {
	for some := range slices.Chunk(projects, positionBatch) {
		texts, err := forEach(ctx, s.redis, some, func(p redis.Pipeliner, project string) *redis.StringCmd {
			return p.Get(ctx, keysOf(project).feedSeq())
		})
		if err != nil {
			return positions, err
		}
		for _, cmd := range texts {
			text, err := textOf(cmd)
			var in replied
			position := in.position(cmp.Or(text, "0"))
			if err = cmp.Or(err, in.err); err != nil {
				return positions, err
			}
			positions = append(positions, position)
		}
	}
	return positions, nil
}

// due lists up to limit members of a set ordered by time whose time has come, the oldest first.
func (s *Store) due(ctx context.Context, set string, latest int64, limit int) ([]string, error) {
	ids, err := s.redis.ZRangeArgs(ctx, dueArgs(set, latest, limit)).Result()
	return ids, unavailable(err)
}

func dueArgs(set string, latest int64, limit int) redis.ZRangeArgs {
	return redis.ZRangeArgs{Key: set, ByScore: true, Start: "-inf", Stop: strconv.FormatInt(latest, 10),
		Count: int64(limit)}
}

// Counts is how many tickets, matches and backfill tickets a project has.
type Counts struct {
	// Waiting is the number of waiting tickets. Oldest is when the oldest of them was created, zero when none waits.
	Waiting int64
	Oldest  time.Time
	// Matches counts matches that have claimed tickets and no result, Outbox the claimed matches that may not be in the
	// work queue yet.
	Matches, Outbox int64
	// Results counts tickets whose results are kept.
	Results int64
	// Large is the bytes of tickets that take more than 1 KiB each.
	Large int64
	// Backfills counts backfill tickets, and BackfillBytes is what they take. Joins counts matches that wait for the
	// approval of a running game.
	Backfills, Joins, BackfillBytes int64
	// Unpublished counts events and their tickets that are not published yet.
	Unpublished int64
}

// Counts reads the counts of a project, in one round trip.
func (s *Store) Counts(ctx context.Context, project string) (Counts, error) {
	k := keysOf(project)
	pipe := s.redis.Pipeline()
	waiting, oldest := pipe.ZCard(ctx, k.waiting()), pipe.ZRangeWithScores(ctx, k.waiting(), 0, 0)
	matches, outbox := pipe.ZCard(ctx, k.claims()), pipe.ZCard(ctx, k.outbox())
	backfills, joins := pipe.ZCard(ctx, k.backfills()), pipe.ZCard(ctx, k.joins())
	results := pipe.HGetAll(ctx, k.results())
	history := pipe.MGet(ctx, k.historySeq(), k.published())
	large, games := pipe.HMGet(ctx, k.largeSizes(), "total"), pipe.HMGet(ctx, k.backfillSizes(), "total")
	if _, err := pipe.Exec(ctx); err != nil {
		return Counts{}, unavailable(err)
	}
	var in replied
	ends, at, published := millis(s.Now()), in.row(history), new(pb.Bookmark)
	in.message(at[1], published)
	now := Counts{Waiting: waiting.Val(), Matches: matches.Val(), Outbox: outbox.Val(), Backfills: backfills.Val(),
		Joins: joins.Val(), Large: in.digits(in.row(large)[0]), BackfillBytes: in.digits(in.row(games)[0]),
		Unpublished: max(0, in.digits(at[0])-int64(published.GetPosition()))} // 0 when that is of another history
	for until, count := range results.Val() {
		if in.digits(until) > ends {
			now.Results += in.digits(count)
		}
	}
	if first := oldest.Val(); len(first) > 0 {
		now.Oldest = time.UnixMilli(int64(first[0].Score))
	}
	return now, in.err
}
