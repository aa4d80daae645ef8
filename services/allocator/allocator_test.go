package allocator_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

const (
	project  = "demo"
	patience = 2 * time.Minute
)

// script is a provider whose answers a test defines. It records its calls.
type script struct {
	allocate func(n int, r *provider.Request) (provider.Result, error)
	poll     func(n int) provider.Result

	// release is nil when every release succeeds.
	release func(n int, r provider.Ref) error

	mu       sync.Mutex
	asked    int
	polled   int
	returned int
	most     int // refs in one poll
	held     map[string]bool
	released chan string
}

func (s *script) Allocate(_ context.Context, r *provider.Request) (provider.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	result, err := s.allocate(s.asked, r)
	if result.Status == provider.Allocated || result.Status == provider.Pending {
		s.held[r.Match] = true
	}
	return result, err
}

func (s *script) Poll(_ context.Context, refs []provider.Ref) ([]provider.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polled++
	s.most = max(s.most, len(refs))
	results := make([]provider.Result, len(refs))
	for i := range refs {
		results[i] = s.poll(s.polled)
	}
	return results, nil
}

func (s *script) Release(_ context.Context, r provider.Ref) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.returned++
	if s.release != nil {
		if err := s.release(s.returned, r); err != nil {
			return err
		}
	}
	if r.Used == "" {
		delete(s.held, r.Match)
	}
	s.released <- r.Match
	return nil
}

// holds reports whether a match has a server.
func (s *script) holds(match string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[match]
}

// world is an allocator with a real Redis and a real NATS.
type world struct {
	t testing.TB
	// settled stops the allocator and returns when it has finished its matches.
	settled func()
	store   *state.Store
	bus     *bus.Bus
	terms   state.ClaimOptions
	rev     int64
	options allocator.Options
	// ahead is for how long Redis's clock is ahead, of the time at which it stands still, if it does.
	ahead   atomic.Int64
	stopped atomic.Pointer[time.Time]
	// redis and nats are URLs.
	redis, nats string
	// requeue is OnAllocationError in the configs of claimed matches.
	requeue string
	// region is the region of claimed matches, "r" if empty, and names the fleet of their config. Matches of one region,
	// and of one fleet's regions that were not served, wait for each other when there are no servers.
	region string
}

// redisTime is what the store is told of the time.
func (w *world) redisTime() time.Time {
	now := time.Now()
	if at := w.stopped.Load(); at != nil {
		now = *at
	}
	return now.Add(time.Duration(w.ahead.Load()))
}

func allocateAtOnce(int, *provider.Request) (provider.Result, error) {
	return provider.Result{Status: provider.Allocated, Connection: "1.2.3.4:5"}, nil
}

func start(t *testing.T, s *script, change ...func(*allocator.Options)) *world {
	t.Helper()
	s.held, s.released = map[string]bool{}, make(chan string, 100)
	w := prepare(t)
	w.options.Provider = s
	for _, f := range change {
		f(&w.options)
	}
	w.settled = w.run()
	t.Cleanup(w.settled)
	return w
}

