package state_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

// disturbed is a connection that calls before, if it is set, ahead of everything that is sent.
type disturbed struct {
	net.Conn
	before *atomic.Pointer[func()]
	// most is the size of the largest reply.
	most *atomic.Int64
	read int64
}

func (d *disturbed) Write(b []byte) (int, error) {
	if before := d.before.Load(); before != nil {
		(*before)()
	}
	d.read = 0
	return d.Conn.Write(b)
}

func (d *disturbed) Read(b []byte) (int, error) {
	n, err := d.Conn.Read(b)
	d.read += int64(n)
	d.most.Store(max(d.most.Load(), d.read)) // only the reader's goroutine reads
	return n, err
}

// scene is a Redis with a store that changes it, and a store whose reader is disturbed. A snapshot of the reader has
// many steps.
type scene struct {
	writer, reader *state.Store
	before         atomic.Pointer[func()]
	most           atomic.Int64
}

func newScene(t *testing.T, o state.Options, step int64) *scene {
	t.Helper()
	port := embeddedtest.FreePort(t)
	startRedis(t, "--port", port, "--zset-max-listpack-entries", "0") // sets of few members are scanned in steps too
	s := &scene{}
	o.Server.URL = "redis://127.0.0.1:" + port
	s.writer = openStore(t, o)
	waittest.Until(t, "the server answers", func() bool { return s.writer.Ping(t.Context()) == nil })
	o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &disturbed{Conn: conn, before: &s.before, most: &s.most}, err
	}
	s.reader = openStore(t, o)
	s.reader.SetSnapshotStep(step)
	return s
}

// fillProject creates tickets in a project, in few groups.
func fillProject(ctx context.Context, s *state.Store, project string, first, n, size int) error {
	c, errs := s.Creator(nil), make(chan error, n)
	for i := first; i < first+n; i++ {
		go func() { errs <- c.Create(ctx, project, bulky(fmt.Sprint("t", i), i, size)) }()
	}
	for range n {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// A snapshot ends, though more changes come meanwhile than the feed keeps.
func TestSnapshotEndsWhileMoreChangesThanTheFeedKeeps(t *testing.T) {
	t.Parallel()
	s := newScene(t, state.Options{Feed: 100}, 5)
	if err := fillProject(t.Context(), s.writer, project, 0, 200, 0); err != nil {
		t.Fatal(err)
	}
	var next int
	var mu sync.Mutex
	disturb := func() {
		mu.Lock()
		defer mu.Unlock()
		for range 10 {
			if next == 1500 {
				return
			}
			create(t, s.writer, fmt.Sprint("new", next))
			next++
		}
	}
	s.before.Store(&disturb)
	m := follow(t, s.reader)
	m.until(t, func() (any, bool) { return m.position, m.position > 0 }, "the snapshot")
	s.before.Store(nil)
	mu.Lock()
	if next < 500 {
		t.Errorf("the snapshot took only %d changes", next)
	}
	mu.Unlock()
	want, err := s.writer.OldestWaiting(t.Context(), project, 0)
	if err != nil {
		t.Fatal(err)
	}
	if m.sees(t, want...); m.resets != 1 {
		t.Errorf("the reader started %d times", m.resets)
	}
}

// Whatever happens between any two commands of a snapshot, the reader has the truth in the end.
func TestSnapshotAmongChangesIsTheTruth(t *testing.T) {
	t.Parallel()
	s := newScene(t, state.Options{}, 2)
	ctx := t.Context()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		w := &world{store: s.writer, project: fmt.Sprint("p", run)}
		w.start(ctx, t)
		for i := range 16 {
			w.created = append(w.created, fmt.Sprint("t", i))
		}
		if err := fillProject(ctx, s.writer, w.project, 0, 16, 0); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			w.change(ctx, step{kind: createGameStep, a: i})
		}
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				kind: rapid.IntRange(0, stepKinds-1).Draw(t, "kind"),
				a:    rapid.IntRange(0, 31).Draw(t, "a"), b: rapid.IntRange(0, 31).Draw(t, "b"),
				rest: rapid.IntRange(0, 4).Draw(t, "rest"),
			}
		}), 0, 60).Draw(t, "steps")
		wait := 0
		var mu sync.Mutex
		disturb := func() {
			mu.Lock()
			defer mu.Unlock()
			if wait--; wait >= 0 {
				return
			}
			for len(steps) > 0 && w.err == nil {
				w.change(ctx, steps[0])
				wait, steps = steps[0].rest, steps[1:]
				if wait > 0 {
					return
				}
			}
		}
		s.before.Store(&disturb)
		m := newMirror()
		ctxFollow, stop := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { s.reader.Follow(ctxFollow, w.project, m, nil) })
		defer func() {
			s.before.Store(nil)
			stop()
			w.change(ctx, step{kind: createStep}) // so that the reader does not wait for an entry
			done.Wait()
		}()
		m.settle(t, func() bool { return m.position > 0 })
		s.before.Store(nil)
		mu.Lock()
		defer mu.Unlock()
		for _, left := range steps {
			w.change(ctx, left)
		}
		if w.err != nil {
			t.Fatal(w.err)
		}
		position, err := s.writer.Position(ctx, w.project)
		if err != nil {
			t.Fatal(err)
		}
		m.settle(t, func() bool { return m.position == position })
		waiting, err := s.writer.OldestWaiting(ctx, w.project, 0)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := s.writer.Shown(ctx, w.project)
		if err != nil {
			t.Fatal(err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		slices.Sort(waiting)
		if got := slices.Sorted(maps.Keys(m.waiting)); !slices.Equal(got, waiting) {
			t.Fatalf("the reader sees %v, want %v", got, waiting)
		}
		generations := map[string]int64{}
		for id, b := range m.shown {
			generations[id] = b.GetGeneration()
		}
		if !maps.Equal(generations, shown) {
			t.Fatalf("the reader sees the games %v, want %v", generations, shown)
		}
		if m.resets != 1 {
			t.Fatalf("the reader started %d times", m.resets)
		}
	})
}

