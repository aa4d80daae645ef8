package allocator_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/embedded"
	"matchmaker.dev/services/internal/fault"
	"matchmaker.dev/services/internal/state"
)

const (
	project  = "demo"
	patience = 30 * time.Second
)

// script is a provider that does what a test says, and keeps books.
type script struct {
	allocate func(n int, r *provider.Request) (provider.Result, error)
	poll     func(n int) provider.Result

	mu       sync.Mutex
	asked    int
	polled   int
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
	results := make([]provider.Result, len(refs))
	for i := range refs {
		results[i] = s.poll(s.polled)
	}
	return results, nil
}

func (s *script) Release(_ context.Context, r provider.Ref) error {
	s.mu.Lock()
	delete(s.held, r.Match)
	s.mu.Unlock()
	s.released <- r.Match
	return nil
}

// world is an allocator at work, on a real Redis and a real NATS.
type world struct {
	t *testing.T
	// settled stops the allocator, once it has nothing in hand.
	settled func()
	store   *state.Store
	bus     *bus.Bus
	terms   state.Terms
	rev     int64
}

func allocated(int, *provider.Request) (provider.Result, error) {
	return provider.Result{Status: provider.Allocated, Connection: "1.2.3.4:5"}, nil
}

func start(t *testing.T, s *script) *world {
	t.Helper()
	s.held, s.released = map[string]bool{}, make(chan string, 10)
	log := slog.New(slog.DiscardHandler)
	redis, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{Dir: t.TempDir(), AOF: true, Log: log})
	if err != nil || !redis.Persistent() {
		t.Fatalf("a redis-server or valkey-server is needed: install one (%v)", err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	nats, err := embedded.StartNATS(t.Context(), embedded.NATSOptions{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nats.Close() })
	w := &world{t: t}
	if w.store, err = state.Open(state.Options{URL: redis.URL(), Log: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	if w.bus, err = bus.Connect(bus.Options{URL: nats.URL(), Log: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.bus.Close(context.Background()) })
	if w.rev, _, err = w.store.PutConfig(t.Context(), project, &pb.Config{Id: "c"}, state.Any); err != nil {
		t.Fatal(err)
	}
	epoch, err := w.store.Lease(t.Context(), project, "d", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	w.terms = state.Terms{Epoch: epoch, Now: now, Deadline: now.Add(time.Hour), Expiry: now.Add(time.Hour)}

	settings := allocator.DefaultSettings()
	settings.Poll = time.Millisecond
	part := allocator.New(allocator.Options{Store: w.store, Bus: w.bus, Provider: s, Log: log, Now: time.Now, Settings: settings})
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		if err := part.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	w.settled = func() { stop(); working.Wait() }
	t.Cleanup(w.settled)
	if err := w.bus.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// claim creates tickets and claims them for a match that needs a server.
func (w *world) claim(match string, tickets ...string) *pb.Match {
	w.t.Helper()
	create := w.store.Creator(time.Now, nil)
	for _, id := range tickets {
		if err := create.Create(w.t.Context(), project, &pb.Ticket{Id: id, Created: time.Now().UnixMilli()}); err != nil {
			w.t.Fatal(err)
		}
	}
	c := &state.Claim{
		Match: &pb.Match{
			Id: match, Config: "c", Revision: w.rev, Hosting: &pb.Hosting{Fleet: "config's", Profile: "p"},
			Proposal: &pb.Proposal{
				Teams:           []*pb.Team{{Name: "all", Tickets: tickets}},
				MatchProperties: []byte(`{"map":"dust"}`),
				Hosting:         &pb.HostingOverride{Fleet: "proposal's", Region: "r"},
			},
		},
		Tickets: tickets,
	}
	if _, err := w.store.Claim(w.t.Context(), project, w.terms, []*state.Claim{c}); err != nil || c.Refused != "" {
		w.t.Fatal(c.Refused, err)
	}
	return c.Match
}

func (w *world) send(matches ...string) {
	w.t.Helper()
	if _, err := w.bus.Send(w.t.Context(), project, matches); err != nil {
		w.t.Fatal(err)
	}
}

// result waits for a ticket's assignment.
func (w *world) result(id string) *pb.Assignment {
	w.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		ticket, err := w.store.Ticket(w.t.Context(), project, id)
		if err != nil {
			w.t.Fatal(err)
		}
		if ticket.Assignment != nil {
			return ticket.Assignment
		}
	}
	w.t.Fatalf("ticket %s has no result", id)
	return nil
}

func (w *world) leaves(id string) {
	w.t.Helper()
	if _, err := w.store.DeleteTicket(w.t.Context(), project, id, "", w.terms.Now); err != nil {
		w.t.Fatal(err)
	}
}

func TestAllTicketsOfAMatchGetTheServer(t *testing.T) {
	asked := make(chan *provider.Request, 1)
	s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		asked <- r
		return allocated(n, r)
	}}
	w := start(t, s)
	w.claim("m", "a", "b")
	w.send("m")
	for _, id := range []string{"a", "b"} {
		got := w.result(id)
		if got.GetConnection() != "1.2.3.4:5" || got.GetError() != "" || string(got.GetMatchProperties()) != `{"map":"dust"}` {
			t.Errorf("ticket %s got %v", id, got)
		}
	}
	r := <-asked
	if r.Hosting.Fleet != "proposal's" || r.Hosting.Region != "r" || r.Hosting.Profile != "p" || len(r.Tickets()) != 2 || string(r.Properties) != `{"map":"dust"}` {
		t.Errorf("the provider was asked for %+v", r)
	}
}

func TestMatchWhoseTicketLeftTakesNoServer(t *testing.T) {
	s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		if r.Match == "left" {
			return provider.Result{}, fmt.Errorf("a server was asked for")
		}
		return allocated(n, r)
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
			t.Error("the director was not told where the feed stands")
		}
	case <-time.After(patience):
		t.Fatal("the director was not told that a ticket waits again")
	}
	if n, err := w.store.Waiting(t.Context(), project); err != nil || n != 1 {
		t.Errorf("%d tickets wait, %v", n, err)
	}
	if s.asked > 0 {
		t.Error("a server was asked for")
	}
}

