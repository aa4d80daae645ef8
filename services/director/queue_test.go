package director_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// A ticket wakes the configs of its queues. The others run when time passes, or when something happens to them.
func TestTicketsWakeTheConfigsOfTheirQueues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var busy, other atomic.Int32
	count := func(runs *atomic.Int32) function {
		return func(*pb.RunRequest, []string, func(...*pb.Proposal)) error {
			runs.Add(1)
			return nil
		}
	}
	w.runner("r", map[string]function{"busy": count(&busy), "other": count(&other)})
	w.create(1)
	w.put(project, "busy", &pb.Config{Queue: "busy"})
	w.put(project, "other", &pb.Config{Queue: "other"})
	patient := times()
	patient.MaxInterval = time.Hour
	w.director("a", patient)
	create := func(queues ...string) {
		t.Helper()
		one := &pb.Ticket{Id: w.next(), Owner: "ada", Created: time.Now().UnixMilli(), Queues: queues}
		if err := w.store.Creator(w.bus.PokeTickets).Create(t.Context(), project, one); err != nil {
			t.Fatal(err)
		}
	}
	w.until("the tickets of one queue wake its config alone", func() bool {
		ran := other.Load()
		for range 5 {
			before := busy.Load()
			create("busy")
			w.until("it runs", func() bool { return busy.Load() > before })
		}
		return other.Load() == ran
	})
	alone := func() {
		creator := w.store.Creator(func(ctx context.Context, project string, position uint64, _ ...string) {
			w.bus.Poke(ctx, project, &pb.Poke{Position: position})
		})
		if err := creator.Create(t.Context(), project, &pb.Ticket{Id: w.next(), Owner: "ada", Created: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for name, wake := range map[string]func(){
		"a ticket of both queues":              func() { create("busy", "other") },
		"a poke of a service of before":        alone,
		"tickets of more queues than are told": func() { create(many("other", 20)...) },
	} {
		ran := other.Load()
		wake()
		w.until(name+" wakes the other config", func() bool { return other.Load() > ran })
	}
}

// many are so many queues.
func many(first string, n int) []string {
	queues := []string{first}
	for len(queues) < n {
		queues = append(queues, "queue-"+string(rune('a'+len(queues))))
	}
	return queues
}

// Proposals wait for runs of other queues only where tickets are in several: else none of those can be better.
func TestProposalsWaitForTheirRivals(t *testing.T) {
	t.Parallel()
	for name, crossing := range map[string]int64{"own": 0, "shared": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.lives(t.Context(), "r")
			ids := w.create(2)
			better, slow := of("better", ids...), make(chan bus.SendPart, 100)
			better.Score = 1
			first := func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
				theirs := <-slow // the other run is under way
				_ = answer(&pb.RunPart{Last: true, Proposals: []*pb.Proposal{of("own", ids...)},
					Stats: &pb.RunStats{Crossing: crossing}})
				if crossing > 0 {
					_ = theirs(&pb.RunPart{Last: true, Proposals: []*pb.Proposal{better},
						Stats: &pb.RunStats{Crossing: crossing}})
				}
			}
			second := func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) { slow <- answer }
			w.serve("first", first)
			w.serve("second", second)
			for _, function := range []string{"first", "second"} {
				w.put(project, function, &pb.Config{Queue: function})
			}
			patient := times()
			patient.Window, patient.Cores = time.Hour, 0 // no config is fruitless
			w.director("a", patient, unhurried)
			want := map[int64]string{0: "own", 2: "better"}[crossing]
			for _, a := range w.results(ids...) {
				if a.GetConnection() != want {
					t.Errorf("the result is %q, want %q", a.GetConnection(), want)
				}
			}
		})
	}
}

// A change that a run saw starts no other run, whenever its poke comes; what is beside the feed always does.
func TestPokesOfWhatARunSawStartNoRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lives(t.Context(), "r")
	const saw = 50
	seen := uint64(saw)
	for range 2 * saw { // the feed goes further than all pokes
		one := &pb.Ticket{Id: w.next(), Owner: "ada", Created: 1}
		if err := w.store.Creator(nil).Create(t.Context(), project, one); err != nil {
			t.Fatal(err)
		}
	}
	var at atomic.Uint64 // beyond what any run of the other config saw
	at.Store(saw)
	runs, fences := make(chan bus.SendPart, 100), make(chan struct{}, 100)
	w.serve("c", func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) { runs <- answer })
	w.serve("fence", func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
		_ = answer(&pb.RunPart{Last: true})
		fences <- struct{}{}
	})
	for _, function := range []string{"c", "fence"} {
		w.put(project, function, &pb.Config{Queue: function})
	}
	patient := times()
	patient.MaxInterval, patient.Cores = time.Hour, 0
	w.director("a", patient, unhurried)
	poke := func(position uint64) { w.poke(project, &pb.Poke{Position: position, Queues: []string{"c"}}) }
	run := func(what string) (end func()) {
		t.Helper()
		select {
		case answer := <-runs:
			_ = answer(&pb.RunPart{Runner: "r"})
			return func() { _ = answer(&pb.RunPart{Last: true, Position: seen}) }
		case <-time.After(patience):
			t.Fatal("no run starts:", what)
		}
		return nil
	}
	settled := func(what string) { // what was poked before is dealt with
		t.Helper()
		for range 3 {
			w.poke(project, &pb.Poke{Position: at.Add(1), Queues: []string{"fence"}})
			select {
			case <-fences:
			case <-time.After(patience):
				t.Fatal("the other config does not run")
			}
		}
		if len(runs) > 0 {
			t.Fatal("another run starts:", what)
		}
	}
	<-fences
	end := run("the first one")
	poke(saw)
	settled("during the run")
	end()
	settled("the run saw it")
	poke(saw)
	settled("after the run")
	poke(saw + 1)
	end = run("a change that the last one did not see")
	for what, p := range map[string]*pb.Poke{"anything": {}, "an answer": {Answered: true, Position: 1},
		"servers": {Servers: true, Position: 1}} {
		w.poke(project, p)
		settled("before the run ended")
		end()
		end = run(what)
		for len(fences) > 0 { // a poke of all queues
			<-fences
		}
	}
	losses := func() int { return strings.Count(w.log.String(), "the state store lost changes") }
	seen = 1 << 40 // before Redis lost changes
	before := -1
	for noticed := 0; noticed != before; noticed = losses() { // it may be noticed before the run begins
		end()
		seen, before = 2*seen, losses()
		poke(seen)
		end = run("a position that Redis does not have any more")
	}
	w.until("the director notices", func() bool { return losses() > before })
	end()
	run("the feed is read from a lower position")()
}