// prepare is a world without an allocator.
func prepare(t testing.TB) *world {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	w := &world{t: t, redis: embeddedtest.Redis(t), nats: embeddedtest.NATS(t)}
	var err error
	w.store, err = state.Open(state.Options{Server: state.Server{URL: w.redis}, Log: log, History: 1000,
		Clock: w.redisTime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	if w.bus, err = bus.Connect(t.Context(), bus.Options{Server: bus.Server{URL: w.nats}, Log: log,
		Wait: embeddedtest.Patience}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.bus.Close(context.Background()) })
	short := settings.Default[allocator.Settings]()
	short.Poll, short.Sweep, short.Retry = time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
	short.Note = patience
	w.options = allocator.Options{Store: w.store, Bus: w.bus, Log: log, Settings: short,
		Readable: 10 * time.Minute, Renewable: 24 * time.Hour}
	embeddedtest.Prepare(t, w.bus)
	w.lead(project)
	return w
}

// lead makes the test the director of a project that has a config.
func (w *world) lead(project string) {
	w.t.Helper()
	var err error
	if w.rev, _, err = w.store.PutConfig(w.t.Context(), project, &pb.Config{Id: "c"}, state.AnyRevision); err != nil {
		w.t.Fatal(err)
	}
	epoch, err := w.store.AcquireLease(w.t.Context(), project, "d", time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	w.terms = state.ClaimOptions{Epoch: epoch, Claim: time.Hour, Readable: time.Hour}
}

// run starts an allocator. settled stops it and returns when it has finished its matches.
func (w *world) run() (settled func()) {
	part := allocator.New(w.options)
	ctx, stop := context.WithCancel(w.t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		if err := part.Run(ctx); err != nil {
			w.t.Error(err)
		}
	})
	return func() { stop(); working.Wait() }
}

// claim creates tickets and claims them for a match that needs a server.
func (w *world) claim(match string, tickets ...string) *pb.Match {
	w.t.Helper()
	return w.claimIn(project, match, tickets...)
}

func (w *world) claimIn(project, match string, tickets ...string) *pb.Match {
	w.t.Helper()
	create := w.store.Creator(nil)
	for _, id := range tickets {
		if err := create.Create(w.t.Context(), project, &pb.Ticket{
			Id: id, Owner: "player-" + id, Created: time.Now().UnixMilli(),
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	c := w.claimOf(match, tickets...)
	if _, err := w.store.Claim(w.t.Context(), project, w.terms, []*state.Claim{c}); err != nil || c.Refusal != "" {
		w.t.Fatal(c.Refusal, err)
	}
	return c.Match
}

// claimOf is the claim of a match that needs a server.
func (w *world) claimOf(match string, tickets ...string) *state.Claim {
	return &state.Claim{
		Match: &pb.Match{
			Id: match, Config: "c", Revision: w.rev, Place: state.PlaceHosting,
			Hosting: &pb.Hosting{Fleet: "config's " + w.region, Profile: "p", OnAllocationError: w.requeue},
			Proposal: &pb.Proposal{
				Teams:           []*pb.Team{{Name: "all", Tickets: tickets}},
				MatchProperties: []byte(`{"map":"dust"}`),
				Hosting:         &pb.HostingOverride{Fleet: "proposal's", Region: cmp.Or(w.region, "r")},
			},
		},
		Tickets: tickets,
	}
}

// A young match that comes with its content is not read at first: what the provider is asked for is what came.
func TestMatchIsNotReadBack(t *testing.T) {
	asked := make(chan string, 10)
	w := start(t, &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		asked <- r.Match + string(r.Properties)
		return allocateAtOnce(n, r)
	}})
	const sent, stored = `{"map":"sent"}`, `{"map":"dust"}`
	for name, test := range map[string]struct {
		change func(m *pb.Match)
		want   string
	}{
		"young":                   {func(*pb.Match) {}, sent},
		"too large to be sent":    {func(m *pb.Match) { m.Proposal.MatchProperties = make([]byte, 2<<10) }, stored},
		"with hosting keys":       {func(m *pb.Match) { m.Hosting.Keys = []byte("sealed") }, stored},
		"created long ago":        {func(m *pb.Match) { m.Created -= 3000 }, stored},
		"before the clock jumped": {func(m *pb.Match) { m.Created += 60_000 }, stored},
		"the second time": {func(m *pb.Match) {
			w.stopped.Store(nil) // the lease ends
			m.Created = w.store.Now().UnixMilli()
			begun, err := w.store.BeginAllocations(t.Context(), project, []state.Beginning{{Match: m,
				Lease: state.MatchLease{Holder: "other", Hold: 2 * time.Second, Search: time.Minute, Claim: time.Minute}}})
			if err != nil || begun[0].Status != state.MatchActive {
				t.Fatal(begun, err)
			}
		}, stored},
	} {
		now := time.Now()
		w.stopped.Store(&now) // a match stays young, though the machine stands still
		id := strings.ReplaceAll(name, " ", "-")
		m := proto.CloneOf(w.claim(id, "t-"+id))
		m.Created, m.Proposal.MatchProperties = w.store.Now().UnixMilli(), []byte(sent)
		test.change(m)
		sent, err := w.bus.EnqueueMatches(t.Context(), project, map[string]*pb.Match{id: m}, []string{id})
		if err != nil || len(sent) != 1 {
			t.Fatal(sent, err)
		}
		if got := <-asked; got != id+test.want {
			t.Errorf("%s: the provider is asked for %s, want %s", name, got, test.want)
		}
		w.result("t-" + id)
	}
}

func (w *world) send(matches ...string) {
	w.t.Helper()
	w.sendIn(project, matches...)
}

func (w *world) sendIn(project string, matches ...string) {
	w.t.Helper()
	groups := slices.Collect(slices.Chunk(matches, bus.MatchGroup))
	if _, err := w.bus.EnqueueMatches(w.t.Context(), project, nil, groups...); err != nil {
		w.t.Fatal(err)
	}
}

// result waits for a ticket's assignment.
func (w *world) result(id string) *pb.Assignment {
	w.t.Helper()
	return w.resultIn(project, id)
}

func (w *world) resultIn(project, id string) (result *pb.Assignment) {
	w.t.Helper()
	waittest.Until(w.t, "a result of ticket "+id, func() bool {
		ticket, err := w.store.Ticket(w.t.Context(), project, id)
		if err != nil {
			w.t.Fatal(err)
		}
		result = ticket.Assignment
		return result != nil
	})
	return result
}

func (w *world) leaves(id string) {
	w.t.Helper()
	if _, err := w.store.DeleteTicket(w.t.Context(), project, id, ""); err != nil {
		w.t.Fatal(err)
	}
}

// Promise 3.
func TestAllTicketsOfAMatchGetTheServer(t *testing.T) {
	asked := make(chan *provider.Request, 1)
	s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		asked <- r
		return allocateAtOnce(n, r)
	}}
	w := start(t, s)
	w.claim("m", "a", "b")
	w.send("m")
	for _, id := range []string{"a", "b"} {
		got := w.result(id)
		if got.GetConnection() != "1.2.3.4:5" || got.GetError() != "" ||
			string(got.GetMatchProperties()) != `{"map":"dust"}` {
			t.Errorf("ticket %s got %v", id, got)
		}
	}
	r := <-asked
	if r.Hosting.Fleet != "proposal's" || r.Hosting.Region != "r" || r.Hosting.Profile != "p" ||
		string(r.Properties) != `{"map":"dust"}` || len(r.Teams) != 1 || len(r.Teams[0].Tickets) != 2 ||
		!slices.EqualFunc(r.Teams[0].Players, [][]string{{"player-a"}, {"player-b"}}, slices.Equal) {
		t.Errorf("the provider was asked for %+v", r)
	}
}

