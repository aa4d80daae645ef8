package director_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/observe/telemetry/telemetrytest"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest/proxy"
	"matchmaker.dev/services/internal/platform/process/processtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

const (
	project  = "demo"
	patience = 2 * time.Minute
	short    = 100 * time.Millisecond
)

var discard = slog.New(slog.DiscardHandler)

// world is a real Redis and a real NATS, with directors and runners on them. A runner here follows the real feed,
// and a Go function takes the place of the match function.
type world struct {
	testing.TB
	redisURL, natsURL string

	store *state.Store
	bus   *bus.Bus
	log   *processtest.Buffer // of all directors
	n     int
}

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

func newWorld(t testing.TB) *world {
	t.Helper()
	return worldOn(t, embeddedtest.Redis(t), embeddedtest.NATS(t))
}

func worldOn(t testing.TB, redisURL, natsURL string) *world {
	t.Helper()
	w := &world{TB: t, log: new(processtest.Buffer), redisURL: redisURL, natsURL: natsURL}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.log.String())
		}
	})
	w.store, w.bus = w.connect()
	embeddedtest.Prepare(t, w.bus)
	return w
}

// servers are a Redis and a NATS of a world's own, which can be stopped and started.
type servers struct {
	testing.TB
	redis             *embedded.Redis
	nats              *embedded.NATS
	redisDir, natsDir string
	// The world reaches them through proxies, because they may be on other ports when they are started again.
	redisAt, natsAt atomic.Pointer[string]
}

func newOwnWorld(t testing.TB) (*world, *servers) {
	t.Helper()
	s := &servers{TB: t, redisDir: filepath.Join(t.TempDir(), "redis"), natsDir: filepath.Join(t.TempDir(), "nats")}
	s.startRedis()
	t.Cleanup(func() { _ = s.redis.Close() })
	s.startNATS()
	t.Cleanup(func() { _ = s.nats.Close() })
	return worldOn(t, embeddedtest.Patient("redis://"+s.link(&s.redisAt)), "nats://"+s.link(&s.natsAt)), s
}

// link is the address of a proxy to the present address of a server.
func (s *servers) link(at *atomic.Pointer[string]) string {
	s.Helper()
	l, err := proxy.Listen(s.Context(), func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", *at.Load())
	})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = l.Close() })
	return l.Address()
}

func (s *servers) startRedis() {
	s.Helper()
	redis, err := embedded.StartRedis(s.Context(), embedded.RedisOptions{Dir: s.redisDir, AOF: true, Log: discard})
	if err != nil || !redis.Persistent() {
		s.Fatalf("a redis-server or valkey-server is needed: install one (%v)", err)
	}
	s.redis = redis
	at := s.redis.Addr()
	s.redisAt.Store(&at)
}

func (s *servers) stopRedis() {
	s.Helper()
	if err := s.redis.Close(); err != nil {
		s.Fatal(err)
	}
}

func (s *servers) startNATS() {
	s.Helper()
	nats, err := embedded.StartNATS(s.Context(), embedded.NATSOptions{Dir: s.natsDir, Log: discard})
	if err != nil {
		s.Fatal(err)
	}
	s.nats = nats
	at := strings.TrimPrefix(s.nats.URL(), "nats://")
	s.natsAt.Store(&at)
}

func (s *servers) stopNATS() {
	s.Helper()
	if err := s.nats.Close(); err != nil {
		s.Fatal(err)
	}
}

// logger writes into the log of all directors.
func (w *world) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w.log, nil)) }

// connect makes the connections of one process.
func (w *world) connect() (*state.Store, *bus.Bus) {
	w.Helper()
	store, err := state.Open(state.Options{Server: state.Server{URL: w.redisURL}, Log: discard, History: 100_000})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = store.Close() })
	b, err := bus.Connect(w.Context(), bus.Options{Server: bus.Server{URL: w.natsURL}, Log: w.logger()})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = b.Close(context.Background()) })
	return store, b
}

// says reports whether a director logged a text.
func (w *world) says(text string) bool { return strings.Contains(w.log.String(), text) }