// settle waits for a condition of the mirror.
func (m *mirror) settle(t *rapid.T, ok func() bool) {
	deadline := time.After(2 * time.Minute)
	for {
		m.mu.Lock()
		done := ok()
		m.mu.Unlock()
		if done {
			return
		}
		select {
		case <-m.changed:
		case <-deadline:
			t.Fatal("the reader does not come to the end")
		}
	}
}

// step is a change of a world.
type step struct{ kind, a, b, rest int }

const (
	createStep = iota
	deleteStep
	claimStep
	releaseStep
	againStep
	createGameStep
	replaceGameStep
	deleteGameStep
	nameGameStep
	stepKinds
)

// world is a project whose tickets change.
type world struct {
	store    *state.Store
	project  string
	created  []string
	revision int64
	terms    state.ClaimOptions
	matches  int
	err      error
}

func (w *world) start(ctx context.Context, t *rapid.T) {
	var err error
	if w.revision, _, err = w.store.PutConfig(ctx, w.project, &pb.Config{Id: "c"}, state.AnyRevision); err != nil {
		t.Fatal(err)
	}
	w.terms = state.ClaimOptions{Claim: 10 * time.Second, Readable: time.Minute}
	if w.terms.Epoch, err = w.store.AcquireLease(ctx, w.project, "me", time.Hour); err != nil {
		t.Fatal(err)
	}
}

// change makes one change. It may do nothing, when a ticket is not there.
func (w *world) change(ctx context.Context, s step) {
	var err error
	ticketAt := func(i int) string { return w.created[i%len(w.created)] }
	gameAt := func(i int) string { return fmt.Sprint("g", i%6) }
	switch s.kind {
	case createStep:
		id := fmt.Sprint("t", len(w.created))
		w.created = append(w.created, id)
		err = w.store.Creator(nil).Create(ctx, w.project, ticket(id, s.a))
	case deleteStep:
		_, _ = w.store.DeleteTicket(ctx, w.project, ticketAt(s.a), "") // it may be gone
	case claimStep:
		if one, other := ticketAt(s.a), ticketAt(s.b); one != other {
			w.matches++
			_, err = w.store.Claim(ctx, w.project, w.terms,
				[]*state.Claim{claim(w.revision, fmt.Sprint("m", w.matches), one, other)})
		}
	case releaseStep:
		_, _, err = w.store.At(at(60)).ReleaseOverdueMatches(ctx, w.project, 10)
	case againStep: // as a later version writes it
		_, err = w.store.AppendFeed(ctx, w.project, "@"+ticketAt(s.a), "", "@"+ticketAt(s.b), "")
	case createGameStep:
		_, _ = w.store.CreateBackfill(ctx, w.project, game(gameAt(s.a), float64(s.b))) // it may be there
	case replaceGameStep:
		_, _ = w.store.ReplaceBackfill(ctx, w.project, game(gameAt(s.a), float64(s.b))) // it may be gone
	case deleteGameStep:
		_, _, err = w.store.DeleteBackfill(ctx, w.project, gameAt(s.a), "")
	case nameGameStep:
		_, err = w.store.AppendFeed(ctx, w.project, "%"+gameAt(s.a), "")
	}
	if w.err == nil {
		w.err = err
	}
}

// No reply is larger than 2 MiB, of a snapshot or of the feed.
func TestRepliesOfTheFeedAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 2 << 20
	s := newScene(t, state.Options{}, 1000)
	if err := fillProject(t.Context(), s.writer, project, 0, 400, 20<<10); err != nil {
		t.Fatal(err)
	}
	m := &slow{mirror: newMirror(), gate: make(chan struct{})}
	m.store = s.reader
	followInto(t, s.reader, m, nil)
	m.until(t, func() (any, bool) { return m.position, m.position > 0 }, "the snapshot")
	if most := s.most.Load(); most > limit || most < limit/2 {
		t.Errorf("the largest reply of the snapshot has %d bytes", most)
	}
	// Small entries come first, then large ones, while the reader is away.
	body := string(make([]byte, 20<<10))
	create(t, s.writer, "small")
	for i := range 400 {
		if _, err := s.writer.AppendFeed(t.Context(), project, fmt.Sprint("+t", i), body); err != nil {
			t.Fatal(err)
		}
	}
	s.most.Store(0)
	close(m.gate)
	position, err := s.writer.Position(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	m.reaches(t, position)
	if most := s.most.Load(); most > limit || most < limit/2 {
		t.Errorf("the largest reply of the feed has %d bytes", most)
	}
	// Entries that only name tickets.
	var named []string
	for i := range 400 {
		named = append(named, fmt.Sprint("@t", i), "")
	}
	s.most.Store(0)
	if position, err = s.writer.AppendFeed(t.Context(), project, named...); err != nil {
		t.Fatal(err)
	}
	m.reaches(t, position)
	if most := s.most.Load(); most > limit || most < limit/2 {
		t.Errorf("the largest reply of bodies has %d bytes", most)
	}
}
