package runner_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/runner"
)

// patience is how long a test waits for what must happen, on a loaded machine.
const patience = 2 * time.Minute

// endless is how long a run may take that is to hang until its test ends.
const endless = 10 * time.Minute

// project is the only project of most tests.
const project = "demo"

// world is a Redis, a NATS and what the other services do.
type world struct {
	testPrograms
	t     testing.TB
	redis string // URL, as nats
	nats  string
	store *state.Store
	bus   *bus.Bus
	// created is the position of the feed after the last ticket.
	created uint64
	// trace is the reference to a span that tickets are created with.
	trace   []byte
	tickets *state.Creator
	config  string // of runs that name none

	mu       sync.Mutex
	statuses map[string]*pb.RunnerStatus
	changed  chan struct{} // closed with the next heartbeat
	count    int           // of tickets
	runs     atomic.Int64  // so far
}

// newWorld makes a world. Tests with one run side by side: they wait more than they work.
func newWorld(t testing.TB) *world {
	t.Helper()
	if t, ok := t.(*testing.T); ok {
		t.Parallel()
	}
	w := &world{t: t, statuses: map[string]*pb.RunnerStatus{}, changed: make(chan struct{})}
	var err error
	w.testPrograms, err = programs()
	w.must(err)
	w.redis, w.nats = embeddedtest.Redis(t), embeddedtest.NATS(t)
	w.store, err = state.Open(state.Options{Server: state.Server{URL: w.redis}, Log: discard()})
	w.must(err)
	t.Cleanup(func() { _ = w.store.Close() })
	w.bus = w.connect("test")
	embeddedtest.Prepare(t, w.bus)
	w.tickets = w.store.Creator(func(_ context.Context, _ string, position uint64, _ ...string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.created = max(w.created, position)
	})
	_, err = w.bus.OnHeartbeat(w.onHeartbeat)
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) connect(name string) *bus.Bus {
	w.t.Helper()
	b, err := bus.Connect(w.t.Context(), bus.Options{Server: bus.Server{URL: w.nats}, Name: name, Log: discard()})
	w.must(err)
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), time.Second)
		defer cancel()
		_ = b.Close(ctx)
	})
	return b
}

// startRunner starts a runner in this process; stop stops it and waits for its end.
func (w *world) startRunner(name string, s runner.Settings, change ...func(*runner.Options)) (r *runner.Runner,
	stop func()) {
	w.t.Helper()
	b := w.connect(name)
	o := runner.Options{
		Store: w.store, Bus: b, Engine: runner.Processes(w.box), Name: name,
		Log: slog.New(slog.NewTextHandler(w.t.Output(), nil)), Now: time.Now, Settings: s,
	}
	for _, f := range change {
		f(&o)
	}
	r, err := runner.New(o)
	w.must(err)
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() {
		err := b.Prepare(ctx)
		if err == nil {
			err = r.Run(ctx)
		}
		ended <- err
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				w.t.Errorf("runner %s: %v", name, err)
			}
		case <-time.After(patience):
			w.t.Errorf("runner %s does not end", name)
		}
	})
	w.t.Cleanup(stop)
	return r, stop
}

// put makes a module the next version of a function.
func (w *world) put(project, function string, module []byte) {
	w.t.Helper()
	sum := sha256.Sum256(module)
	w.putAs(project, function, hex.EncodeToString(sum[:])+".wasm", module)
}

func (w *world) putAs(project, function, name string, module []byte) {
	w.t.Helper()
	w.must(w.bus.PutModule(w.t.Context(), name, module))
	w.setModule(project, function, name)
}

// setModule makes the module of a name, which may not be stored, the next version of a function.
func (w *world) setModule(project, function, name string) {
	w.t.Helper()
	w.must(w.store.NoteModule(w.t.Context(), project, name))
	w.must(w.store.ChangeFunction(w.t.Context(), project, function, func(f *pb.Function) (*pb.Function, error) {
		return &pb.Function{Name: function, Module: name, Generation: f.GetGeneration() + 1}, nil
	}))
	w.bus.Poke(w.t.Context(), project, &pb.Poke{Functions: true})
}