func TestServerThatNobodyIsLeftForIsGivenBack(t *testing.T) {
	var w *world
	s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		w.leaves("a")
		w.leaves("b")
		return allocated(n, r)
	}}
	w = start(t, s)
	w.claim("m", "a", "b")
	w.send("m")
	select {
	case <-s.released:
	case <-time.After(patience):
		t.Fatal("the server was not given back")
	}
	if len(s.held) > 0 {
		t.Error("a server is held")
	}
}

func TestPlayerWhoLeavesDuringTheAllocationLeavesAlone(t *testing.T) {
	var w *world
	s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		w.leaves("a")
		return allocated(n, r)
	}}
	w = start(t, s)
	w.claim("m", "a", "b")
	w.send("m")
	if got := w.result("b"); got.GetConnection() != "1.2.3.4:5" {
		t.Errorf("the other got %v", got)
	}
	if _, err := w.store.Ticket(t.Context(), project, "a"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a ticket that was deleted is there again: %v", err)
	}
}

func TestProvidersFailure(t *testing.T) {
	for name, test := range map[string]struct {
		allocate func(n int, r *provider.Request) (provider.Result, error)
		poll     func(n int) provider.Result
		want     *pb.Assignment
	}{
		"a final error is the tickets' error": {
			allocate: func(int, *provider.Request) (provider.Result, error) {
				return provider.Result{}, provider.Fail(provider.Refused, "no such fleet")
			},
			want: &pb.Assignment{Error: "AllocationError"},
		},
		"a failed allocation is the tickets' error": {
			allocate: func(int, *provider.Request) (provider.Result, error) {
				return provider.Result{Status: provider.Failed, Err: provider.Fail(provider.MaximumZero, "none allowed")}, nil
			},
			want: &pb.Assignment{Error: "AllocationError"},
		},
		"a passing error is tried again": {
			allocate: func(n int, r *provider.Request) (provider.Result, error) {
				if n < 3 {
					return provider.Result{}, provider.Fail(provider.Contention, "busy")
				}
				return allocated(n, r)
			},
			want: &pb.Assignment{Connection: "1.2.3.4:5"},
		},
		"a pending allocation is asked after": {
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
		"an allocation that nobody knows is asked for again": {
			allocate: func(n int, r *provider.Request) (provider.Result, error) {
				if n == 1 {
					return provider.Result{Status: provider.Pending}, nil
				}
				return allocated(n, r)
			},
			poll: func(int) provider.Result { return provider.Result{Status: provider.Unknown} },
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

func TestReleasedMatchGivesItsServerBack(t *testing.T) {
	s := &script{allocate: allocated}
	w := start(t, s)
	w.claim("m", "a", "b")
	if released, _, err := w.store.Release(t.Context(), project, w.terms.Deadline, 10); err != nil || len(released) != 1 {
		t.Fatal(released, err)
	}
	w.send("m") // an allocator that died had it in hand
	select {
	case match := <-s.released:
		if match != "m" {
			t.Errorf("released %s", match)
		}
	case <-time.After(patience):
		t.Fatal("the server was not given back")
	}
	if n, err := w.store.Waiting(t.Context(), project); err != nil || n != 2 {
		t.Errorf("%d tickets wait, %v", n, err)
	}
}

func TestMatchThatIsHandedOutTwiceKeepsItsServer(t *testing.T) {
	var w *world
	s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
		if r.Match == "m" { // another delivery of the match is faster
			_, _, err := w.store.Assign(t.Context(), project, &pb.Match{Id: "m"}, state.Ending{Expiry: w.terms.Expiry}, map[string]*pb.Assignment{
				"a": {Connection: "1.2.3.4:5"}, "b": {Connection: "1.2.3.4:5"},
			})
			if err != nil {
				t.Error(err)
			}
		}
		return allocated(n, r)
	}}
	w = start(t, s)
	w.claim("m", "a", "b")
	w.claim("next", "c", "d")
	w.send("m")
	w.result("a")
	w.send("next")
	w.result("c")
	w.settled()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held["m"] {
		t.Error("the server of players who are on their way to it was given back")
	}
}
