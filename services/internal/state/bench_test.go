package state_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/state"
)

// BenchmarkTicket measures what a ticket costs Redis, 1024 at a time. redis-µs is the processor time of its only
// thread, whose inverse is the most that one Redis can do.
func BenchmarkTicket(b *testing.B) {
	server, err := embedded.StartRedis(b.Context(), embedded.RedisOptions{Dir: b.TempDir(), AOF: true,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil || !server.Persistent() {
		b.Fatalf("a redis-server or valkey-server is needed: install one (%v)", err)
	}
	b.Cleanup(func() { _ = server.Close() })
	open := func(b *testing.B, o state.Options) *state.Store {
		o.Server.URL, o.Log = server.URL(), slog.New(slog.DiscardHandler)
		s, err := state.Open(o)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		if err := s.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
		return s
	}
	limits := state.Options{Limits: state.Limits{PlayerRate: 1000, PlayerBurst: 10000, ProjectRate: 1e6,
		ProjectBurst: 1e6}}
	b.Run("create", func(b *testing.B) { benchmarkTicket(b, open(b, limits), (*crowd).create) })
	b.Run("create without limits", func(b *testing.B) { benchmarkTicket(b, open(b, state.Options{}), (*crowd).create) })
	events := state.Options{History: 1_000_000}
	b.Run("create, and with ratings", func(b *testing.B) { benchmarkRated(b, open(b, limits)) })
	b.Run("create with events", func(b *testing.B) { benchmarkTicket(b, open(b, events), (*crowd).create) })
	b.Run("claim and assign with events", func(b *testing.B) {
		benchmarkTicket(b, open(b, events), (*crowd).claimDirect, (*crowd).create)
	})
	b.Run("assign with events", func(b *testing.B) {
		benchmarkTicket(b, open(b, events), (*crowd).assign, (*crowd).create, (*crowd).claim, (*crowd).begin)
	})
	b.Run("delete", func(b *testing.B) { benchmarkTicket(b, open(b, state.Options{}), (*crowd).delete, (*crowd).create) })
	b.Run("claim and assign", func(b *testing.B) {
		benchmarkTicket(b, open(b, state.Options{}), (*crowd).claimDirect, (*crowd).create)
	})
	b.Run("claim", func(b *testing.B) { benchmarkTicket(b, open(b, state.Options{}), (*crowd).claim, (*crowd).create) })
	b.Run("begin", func(b *testing.B) {
		benchmarkTicket(b, open(b, state.Options{}), (*crowd).begin, (*crowd).create, (*crowd).claim)
	})
	b.Run("assign", func(b *testing.B) {
		benchmarkTicket(b, open(b, state.Options{}), (*crowd).assign, (*crowd).create, (*crowd).claim, (*crowd).begin)
	})
}

func benchmarkTicket(b *testing.B, s *state.Store, work func(*crowd) error, before ...func(*crowd) error) {
	revision, _, err := s.PutConfig(b.Context(), project, &pb.Config{Id: "c"}, state.AnyRevision)
	if err != nil {
		b.Fatal(err)
	}
	epoch, err := s.AcquireLease(b.Context(), project, "me", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	c := &crowd{
		ctx: b.Context(), store: s, creator: s.Creator(nil), revision: revision,
		terms: state.ClaimOptions{Epoch: epoch, Claim: time.Hour, Readable: time.Hour},
	}
	var used time.Duration
	var scripts int
	for b.Loop() {
		b.StopTimer()
		c.round++
		for _, step := range before {
			if err := step(c); err != nil {
				b.Fatal(err)
			}
		}
		usedBefore, scriptsBefore := usageOf(b, s)
		b.StartTimer()
		if err := work(c); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		usedNow, scriptsNow := usageOf(b, s)
		used, scripts = used+usedNow-usedBefore, scripts+scriptsNow-scriptsBefore
		b.StartTimer()
	}
	tickets := float64(b.N * crowdSize)
	b.ReportMetric(float64(used.Microseconds())/tickets, "redis-µs/ticket")
	b.ReportMetric(tickets/float64(scripts), "tickets/script")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/tickets, "µs/ticket")
}

// benchmarkRated creates rounds of tickets without and with a rating and a standing in turn, and says how much more the
// latter take: of Redis's processor, and of both.
func benchmarkRated(b *testing.B, s *state.Store) {
	rated := &pb.ProjectSettings{Ratings: []*pb.RatingRule{{Name: "skill", Model: rating.PlackettLuce, Mean: 25,
		Deviation: 8, Beta: 4, Tau: 0.1}}}
	standing := &pb.ProjectSettings{Ratings: rated.Ratings,
		Standing: &pb.StandingRules{Games: true, Left: true, Recent: 5}}
	c := &crowd{ctx: b.Context(), store: s, creator: s.Creator(nil)}
	for i := range crowdSize { // as the players of a ladder have them
		stored := state.FormatRated([]state.PlayerRating{{Name: "skill", Rating: rating.Rating{Mean: 25.1 + float64(i)/7,
			Deviation: 3.21}, Matches: 30, Changed: time.Now()}}, state.Standing{Games: 30, Recent: []string{"a", "b", "c"}})
		if err := s.Rate(b.Context(), project, fmt.Sprint("player-", i), stored); err != nil {
			b.Fatal(err)
		}
	}
	var redis, both [3]time.Duration
	for b.Loop() {
		for of, one := range []*pb.ProjectSettings{nil, rated, standing} {
			c.round++
			usedBefore, _ := usageOf(b, s)
			before := processorTime(b)
			if err := c.createAs(one); err != nil {
				b.Fatal(err)
			}
			own := processorTime(b) - before
			used, _ := usageOf(b, s)
			redis[of], both[of] = redis[of]+used-usedBefore, both[of]+used-usedBefore+own
		}
	}
	for of, name := range []string{"plain", "rated", "standing"} {
		b.ReportMetric(float64(redis[of].Microseconds())/float64(b.N*crowdSize), "redis-µs/"+name)
		b.ReportMetric(float64(both[of].Microseconds())/float64(b.N*crowdSize), "µs/"+name)
	}
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// usageOf returns the processor time of Redis's main thread, and how many scripts it ran. The time does not grow while
// other processes run.
func usageOf(b *testing.B, s *state.Store) (used time.Duration, scripts int) {
	text, err := s.Usage(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "used_cpu_user_main_thread", "used_cpu_sys_main_thread":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				b.Fatal(err)
			}
			used += time.Duration(seconds * float64(time.Second))
		case "cmdstat_eval", "cmdstat_evalsha":
			calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
			n, err := strconv.Atoi(calls)
			if err != nil {
				b.Fatal(err)
			}
			scripts += n
		}
	}
	return used, scripts
}

const crowdSize = 1024

// crowd is the tickets of a round.
type crowd struct {
	ctx      context.Context
	store    *state.Store
	creator  *state.Creator
	revision int64
	terms    state.ClaimOptions
	round    int
}

// id returns an id like the service's.
func (c *crowd) id(i int) string { return fmt.Sprintf("019a9e3c-0000-7000-8000-%06d%06d", c.round, i) }

// each calls do for every ticket, many at once.
func (c *crowd) each(do func(i int) error) error {
	errs := make(chan error, crowdSize)
	var all sync.WaitGroup
	for i := range crowdSize {
		all.Go(func() {
			grow(i)
			if err := do(i); err != nil {
				errs <- err
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}

// grow gives a goroutine the stack that the goroutine of a connection has by its first request.
//
//go:noinline
func grow(i int) byte {
	var room [16 << 10]byte
	return room[i%len(room)]
}

func (c *crowd) create() error { return c.createAs(nil) }

func (c *crowd) createAs(settings *pb.ProjectSettings) error {
	return c.each(func(i int) error {
		one := state.Creation{Ticket: ticket(c.id(i), i), Settings: settings}
		one.Ticket.Owner = fmt.Sprint("player-", i)
		if len(settings.GetRatings()) > 0 {
			one.Ticket.AttributeNames, one.Ticket.AttributeValues = nil, nil
		}
		_, err := c.creator.CreateAs(c.ctx, project, one)
		return err
	})
}

func (c *crowd) delete() error {
	return c.each(func(i int) error {
		_, err := c.store.DeleteTicket(c.ctx, project, c.id(i), "")
		return err
	})
}

// matches makes a match of every two tickets.
func (c *crowd) matches(direct bool) []*state.Claim {
	claims := make([]*state.Claim, crowdSize/2)
	for i := range claims {
		tickets := []string{c.id(2 * i), c.id(2*i + 1)}
		claims[i] = claim(c.revision, "m"+c.id(i), tickets...)
		if direct {
			claims[i].Assignments = []*pb.Assignment{{Connection: "x"}, {Connection: "x"}}
		}
	}
	return claims
}

func (c *crowd) claimAll(direct bool) error {
	claims := c.matches(direct)
	if err := c.store.OpenTarget(c.ctx, project, claims[0].Match); err != nil {
		return err
	}
	_, err := c.store.Claim(c.ctx, project, c.terms, claims)
	for _, claim := range claims {
		if err == nil && claim.Refusal != "" {
			err = fmt.Errorf("refused: %s", claim.Refusal)
		}
	}
	return err
}

func (c *crowd) claim() error       { return c.claimAll(false) }
func (c *crowd) claimDirect() error { return c.claimAll(true) }

func (c *crowd) begin() error {
	claims := c.matches(false)
	return c.each(func(i int) error {
		if i >= len(claims) {
			return nil
		}
		_, err := c.store.BeginAllocation(c.ctx, project, claims[i].Match, tenSecondLease("one", time.Hour))
		return err
	})
}

func (c *crowd) assign() error {
	claims := c.matches(false)
	return c.each(func(i int) error {
		if i >= len(claims) {
			return nil
		}
		results := map[string]*pb.Assignment{}
		for _, id := range claims[i].Tickets {
			results[id] = &pb.Assignment{Connection: "127.0.0.1:7777"}
		}
		end := state.Outcome{Holder: "one", Readable: time.Hour, Connection: "127.0.0.1:7777"}
		_, _, err := c.store.Assign(c.ctx, project, claims[i].Match, end, results)
		return err
	})
}