// deleteFunction deletes a function.
func (w *world) deleteFunction(project, function string) {
	w.t.Helper()
	w.must(w.store.ChangeFunction(w.t.Context(), project, function,
		func(*pb.Function) (*pb.Function, error) { return nil, nil }))
	w.bus.Poke(w.t.Context(), project, &pb.Poke{Functions: true})
}

// ticket creates a ticket, each a millisecond after the one before.
func (w *world) ticket(skill float64, properties map[string][]byte) string {
	w.t.Helper()
	w.count++
	t := &pb.Ticket{
		Id: fmt.Sprintf("ticket-%d", w.count), Owner: fmt.Sprint("owner-", w.count),
		Created:        int64(1_700_000_000_000 + w.count),
		AttributeNames: []string{"skill"}, AttributeValues: []float64{skill}, Properties: properties, Trace: w.trace,
	}
	w.must(w.tickets.Create(w.t.Context(), project, t))
	return t.GetId()
}

// position is the position of the feed with all tickets.
func (w *world) position() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.created
}

// answer is all parts of a run's answer.
type answer struct {
	proposals []*pb.Proposal
	error     string
	stats     *pb.RunStats
	parts     int
	upload    int64
	position  uint64
}

// invoke does a run over all tickets and returns its complete answer; do is the guest's setting.
func (w *world) invoke(function, do string) answer {
	w.t.Helper()
	return w.awaitAnswer(w.startRun(&pb.RunRequest{
		Project: project, Function: function, Position: w.position(), Budget: 60_000,
		Settings: fmt.Appendf(nil, `{"do":%q}`, do),
	}))
}

// itsOwnError is the error of a run of a cycle that its function failed: the function's words are in its log.
const itsOwnError = "the function returned an error: its log says which"

// startRun sends a run, with defaults for what the test leaves out.
func (w *world) startRun(r *pb.RunRequest) <-chan *pb.RunPart {
	w.t.Helper()
	r.Run = fmt.Sprint("run-", w.runs.Add(1))
	r.Now = 1_700_000_100_000
	r.Config = cmp.Or(r.Config, w.config)
	if r.Pools == nil {
		r.Pools = map[string]*pb.Pool{"all": {}}
	}
	parts := make(chan *pb.RunPart, 1000)
	run, err := w.bus.StartRun(w.t.Context(), r, func(p bus.Part) {
		if p.GetRunner() == "" { // else it says that the run was taken
			parts <- p.RunPart
		}
	})
	w.must(err)
	w.t.Cleanup(run.Stop)
	return parts
}

// awaitAnswer collects the answer of a run.
func (w *world) awaitAnswer(parts <-chan *pb.RunPart) answer {
	w.t.Helper()
	var a answer
	deadline := time.After(patience)
	for {
		select {
		case p := <-parts:
			a.parts++
			a.proposals = append(a.proposals, p.GetProposals()...)
			if p.GetLast() {
				a.error, a.stats, a.upload, a.position = p.GetError(), p.GetStats(), p.GetUpload(), p.GetPosition()
				return a
			}
		case <-deadline:
			w.t.Fatal("the run was not answered")
		}
	}
}

// invokeOK is invoke for a run that must succeed with a number of proposals.
func (w *world) invokeOK(function, do string, proposals int) answer {
	w.t.Helper()
	position := w.position()
	a := w.invoke(function, do)
	if a.error == "" && a.position < position {
		w.t.Fatalf("%s of %s saw the feed up to %d, not up to %d", do, function, a.position, position)
	}
	if a.error != "" || len(a.proposals) != proposals {
		w.t.Fatalf("%s of %s: %d proposals, error %q, want %d", do, function, len(a.proposals), a.error, proposals)
	}
	return a
}

