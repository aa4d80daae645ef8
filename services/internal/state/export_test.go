package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Flush empties the database, as a restart without its data does.
func (s *Store) Flush(ctx context.Context) error { return s.redis.FlushDB(ctx).Err() }

// ForgetProjects loses the list of projects.
func (s *Store) ForgetProjects(ctx context.Context) error {
	return s.redis.Del(ctx, global.projects()).Err()
}

// ScriptKeys lists the ends of the keys that the scripts declare.
func ScriptKeys() (ends []string) {
	for _, load := range scripts() {
		for _, key := range load().keys {
			ends = append(ends, key.suffix)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// LetWait makes tickets wait of which nothing else is stored.
func (s *Store) LetWait(ctx context.Context, project string, tickets []string) error {
	for some := range slices.Chunk(tickets, 1000) {
		members := make([]redis.Z, len(some))
		for i, id := range some {
			members[i] = redis.Z{Member: id}
		}
		if err := s.redis.ZAdd(ctx, keysOf(project).waiting(), members...).Err(); err != nil {
			return err
		}
	}
	return nil
}

// LetGo takes such tickets away.
func (s *Store) LetGo(ctx context.Context, project string, tickets []string) error {
	members := make([]any, len(tickets))
	for i, id := range tickets {
		members[i] = id
	}
	return s.redis.ZRem(ctx, keysOf(project).waiting(), members...).Err()
}

// Shown lists the backfill tickets that functions are shown, with their generations.
func (s *Store) Shown(ctx context.Context, project string) (map[string]int64, error) {
	k, shown := keysOf(project), map[string]int64{}
	ids, err := s.redis.ZRange(ctx, k.backfills(), 0, -1).Result()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		fields, err := s.redis.HMGet(ctx, k.backfill(id), backfillRows.fields...).Result()
		if err != nil {
			return nil, err
		}
		c := backfillChange(id, fields)
		if b, err := c.DecodeBackfill(); err != nil {
			return nil, err
		} else if b != nil {
			shown[id] = b.GetGeneration()
		}
	}
	return shown, nil
}

// AllKeys lists the keys that match a pattern, in order.
func (s *Store) AllKeys(ctx context.Context, pattern string) ([]string, error) {
	all, err := s.redis.Keys(ctx, pattern).Result()
	slices.Sort(all)
	return all, err
}

// Do sends a command.
func (s *Store) Do(ctx context.Context, command ...any) error {
	return s.redis.Do(ctx, command...).Err()
}

// LookEvery sets how often readers that wait are looked after, before any does.
func (s *Store) LookEvery(d time.Duration) { s.waits.every = d }

// AppendEntries appends equal entries of name, value pairs to a project's feed, in one round trip.
func (s *Store) AppendEntries(ctx context.Context, project string, n int, changes ...string) error {
	k := keysOf(project)
	limit, is := s.arguments["feed_limit"].(int)
	position, err := s.redis.Get(ctx, k.feedSeq()).Uint64()
	if !is || err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("the feed's limit is %v, its position: %w", s.arguments["feed_limit"], err)
	}
	_, err = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.IncrBy(ctx, k.feedSeq(), int64(n)) // first: readers never see entries beyond it
		for i := range n {
			id := strconv.FormatUint(position+uint64(i)+1, 10) + "-0"
			p.XAdd(ctx, &redis.XAddArgs{Stream: k.feed(), ID: id, MaxLen: int64(limit), Approx: true, Values: changes})
		}
		return nil
	})
	return err
}

// SetSnapshotStep sets about how many tickets a snapshot lists at once.
func (s *Store) SetSnapshotStep(n int64) { s.step = n }

// AppendFeed appends an entry of name, value pairs to a project's feed, and returns its position.
func (s *Store) AppendFeed(ctx context.Context, project string, changes ...string) (uint64, error) {
	k := keysOf(project)
	position, err := s.redis.Incr(ctx, k.feedSeq()).Uint64()
	if err != nil {
		return 0, err
	}
	id := strconv.FormatUint(position, 10) + "-0"
	return position, s.redis.XAdd(ctx, &redis.XAddArgs{Stream: k.feed(), ID: id, Values: changes}).Err()
}

// Players is how many buckets of players are stored.
func (s *Store) Players(ctx context.Context, project string) (n int64, err error) {
	for _, hash := range []string{"0", "1"} {
		names, err := s.redis.HKeys(ctx, keysOf(project).players(hash)).Result()
		if err != nil {
			return 0, err
		}
		for _, name := range names {
			if name[0] != '\n' { // which the project's own bucket begins with
				n++
			}
		}
	}
	return n, nil
}

