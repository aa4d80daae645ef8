package state_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/state"
)

// How large the tickets of the benchmarks are, how many a match has, and how many others wait.
const (
	heldSize    = 60 << 10
	heldTickets = 1000
	heldOthers  = 1_000_000
)

// BenchmarkScriptTimes measures for how long single scripts hold Redis, at the limits of the contract: tickets of 60
// KiB, 1,000 in a match, and a million that wait. The numbers are from Redis's slow log, in microseconds: the longest
// call of a step, in the round in which that was shortest, since other processes may interrupt Redis.
//
//	go test ./services/internal/state -run '^$' -bench ScriptTimes -benchtime 5x
func BenchmarkScriptTimes(b *testing.B) {
	for _, size := range []int{heldSize, 100} {
		b.Run(fmt.Sprintf("%d bytes", size), func(b *testing.B) { benchmarkHold(b, size) })
	}
}

func benchmarkHold(b *testing.B, size int) {
	server, err := embedded.StartRedis(b.Context(), embedded.RedisOptions{Dir: b.TempDir(), AOF: true,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil || !server.Persistent() {
		b.Fatalf("a redis-server or valkey-server is needed: install one (%v)", err)
	}
	b.Cleanup(func() { _ = server.Close() })
	options, err := redis.ParseURL(server.URL())
	if err != nil {
		b.Fatal(err)
	}
	client := redis.NewClient(options)
	b.Cleanup(func() { _ = client.Close() })
	s, err := state.Open(state.Options{Server: state.Server{URL: server.URL()}, Log: slog.New(slog.DiscardHandler),
		History: 5_000_000})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	h := &hold{b: b, ctx: b.Context(), s: s, client: client, size: size, longest: map[string]time.Duration{}}
	h.prepare()
	for b.Loop() {
		h.round()
	}
	for _, name := range h.names {
		b.ReportMetric(float64(h.longest[name].Microseconds()), name+"-µs")
	}
	b.ReportMetric(0, "ns/op")
}

// hold measures the steps of a round.
type hold struct {
	b        *testing.B
	ctx      context.Context
	s        *state.Store
	client   *redis.Client
	size     int
	revision int64
	terms    state.ClaimOptions
	n        int
	names    []string
	longest  map[string]time.Duration
}

func (h *hold) must(err error) {
	h.b.Helper()
	if err != nil {
		h.b.Fatal(err)
	}
}

func (h *hold) prepare() {
	for setting, value := range map[string]string{"slowlog-log-slower-than": "0", "slowlog-max-len": "20000"} {
		h.must(h.client.ConfigSet(h.ctx, setting, value).Err())
	}
	var err error
	h.revision, _, err = h.s.PutConfig(h.ctx, project, &pb.Config{Id: "c"}, state.AnyRevision)
	h.must(err)
	epoch, err := h.s.AcquireLease(h.ctx, project, "me", time.Hour)
	h.must(err)
	h.terms = state.ClaimOptions{Epoch: epoch, Claim: time.Hour, Readable: time.Hour, Approval: time.Hour}
	for n := 0; n < heldOthers; n += 10_000 {
		others := make([]redis.Z, 10_000)
		for i := range others {
			others[i] = redis.Z{Score: 1e13, Member: fmt.Sprintf("other-%031d", n+i)}
		}
		h.must(h.client.ZAdd(h.ctx, "mm:{"+project+"}:waiting", others...).Err())
	}
}

// step runs one step and keeps the time of its longest call.
func (h *hold) step(name string, do func() error) {
	h.b.Helper()
	h.must(h.client.SlowLogReset(h.ctx).Err())
	h.must(do())
	calls, err := h.client.SlowLogGet(h.ctx, 20_000).Result()
	h.must(err)
	longest := slices.MaxFunc(calls, func(a, b redis.SlowLog) int { return cmp.Compare(a.Duration, b.Duration) })
	before, known := h.longest[name]
	if !known {
		h.names, before = append(h.names, name), longest.Duration
	}
	h.longest[name] = min(before, longest.Duration)
}

// create makes the tickets of a match.
func (h *hold) create() []string {
	h.b.Helper()
	h.n++
	ids := make([]string, heldTickets)
	creator, blob := h.s.Creator(nil), []byte(strings.Repeat("x", h.size))
	h.step("create", func() error {
		errs := make(chan error, len(ids))
		for i := range ids {
			ids[i] = fmt.Sprintf("019a9e3c-0000-7000-8000-%06d%06d", h.n, i)
			go func() {
				errs <- creator.Create(h.ctx, project, &pb.Ticket{Id: ids[i], Owner: "o" + ids[i],
					Properties: map[string][]byte{"blob": blob}})
			}()
		}
		for range ids {
			if err := <-errs; err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

func (h *hold) claim(name string, c *state.Claim) {
	h.b.Helper()
	h.must(h.s.OpenTarget(h.ctx, project, c.Match))
	h.step(name, func() error {
		if _, err := h.s.Claim(h.ctx, project, h.terms, []*state.Claim{c}); err != nil || c.Refusal != "" {
			return fmt.Errorf("claim: %w, refused %q", err, c.Refusal)
		}
		return nil
	})
}

func (h *hold) round() {
	ids := h.create()
	m := func() *state.Claim {
		h.n++
		return claim(h.revision, fmt.Sprint("m", h.n), ids...)
	}
	begin := func(c *state.Claim) {
		h.step("begin", func() error {
			_, err := h.s.BeginAllocation(h.ctx, project, c.Match, tenSecondLease("one", time.Hour))
			return err
		})
	}
	results := func() (list []*pb.Assignment, byID map[string]*pb.Assignment) {
		byID = map[string]*pb.Assignment{}
		for _, id := range ids {
			byID[id] = &pb.Assignment{Connection: "127.0.0.1:7777"}
			list = append(list, byID[id])
		}
		return list, byID
	}
	c := m()
	h.claim("claim", c)
	begin(c)
	h.step("release", func() error {
		_, err := h.s.ReleaseMatch(h.ctx, project, c.Match, "one", false, "deadline")
		return err
	})
	c = m()
	h.claim("claim", c)
	begin(c)
	_, byID := results()
	h.step("assign", func() error {
		_, _, err := h.s.Assign(h.ctx, project, c.Match, state.Outcome{Holder: "one", Readable: time.Hour,
			Connection: "127.0.0.1:7777"}, byID)
		return err
	})
	later := h.s.At(time.Now().Add(3 * time.Hour))
	h.step("results", func() error { return h.expire(later) })
	h.outcomes(later)

	ids = h.create()
	h.step("expire", func() error { return h.expire(h.s.At(time.Now().Add(3 * time.Hour))) })

	ids = h.create()
	list, _ := results()
	h.step("fill", func() error {
		done, refused, _, err := h.s.AssignWaiting(h.ctx, project, c.Match.Proposal, ids, list, time.Hour)
		if err != nil || len(done) != len(ids) {
			return fmt.Errorf("%w: %d assigned, refused %q", err, len(done), refused)
		}
		return nil
	})
	h.step("delete", func() error {
		for _, id := range ids {
			if _, err := h.s.DeleteTicket(h.ctx, project, id, ""); err != nil {
				return err
			}
		}
		return nil
	})

	ids = h.create()
	id := fmt.Sprint("game-", h.n)
	_, err := h.s.CreateBackfill(h.ctx, project, game(id, 1000))
	h.must(err)
	generation, err := h.s.Generation(h.ctx, project, id)
	h.must(err)
	seen := game(id, 1000)
	seen.Generation = generation
	h.claim("propose", fill(h.revision, seen, game(id, 0), ids...))
	h.step("approve", func() error {
		a, err := h.s.ApproveBackfill(h.ctx, project, id, state.ApprovalOptions{Readable: time.Hour,
			RepeatJoined: time.Minute})
		if err != nil || len(a.Assigned) != len(ids) {
			return fmt.Errorf("%w: %+v", err, a)
		}
		return nil
	})
	h.step("repeat", func() error {
		a, err := h.s.ApproveBackfill(h.ctx, project, id, state.ApprovalOptions{Readable: time.Hour,
			RepeatJoined: time.Hour})
		if err != nil || len(a.Previous) != len(ids) {
			return fmt.Errorf("%w: %+v", err, a)
		}
		return nil
	})
	_, _, err = h.s.DeleteBackfill(h.ctx, project, id, "")
	h.must(err)
	h.step("results", func() error { return h.expire(later) })
}

// outcomes ends matches whose function gives all of their tickets as many properties as a ticket has.
func (h *hold) outcomes(later *state.Store) {
	shared := []byte(`"` + strings.Repeat("x", h.size) + `"`)
	match := func(ids []string) (*state.Claim, []*pb.Assignment) {
		h.n++
		c := claim(h.revision, fmt.Sprint("m", h.n), ids...)
		c.Match.Proposal.MatchProperties = shared
		return c, []*pb.Assignment{{Connection: "127.0.0.1:7777", MatchProperties: shared}}
	}
	ids := h.create()
	c, results := match(ids)
	for range ids {
		c.Assignments = append(c.Assignments, results[0])
	}
	h.claim("claim-outcome", c)

	ids = h.create()
	c, results = match(ids)
	h.claim("claim", c)
	_, err := h.s.BeginAllocation(h.ctx, project, c.Match, tenSecondLease("one", time.Hour))
	h.must(err)
	h.step("assign-outcome", func() error {
		ended, err := h.s.EndMatch(h.ctx, project, state.Ending{Match: c.Match, Tickets: ids, Results: results,
			Outcome: state.Outcome{Holder: "one", Readable: time.Hour, Connection: "127.0.0.1:7777"}})
		if err != nil || len(ended.Assigned) != len(ids) {
			return fmt.Errorf("%w: %d assigned", err, len(ended.Assigned))
		}
		return nil
	})
	h.step("results-outcome", func() error { return h.expire(later) })
}

// expire deletes whatever is old at a time.
func (h *hold) expire(s *state.Store) error {
	for {
		e, err := s.Expire(h.ctx, project, time.Hour, time.Minute, 128)
		if err != nil || !e.More {
			return err
		}
	}
}