// times are short, so that tests are.
func times() director.Settings {
	t := settings.Default[director.Settings]()
	t.MaxInterval, t.Lease, t.BackfillFirst = 200*time.Millisecond, time.Second, false
	return t
}

// director runs a replica until stop.
func (w *world) director(name string, t director.Settings, changes ...func(*director.Options)) (stop func()) {
	w.Helper()
	store, b := w.connect()
	meter, _ := telemetrytest.New() // instruments that record may panic
	options := director.Options{
		Store: store, Bus: b, Log: w.logger(), Now: time.Now, Name: name, Settings: t, Readable: 10 * time.Minute,
		Meter:  meter,
		Events: true, Timing: director.Timing{Look: short, Save: short, Silence: short, Forget: short},
	}
	for _, change := range changes {
		change(&options)
	}
	return w.run(director.New(options))
}

// steady is a director that loses no lease, no runner and no run, however long the machine stands still: for tests that
// nothing may begin anew.
func steady(o *director.Options) {
	o.Settings.Lease, o.Settings.Run, o.Timing.Silence = time.Hour, time.Hour, time.Hour
}

// unhurried is a steady director for which a machine that stands still for seconds does so for a moment: no run is
// taken too late.
func unhurried(o *director.Options) {
	steady(o)
	began := time.Now()
	o.Now = func() time.Time { return began.Add(time.Since(began) / 40) }
	o.Settings.MinInterval, o.Timing.Look = o.Settings.MinInterval/40, o.Timing.Look/40
}

// usual leaves the times of a director as they are.
func usual(o *director.Options) { o.Timing = director.Timing{} }

// run runs a part until stop.
func (w *world) run(part app.Part) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := part.Run(ctx); err != nil {
			w.Error(err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	w.Cleanup(stop)
	return stop
}

// put stores a config of a function of the same name, and pokes.
func (w *world) put(project, id string, c *pb.Config) int64 {
	w.Helper()
	if c == nil {
		c = new(pb.Config)
	}
	c.Id = id
	if c.Function == "" {
		c.Function = id
	}
	revision, _, err := w.store.PutConfig(w.Context(), project, c, state.AnyRevision)
	if err != nil {
		w.Fatal(err)
	}
	w.poke(project, &pb.Poke{Configs: true})
	return revision
}

func (w *world) poke(project string, p *pb.Poke) {
	w.Helper()
	w.bus.Poke(w.Context(), project, p)
}

// next is the id of the next ticket.
func (w *world) next() string {
	w.n++
	return fmt.Sprintf("ticket-%05d", w.n)
}

// create creates tickets, as the Tickets API does, and returns their ids.
func (w *world) create(n int) []string {
	w.Helper()
	creator := w.store.Creator(w.bus.PokeTickets)
	var ids []string
	for range n {
		id := w.next()
		t := &pb.Ticket{Id: id, Owner: "player-" + id, Created: time.Now().UnixMilli()}
		if err := creator.Create(w.Context(), project, t); err != nil {
			w.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// results waits until all of these tickets have a result, and returns them.
func (w *world) results(ids ...string) map[string]*pb.Assignment {
	w.Helper()
	got := map[string]*pb.Assignment{}
	w.until("all tickets have a result", func() bool {
		for _, id := range ids {
			if got[id] != nil {
				continue
			}
			t, err := w.store.Ticket(w.Context(), project, id)
			if err != nil {
				w.Fatal(err)
			}
			if t.Assignment == nil {
				return false
			}
			got[id] = t.Assignment
		}
		return true
	})
	return got
}

// untaken is what the director logs of a run that no runner took in time, because the machine is slow. It is asked for
// again, and the runner may execute it all the same.
const untaken = "no runner took the run in time"

// until waits until a condition holds.
func (w *world) until(what string, ok func() bool) {
	w.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-deadline.C:
			w.Fatalf("it did not happen in time: %s", what)
		}
	}
}

// index is the waiting tickets, as a runner sees them.
type index struct {
	mu       sync.Mutex
	waiting  map[string]int64 // creation times
	complete bool
	position uint64
	moved    chan struct{} // closed by the next move
}

func newIndex() *index { return &index{moved: make(chan struct{})} }

func (x *index) move(complete bool, position uint64) {
	x.complete, x.position = complete, position
	close(x.moved)
	x.moved = make(chan struct{})
}

func (x *index) Reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting = map[string]int64{}
	x.move(false, 0)
}

func (x *index) Apply(changes []state.Change, position uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range changes {
		switch body := new(pb.Ticket); {
		case c.Ticket == "": // of a backfill ticket
		case c.Body == "":
			delete(x.waiting, c.Ticket)
		case proto.Unmarshal([]byte(c.Body), body) == nil:
			x.waiting[c.Ticket] = body.GetCreated()
		}
	}
	if len(changes) == 0 || position > 0 {
		x.move(true, position)
	}
}

// at waits for a position, and returns the tickets then, the oldest first. It returns none if ctx ends before.
func (x *index) at(ctx context.Context, position uint64) []string {
	for {
		x.mu.Lock()
		if x.complete && x.position >= position {
			defer x.mu.Unlock()
			return slices.SortedFunc(maps.Keys(x.waiting), func(a, b string) int {
				return cmp.Or(cmp.Compare(x.waiting[a], x.waiting[b]), cmp.Compare(a, b))
			})
		}
		moved := x.moved
		x.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return nil
		}
	}
}