// Promise 3.
func TestMatchWhoseTicketLeftTakesNoServer(t *testing.T) {
	s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		if r.Match == "left" {
			return provider.Result{}, fmt.Errorf("a server was asked for")
		}
		return allocateAtOnce(n, r)
	}}
	w := start(t, s)
	poked := make(chan uint64, 10)
	if _, err := w.bus.OnPoke(func(_ string, p *pb.Poke) { poked <- p.GetPosition() }); err != nil {
		t.Fatal(err)
	}
	w.claim("left", "a", "b")
	w.leaves("a")
	w.send("left")
	select {
	case position := <-poked:
		if position == 0 {
			t.Error("the director did not get the position of the feed")
		}
	case <-time.After(patience):
		t.Fatal("the director was not notified that a ticket waits again")
	}
	if n, err := w.store.Waiting(t.Context(), project); err != nil || n != 1 {
		t.Errorf("%d tickets wait, %v", n, err)
	}
	if s.asked > 0 {
		t.Error("a server was asked for")
	}
}

// Promise 7.
func TestServerThatNoTicketUsesIsDeallocated(t *testing.T) {
	var w *world
	s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		w.leaves("a")
		w.leaves("b")
		return allocateAtOnce(n, r)
	}}
	w = start(t, s)
	w.claim("m", "a", "b")
	w.send("m")
	select {
	case <-s.released:
	case <-time.After(patience):
		t.Fatal("the server was not deallocated")
	}
	if len(s.held) > 0 {
		t.Error("a server is held")
	}
}

// Promise 3.
func TestTicketThatLeavesDuringTheAllocationLeavesTheOthers(t *testing.T) {
	var w *world
	s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		w.leaves("a")
		return allocateAtOnce(n, r)
	}}
	w = start(t, s)
	w.claim("m", "a", "b")
	w.send("m")
	if got := w.result("b"); got.GetConnection() != "1.2.3.4:5" {
		t.Errorf("the other got %v", got)
	}
	if _, err := w.store.Ticket(t.Context(), project, "a"); problem.KindOf(err) != problem.NotFound {
		t.Errorf("a ticket that was deleted is there again: %v", err)
	}
}

