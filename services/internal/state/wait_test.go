package state_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/state"
)

// counted is a connection that counts as open until it is closed.
type counted struct {
	net.Conn
	once sync.Once
	open *atomic.Int64
}

func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// Many feeds are followed over few connections, and each reader gets what happens in its feed.
func TestManyFeedsTakeFewConnections(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		var conns, most atomic.Int64
		reader := open(state.Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			most.Store(max(most.Load(), conns.Add(1)))
			return &counted{Conn: conn, open: &conns}, nil
		}})
		writer := open(state.Options{})
		const projects = 60
		var mirrors []*mirror
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		t.Cleanup(func() { stop(); done.Wait() })
		for i := range projects {
			m := newMirror()
			mirrors = append(mirrors, m)
			done.Go(func() { reader.Follow(ctx, fmt.Sprint("p", i), m, nil) })
		}
		var want []string
		for round := range 3 {
			id := fmt.Sprint("t", round)
			want = append(want, id)
			for i := range projects {
				if err := writer.Creator(nil).Create(t.Context(), fmt.Sprint("p", i), ticket(id, round)); err != nil {
					t.Fatal(err)
				}
			}
			for _, m := range mirrors {
				m.sees(t, want...)
			}
		}
		for i, m := range mirrors {
			if m.resets != 1 {
				t.Errorf("reader %d started %d times", i, m.resets)
			}
		}
		// The client opens some more while many readers begin.
		if n := most.Load(); n > 24 || n < 1 {
			t.Errorf("%d connections", n)
		}
	})
}

func TestReaderIsWoken(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		s.LookEvery(time.Hour)
		m, wake := newMirror(), notify.New()
		followInto(t, s, m, wake.C())
		m.sees(t)
		for i := range 5 {
			create(t, s, fmt.Sprint("t", i))
			wake.Notify()
			position, err := s.Position(t.Context(), project)
			if err != nil {
				t.Fatal(err)
			}
			m.reaches(t, position)
		}
		m.sees(t, "t0", "t1", "t2", "t3", "t4")
	})
}

// widest is a mirror that knows the most changes it was given at once.
type widest struct {
	*mirror
	most atomic.Int64
}

func (w *widest) Apply(changes []state.Change, position uint64) {
	w.most.Store(max(w.most.Load(), int64(len(changes))))
	w.mirror.Apply(changes, position)
}

// A reader that is behind does not have the bodies of all entries in memory at once.
func TestReaderThatIsBehindTakesNamesInParts(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		s.LookEvery(time.Hour)
		w, wake := &widest{mirror: newMirror()}, notify.New()
		followInto(t, s, w, wake.C())
		create(t, s, "a")
		wake.Notify()
		w.sees(t, "a")
		var names []string
		for i := range 100 {
			names = append(names, fmt.Sprint("@t", i), "")
		}
		for range 5 { // the reader learns that entries are small
			must(t, s.AppendEntries(t.Context(), project, 100, "-nobody", ""))
			wake.Notify()
			position, err := s.Position(t.Context(), project)
			must(t, err)
			w.reaches(t, position)
		}
		w.most.Store(0)
		must(t, s.AppendEntries(t.Context(), project, 60, names...))
		wake.Notify()
		position, err := s.Position(t.Context(), project)
		must(t, err)
		w.reaches(t, position)
		if n := w.most.Load(); n > 400 {
			t.Errorf("%d changes at once", n)
		}
	})
}