// Generation is a backfill ticket's generation.
func (s *Store) Generation(ctx context.Context, project, id string) (int64, error) {
	return s.redis.HGet(ctx, keysOf(project).backfill(id), "g").Int64()
}

// Forget makes the server forget all scripts, as a restart does.
func (s *Store) Forget(ctx context.Context) error { return s.redis.ScriptFlush(ctx).Err() }

// Usage returns the server's statistics of processor time and of commands.
func (s *Store) Usage(ctx context.Context) (string, error) {
	return s.redis.Do(ctx, "INFO", "cpu", "commandstats").Text()
}

// PutBack removes the last entry of a project's history, as if a lagging replica took over.
func (s *Store) PutBack(ctx context.Context, project string) error {
	k := keysOf(project)
	all, err := s.redis.XRange(ctx, k.history(), "-", "+").Result()
	if err != nil {
		return err
	}
	_, err = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Del(ctx, k.history(), k.historySeq())
		for _, e := range all[:len(all)-1] {
			position, _, _ := strings.Cut(e.ID, "-")
			p.XAdd(ctx, &redis.XAddArgs{Stream: k.history(), ID: e.ID, Values: e.Values})
			p.Set(ctx, k.historySeq(), position, 0)
		}
		return nil
	})
	return err
}

// JoinGame lets a match join its game, as an approval does that had read before that the match goes there.
func (s *Store) JoinGame(ctx context.Context, project string, m *pb.Match, connection string) ([]Ended, error) {
	joined, _, err := s.join(ctx, project, []*pb.Match{m}, arrival{connection: connection, readable: time.Minute})
	return joined, err
}

// EndMatch ends one match.
func (s *Store) EndMatch(ctx context.Context, project string, e Ending) (Ended, error) {
	all, err := s.EndMatches(ctx, project, []Ending{e})
	if err != nil {
		return Ended{}, err
	}
	return all[0], nil
}

// Assign ends a match with a result for each of its tickets.
func (s *Store) Assign(
	ctx context.Context, project string, m *pb.Match, o Outcome, results map[string]*pb.Assignment,
) (MatchStatus, []string, error) {
	e := Ending{Match: m, Outcome: o}
	for _, id := range slices.Sorted(maps.Keys(results)) {
		e.Tickets, e.Results = append(e.Tickets, id), append(e.Results, results[id])
	}
	ended, err := s.EndMatch(ctx, project, e)
	return ended.Status, ended.Assigned, err
}

// ResultSize is how many bytes the result of a ticket takes, without its outcome.
func (s *Store) ResultSize(ctx context.Context, project, id string) (int64, error) {
	return s.redis.HStrLen(ctx, keysOf(project).ticket(id), "a").Result()
}

// Leftovers lists the keys of tickets, matches and backfill tickets.
func (s *Store) Leftovers(ctx context.Context, project string) ([]string, error) {
	k := keysOf(project)
	all, err := s.redis.Keys(ctx, "*").Result()
	return slices.DeleteFunc(all, func(key string) bool {
		name, of := strings.CutPrefix(key, string(k))
		return !of || !slices.Contains([]string{"backfills", "joins", "claims", "outbox", "waiting", "large_sizes",
			"backfill_sizes", "outcomes"}, name) &&
			!slices.ContainsFunc([]string{"t:", "m:", "o:", "bf:", "bp:", "bj:"},
				func(kind string) bool { return strings.HasPrefix(name, kind) })
	}), err
}

// Strays lists the tickets that are in the waiting set and do not wait, or that wait and are not in it.
func (s *Store) Strays(ctx context.Context, project string) ([]string, error) {
	k := keysOf(project)
	in := map[string]bool{}
	waiting, err := s.redis.ZRange(ctx, k.waiting(), 0, -1).Result()
	if err != nil {
		return nil, err
	}
	for _, id := range waiting {
		in[id] = true
	}
	all, err := s.redis.Keys(ctx, k.ticket("*")).Result()
	if err != nil {
		return nil, err
	}
	var strays []string
	for _, key := range all {
		id := strings.TrimPrefix(key, k.ticket(""))
		state, err := s.redis.HGet(ctx, key, "s").Result()
		if err != nil {
			return nil, err
		}
		if (state == "w") != in[id] {
			strays = append(strays, id)
		}
		delete(in, id)
	}
	for id := range in {
		strays = append(strays, id)
	}
	return strays, nil
}

// ForgetConfigHistory removes the history of all configs, as a limit of all changes does.
func (s *Store) ForgetConfigHistory(ctx context.Context, project string) error {
	k := keysOf(project)
	return s.redis.Del(ctx, k.configChanges(), k.configHistory()).Err()
}