// function is a match function. It gets the waiting tickets, and sends parts of its answer. Its error ends the run.
type function func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error

// runner runs functions by their names until stop, and sends heartbeats.
func (w *world) runner(name string, functions map[string]function) (stop func()) {
	w.Helper()
	return w.living(w.Context(), name, functions)
}

// serve has runs of a function answered by the runner "r".
func (w *world) serve(function string, run func(context.Context, *pb.RunRequest, bus.SendPart)) {
	w.Helper()
	sub, err := w.bus.ServeRuns("r", project, function, run)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { sub.Stop() })
}

// living is a runner that sends heartbeats until life ends.
func (w *world) living(life context.Context, name string, functions map[string]function) (stop func()) {
	w.Helper()
	w.lives(life, name)
	store, b := w.connect()
	x := newIndex()
	ctx, cancel := context.WithCancel(w.Context())
	var running sync.WaitGroup
	running.Go(func() { store.Follow(ctx, project, x, nil) })
	for id, f := range functions {
		sub, err := b.ServeRuns(name, project, id, func(_ context.Context, r *pb.RunRequest, answer bus.SendPart) {
			running.Go(func() {
				last := &pb.RunPart{Last: true, Position: r.GetPosition()}
				part := func(p ...*pb.Proposal) { _ = answer(&pb.RunPart{Proposals: p}) }
				if err := f(r, x.at(ctx, r.GetPosition()), part); err != nil {
					last.Error = err.Error()
				}
				_ = answer(last)
			})
		})
		if err != nil {
			w.Fatal(err)
		}
		w.Cleanup(func() { sub.Stop() })
	}
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	w.Cleanup(stop)
	return stop
}

// lives sends the heartbeats of a runner until ctx ends.
func (w *world) lives(ctx context.Context, name string) {
	ticker := time.NewTicker(100 * time.Millisecond)
	var beating sync.WaitGroup
	beating.Go(func() {
		defer ticker.Stop()
		for {
			_ = w.bus.Heartbeat(ctx, &pb.RunnerStatus{Runner: name})
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
	w.Cleanup(beating.Wait)
}

// of is a proposal of one team.
func of(connection string, tickets ...string) *pb.Proposal {
	return &pb.Proposal{Teams: []*pb.Team{{Tickets: tickets}}, Connection: connection}
}

// pairs proposes a match of every two tickets.
func pairs(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
	for pair := range slices.Chunk(tickets, 2) {
		if len(pair) == 2 {
			part(of(r.GetConfig(), pair...))
		}
	}
	return nil
}