func TestServerThatTakesLong(t *testing.T) {
	for name, test := range map[string]struct {
		allocate func(n int, r *provider.Request) (provider.Result, error)
		poll     func(n int) provider.Result
		want     *pb.Assignment
	}{
		"a passing error is tried again": {
			allocate: func(n int, r *provider.Request) (provider.Result, error) {
				if n < 3 {
					return provider.Result{}, provider.Fail(provider.Contention, "busy")
				}
				return allocateAtOnce(n, r)
			},
			want: &pb.Assignment{Connection: "1.2.3.4:5"},
		},
		"a pending allocation is polled": {
			allocate: func(int, *provider.Request) (provider.Result, error) {
				return provider.Result{Status: provider.Pending}, nil
			},
			poll: func(n int) provider.Result {
				if n < 3 {
					return provider.Result{Status: provider.Pending}
				}
				return provider.Result{Status: provider.Allocated, Connection: "6.7.8.9:10"}
			},
			want: &pb.Assignment{Connection: "6.7.8.9:10"},
		},
		"an unknown allocation is asked for again": {
			allocate: func(n int, r *provider.Request) (provider.Result, error) {
				if n == 1 {
					return provider.Result{Status: provider.Pending}, nil
				}
				return allocateAtOnce(n, r)
			},
			poll: func(int) provider.Result { return provider.Result{Status: provider.Unknown} },
			want: &pb.Assignment{Connection: "1.2.3.4:5"},
		},
		"an allocation that ended is asked for again": {
			allocate: func(n int, r *provider.Request) (provider.Result, error) {
				if n == 1 {
					return provider.Result{Status: provider.Pending}, nil
				}
				return allocateAtOnce(n, r)
			},
			poll: func(int) provider.Result { return provider.Result{Status: provider.Gone} },
			want: &pb.Assignment{Connection: "1.2.3.4:5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{allocate: test.allocate, poll: test.poll}
			w := start(t, s)
			w.claim("m", "a", "b")
			w.send("m")
			for _, id := range []string{"a", "b"} {
				got := w.result(id)
				if got.GetConnection() != test.want.GetConnection() || got.GetError() != test.want.GetError() {
					t.Errorf("ticket %s got %v", id, got)
				}
			}
		})
	}
}

// Promise 7.
func TestServerOfAReleasedMatchIsDeallocated(t *testing.T) {
	s := &script{allocate: allocateAtOnce}
	w := start(t, s)
	m := w.claim("m", "a", "b")
	// An allocator that died had its lease.
	dead := state.MatchLease{Holder: "dead"} // it ends at once, and so does the claim
	if _, err := w.store.BeginAllocations(t.Context(), project, []state.Beginning{{Match: m, Lease: dead}}); err != nil {
		t.Fatal(err)
	}
	if released, _, err := w.store.ReleaseOverdueMatches(t.Context(), project, 10); err != nil || len(released) != 1 {
		t.Fatal(released, err)
	}
	select {
	case match := <-s.released:
		if match != "m" {
			t.Errorf("released %s", match)
		}
	case <-time.After(patience):
		t.Fatal("the server was not deallocated")
	}
	if n, err := w.store.Waiting(t.Context(), project); err != nil || n != 2 {
		t.Errorf("%d tickets wait, %v", n, err)
	}
}

// Promise 7.
func TestMatchThatIsDeliveredTwiceKeepsItsServer(t *testing.T) {
	var w *world
	var m *pb.Match
	s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		if r.Match == "m" { // another delivery of the match is faster
			w.ahead.Add(int64(time.Minute)) // the lease of this one has ended
			_, err := w.store.BeginAllocations(t.Context(), project, []state.Beginning{{Match: m,
				Lease: state.MatchLease{Holder: "other", Hold: time.Minute}}})
			if err != nil {
				t.Error(err)
			}
			_, err = w.store.EndMatches(t.Context(), project, []state.Ending{{Match: &pb.Match{Id: "m"},
				Tickets: []string{"a", "b"}, Results: []*pb.Assignment{{Connection: "1.2.3.4:5"}},
				Outcome: state.Outcome{Holder: "other", Readable: time.Hour, Connection: "1.2.3.4:5"}}})
			if err != nil {
				t.Error(err)
			}
		}
		return allocateAtOnce(n, r)
	}}
	w = start(t, s)
	m = w.claim("m", "a", "b")
	w.claim("next", "c", "d")
	w.send("m")
	w.result("a")
	w.send("next")
	w.result("c")
	w.settled()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held["m"] {
		t.Error("a server whose players have its connection was deallocated")
	}
}

// A waiting request gets its ticket's result with the message that wakes it.
func TestResultsAreCarried(t *testing.T) {
	w := start(t, &script{allocate: allocateAtOnce})
	heard := make(chan bus.Assigned, 10)
	sub, err := w.bus.OnResults(func(_ string, a bus.Assigned) { heard <- a })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Stop() }()
	w.claim("m", "a", "b")
	w.claim("n", "c", "d")
	w.send("m", "n")
	for seen := 0; seen < 4; {
		select {
		case a := <-heard:
			for i, id := range a.Tickets() {
				seen++
				if got, want := a.Result(i), w.result(id); !proto.Equal(got, want) {
					t.Errorf("%s hears of %v, and has %v", id, got, want)
				}
			}
		case <-time.After(patience):
			t.Fatalf("%d tickets have a result", seen)
		}
	}
}