// ConfigChanges is how many changes of configs are stored.
func (s *Store) ConfigChanges(ctx context.Context, project string) (int64, error) {
	k := keysOf(project)
	listed, err := s.redis.ZCard(ctx, k.configChanges()).Result()
	if err != nil {
		return 0, err
	}
	stored, err := s.redis.HLen(ctx, k.configHistory()).Result()
	if err == nil && stored != listed {
		err = fmt.Errorf("%d changes are listed and %d are stored", listed, stored)
	}
	return stored, err
}

// At is the store at a time.
func (s *Store) At(now time.Time) *Store {
	then := &Store{redis: s.redis, feeds: s.feeds, log: s.log, bare: s.bare, limits: s.limits,
		arguments: s.arguments, functions: s.functions, step: s.step, memory: s.memory, waits: s.waits,
		clock: func() time.Time { return now }}
	then.measured.host = s.measured.host
	return then
}

// Measure measures Redis's clock once.
func (s *Store) Measure(ctx context.Context) error { return s.measure(ctx) }

// MeasureMemory asks for Redis's memory once.
func (s *Store) MeasureMemory(ctx context.Context) error { return s.measureMemory(ctx) }

// Unmeasure forgets Redis's clock.
func (s *Store) Unmeasure() { s.measured.known.Store(nil) }

// Measured is Redis's clock as a process knows it.
type Measured struct{ clock }

// Init sets the host's clock.
func (m *Measured) Init(host func() time.Time) { m.host = host }

// Learn takes a measurement: Redis's clock was not before redis, nor later than that and bound.
func (m *Measured) Learn(redis, host time.Time, bound time.Duration) (jump time.Duration) {
	return m.learn(&measurement{low: redis, high: redis.Add(bound), host: host})
}

// Now is Redis's clock.
func (m *Measured) Now() time.Time { return m.now() }

func (k keys) hostingWindows() string { return string(k) + "hosting_windows" }

// ForgetCredit makes all targets of a project as good as new.
func (s *Store) ForgetCredit(ctx context.Context, project string) error {
	return s.redis.Del(ctx, keysOf(project).hostingWindows()).Err()
}

// Credit reads what is known of the targets of a project.
func (s *Store) Credit(ctx context.Context, project string) (map[string]string, error) {
	return s.redis.HGetAll(ctx, keysOf(project).hostingWindows()).Result()
}

// PutCredit writes what is known of the targets of a project.
func (s *Store) PutCredit(ctx context.Context, project string, credit map[string]string) error {
	return s.redis.HSet(ctx, keysOf(project).hostingWindows(), credit).Err()
}

// OpenTarget lets many matches of a match's target be open.
func (s *Store) OpenTarget(ctx context.Context, project string, m *pb.Match) error {
	return s.redis.HSet(ctx, keysOf(project).hostingWindows(), "w:"+TargetOf(m).name(), 8_000_000).Err()
}

// MatchKeys counts the matches of a project that are stored, and the sets that list ended ones.
func (s *Store) MatchKeys(ctx context.Context, project string) (int, error) {
	k := keysOf(project)
	matches, err := s.redis.Keys(ctx, k.match("*")).Result()
	if err != nil {
		return 0, err
	}
	sets, err := s.redis.Exists(ctx, k.ended(), k.deallocations(), k.outbox(), k.claims()).Result()
	return len(matches) + int(sets), err
}

// FeedEntries reads the feed: names and values of each entry.
func (s *Store) FeedEntries(ctx context.Context, project string) ([][]string, error) {
	return s.streamEntries(ctx, keysOf(project).feed())
}

// DueAll makes a member of each set of a project due.
func (s *Store) DueAll(ctx context.Context, project string) error {
	k := keysOf(project)
	for _, set := range []string{k.outbox(), k.claims(), k.joins(), k.backfills(), k.waiting(), k.resolved(), k.ended(),
		k.awaited(), k.rated(), k.unserved()} {
		if err := s.redis.ZAdd(ctx, set, redis.Z{Score: 1, Member: "due"}).Err(); err != nil {
			return err
		}
	}
	return nil
}

// NoJoins lets no match go to a running game.
func (s *Store) NoJoins(ctx context.Context, project string) error {
	return s.redis.Del(ctx, keysOf(project).joins()).Err()
}

// HistoryPosition is the last position of the history.
func (s *Store) HistoryPosition(ctx context.Context, project string) (uint64, error) {
	return s.redis.Get(ctx, keysOf(project).historySeq()).Uint64()
}