// generateLoad keeps a number of runs in flight that take a while each, until calm is called.
func (w *world) generateLoad(function string, n int) (calm func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var runs sync.WaitGroup
	for range n {
		runs.Go(func() {
			for ctx.Err() == nil {
				w.awaitAnswer(w.startRun(&pb.RunRequest{
					Project: project, Function: function, Position: w.position(), Budget: 60_000, Settings: []byte(`{"do":"work"}`),
				}))
			}
		})
	}
	return func() {
		cancel()
		runs.Wait()
	}
}

func (w *world) onHeartbeat(s *pb.RunnerStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.statuses[s.GetRunner()] = s
	close(w.changed)
	w.changed = make(chan struct{})
}

// waitUntil waits for heartbeats that fit, and returns all instances of the last heartbeats.
func (w *world) waitUntil(what string, fit func(all []*pb.InstanceStatus) bool) []*pb.InstanceStatus {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		w.mu.Lock()
		var all []*pb.InstanceStatus
		for _, s := range w.statuses {
			all = append(all, s.GetInstances()...)
		}
		changed := w.changed
		w.mu.Unlock()
		if fit(all) {
			return all
		}
		select {
		case <-changed:
		case <-deadline:
			w.t.Fatalf("waited in vain for %s; the instances are %v", what, all)
		}
	}
}

// waitServing waits until all instances of a function run and are of a generation.
func (w *world) waitServing(function string, generation int64) {
	w.t.Helper()
	w.waitUntil(fmt.Sprintf("%s to run generation %d", function, generation), func(all []*pb.InstanceStatus) bool {
		n := 0
		for _, i := range all {
			if i.GetFunction() != function {
				continue
			}
			if i.GetState() != "Running" || i.GetGeneration() != generation {
				return false
			}
			n++
		}
		return n > 0
	})
}

// waitLeft waits for the last heartbeat of a runner that was stopped, which can come after its end.
func (w *world) waitLeft(name string) {
	w.t.Helper()
	w.waitUntil(name+" to leave", func([]*pb.InstanceStatus) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.statuses[name].GetLeaving()
	})
}

// waitReplaced waits until a function has an instance that runs, and none of a name.
func (w *world) waitReplaced(function, name string) {
	w.t.Helper()
	w.waitUntil(name+" to be replaced", func(all []*pb.InstanceStatus) bool {
		good := false
		for _, i := range all {
			if i.GetFunction() != function {
				continue
			}
			if i.GetName() == name {
				return false
			}
			good = good || i.GetState() == "Running"
		}
		return good
	})
}

// waitLogged waits until the log of a function has a text, and returns all of it.
func (w *world) waitLogged(function, text string) string {
	w.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		var all strings.Builder
		_, err := w.bus.ReadLog(w.t.Context(), project, function, bus.LogStart{}, func(l *pb.LogLines) bool {
			fmt.Fprintf(&all, "%s: %s", l.GetInstance(), l.GetText())
			return true
		})
		w.must(err)
		if strings.Contains(all.String(), text) {
			return all.String()
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("the log has no %q: %s", text, all.String())
		}
	}
}

// createTickets creates many tickets, with a normal distribution of skills.
func (w *world) createTickets(n int) {
	w.t.Helper()
	next := make(chan *pb.Ticket)
	failed := make(chan error, 1)
	var writers sync.WaitGroup
	for range 256 {
		writers.Go(func() {
			for t := range next {
				if err := w.tickets.Create(w.t.Context(), project, t); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range n {
		w.count++
		next <- &pb.Ticket{
			Id: fmt.Sprintf("9b2c4f60-7d1e-4a53-8c0f-%012d", w.count), Owner: fmt.Sprint("owner-", w.count),
			Created:         int64(1_700_000_000_000 + w.count),
			AttributeNames:  []string{"skill", "level", "latency", "region"},
			AttributeValues: []float64{1500 + 300*random.NormFloat64(), float64(w.count % 50), 40, float64(w.count % 4)},
		}
	}
	close(next)
	writers.Wait()
	select {
	case err := <-failed:
		w.t.Fatal(err)
	default:
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