// HistoryEntries reads the history: names and values of each entry.
func (s *Store) HistoryEntries(ctx context.Context, project string) ([][]string, error) {
	return s.streamEntries(ctx, keysOf(project).history())
}

func (s *Store) streamEntries(ctx context.Context, key string) ([][]string, error) {
	raw, err := s.redis.Do(ctx, "XRANGE", key, "-", "+").Slice()
	entries := make([][]string, len(raw))
	for i, one := range raw {
		for _, value := range one.([]any)[1].([]any) {
			entries[i] = append(entries[i], value.(string))
		}
	}
	return entries, err
}

// CreateAtOnce creates tickets that all wait in the queue of a Creator.
func (c *Creator) CreateAtOnce(ctx context.Context, project string, tickets ...*pb.Ticket) error {
	g := new(group)
	for _, t := range tickets {
		one, err := newCreation(Creation{Ticket: t})
		if err != nil {
			return err
		}
		g.queue = append(g.queue, one)
	}
	all := g.queue
	c.flush(ctx, project, g)
	for _, one := range all {
		if result := <-one.done; result.err != nil {
			return result.err
		}
	}
	return nil
}

// TTL is how long a key is kept, below 0 for good.
func (s *Store) TTL(ctx context.Context, key string) (time.Duration, error) {
	return s.redis.PTTL(ctx, key).Result()
}

// Contents reads everything that Redis has, by key.
func (s *Store) Contents(ctx context.Context) (map[string]string, error) {
	all, err := s.AllKeys(ctx, "*")
	if err != nil {
		return nil, err
	}
	contents := map[string]string{}
	for _, key := range all {
		read, err := s.contentOf(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		contents[key] = read
	}
	return contents, nil
}

func (s *Store) contentOf(ctx context.Context, key string) (string, error) {
	kind, err := s.redis.Type(ctx, key).Result()
	if err != nil {
		return "", err
	}
	switch kind {
	case "string":
		return s.redis.Get(ctx, key).Result()
	case "hash":
		fields, err := s.redis.HGetAll(ctx, key).Result()
		return fmt.Sprint(fields), err
	case "zset":
		members, err := s.redis.ZRange(ctx, key, 0, -1).Result()
		return strings.Join(members, " "), err
	case "list":
		all, err := s.redis.LRange(ctx, key, 0, -1).Result()
		return strings.Join(all, " "), err
	case "set":
		members, err := s.redis.SMembers(ctx, key).Result()
		return strings.Join(members, " "), err
	case "stream":
		entries, err := s.redis.XRange(ctx, key, "-", "+").Result()
		return fmt.Sprint(entries), err
	}
	return "", fmt.Errorf("keys of type %s are not read", kind)
}

// Ends tells in how many milliseconds a key goes by itself.
func (s *Store) Ends(ctx context.Context, key string) (int64, error) {
	left, err := s.redis.PTTL(ctx, key).Result()
	return left.Milliseconds(), err
}

// Queued is how many tickets wait for the next group.
func (c *Creator) Queued(project string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.groups[project]; g != nil {
		return len(g.queue)
	}
	return 0
}

// BytesOfBackfills adds up what the backfill tickets of a project take.
func (s *Store) BytesOfBackfills(ctx context.Context, project string) (sum int64, err error) {
	k := keysOf(project)
	ids, err := s.redis.ZRange(ctx, k.backfills(), 0, -1).Result()
	for _, id := range ids {
		row, err := s.redis.HMGet(ctx, k.backfill(id), "b", "n", "a", "d", "y", "p", "j", "f").Result()
		if err != nil {
			return 0, err
		}
		for _, value := range row {
			text, _ := value.(string)
			sum += int64(len(text))
		}
		going, err := s.redis.HVals(ctx, k.joining(id)).Result()
		if err != nil {
			return 0, err
		}
		for _, one := range going {
			sum += int64(len(one))
		}
	}
	return sum, err
}

// BeginAllocation takes the lease of a match. From then on the match is no longer dropped when a ticket leaves.
func (s *Store) BeginAllocation(ctx context.Context, project string, m *pb.Match, l MatchLease) (Allocation, error) {
	begun, err := s.BeginAllocations(ctx, project, []Beginning{{m, l}})
	if err != nil {
		return Allocation{}, err
	}
	return begun[0], nil
}

// QueuedCommands is how many shared commands wait for the next round trip.
func (s *Store) QueuedCommands(project string) int {
	p := s.shared(project)
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// Rate stores what is stored of a player's ratings.
func (s *Store) Rate(ctx context.Context, project, player, stored string) error {
	return s.redis.HSet(ctx, keysOf(project).ratings(), player, stored).Err()
}
