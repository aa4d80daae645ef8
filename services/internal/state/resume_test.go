package state_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchmaker.dev/services/internal/state"
)

// kept is a mirror that begins with what an earlier one had.
type kept struct {
	*mirror
	origin   state.Origin
	earlier  map[string]string
	position uint64
	of       state.Origin
	resumed  bool
}

func (k *kept) Resume(_ context.Context, origin state.Origin) uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.origin = origin
	if k.position == 0 || k.of != origin || !origin.Known() {
		return 0
	}
	k.waiting, k.resumed = k.earlier, true
	position := k.position
	k.position = 0 // it is used once
	return position
}

// later is a mirror for a later process.
func (k *kept) later() *kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	return &kept{mirror: newMirror(), earlier: maps.Clone(k.waiting), position: k.mirror.position, of: k.origin}
}

// Whatever happened before a reader stopped, while it was away and while it comes back, it has the truth in the end.
func TestReaderThatResumesHasTheTruth(t *testing.T) {
	t.Parallel()
	s := newScene(t, state.Options{}, 2)
	ctx := t.Context()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		w := &world{store: s.writer, project: fmt.Sprint("p", run)}
		w.start(ctx, t)
		for i := range 4 {
			w.created = append(w.created, fmt.Sprint("t", i))
		}
		if err := fillProject(ctx, s.writer, w.project, 0, 4, 0); err != nil {
			t.Fatal(err)
		}
		draw := func(name string) []step {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
				return step{
					kind: rapid.IntRange(0, stepKinds-1).Draw(t, "kind"),
					a:    rapid.IntRange(0, 15).Draw(t, "a"), b: rapid.IntRange(0, 15).Draw(t, "b"),
					rest: rapid.IntRange(0, 4).Draw(t, "rest"),
				}
			}), 0, 20).Draw(t, name)
		}
		before, away, back := draw("before"), draw("away"), draw("back")
		change := func(steps []step) {
			for _, one := range steps {
				w.change(ctx, one)
			}
			if w.err != nil {
				t.Fatal(w.err)
			}
		}
		follow := func(k *kept) (end func()) {
			following, stop := context.WithCancel(ctx)
			var done sync.WaitGroup
			done.Go(func() { s.reader.Follow(following, w.project, k, nil) })
			return func() { stop(); done.Wait() }
		}
		settle := func(k *kept) {
			position, err := s.writer.Position(ctx, w.project)
			if err != nil {
				t.Fatal(err)
			}
			k.settle(t, func() bool { return k.mirror.position == position })
		}
		first := &kept{mirror: newMirror()}
		end := follow(first)
		change(before)
		settle(first)
		end()
		change(away)

		second := first.later()
		var mu sync.Mutex
		disturb := func() {
			mu.Lock()
			defer mu.Unlock()
			if len(back) > 0 {
				w.change(ctx, back[0])
				back = back[1:]
			}
		}
		s.before.Store(&disturb)
		end = follow(second)
		defer func() { s.before.Store(nil); end() }()
		second.settle(t, func() bool { return second.mirror.position > 0 })
		s.before.Store(nil)
		mu.Lock()
		defer mu.Unlock()
		change(back)
		settle(second)
		waiting, err := s.writer.OldestWaiting(ctx, w.project)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := s.writer.Shown(ctx, w.project)
		if err != nil {
			t.Fatal(err)
		}
		second.mu.Lock()
		defer second.mu.Unlock()
		slices.Sort(waiting)
		if got := slices.Sorted(maps.Keys(second.waiting)); !slices.Equal(got, waiting) {
			t.Fatalf("the reader sees %v, want %v", got, waiting)
		}
		generations := map[string]int64{}
		for id, b := range second.shown {
			generations[id] = b.GetGeneration()
		}
		if !maps.Equal(generations, shown) {
			t.Fatalf("the reader sees the games %v, want %v", generations, shown)
		}
		if second.resets != 1 || !second.resumed {
			t.Fatalf("the reader started %d times, and resumed: %t", second.resets, second.resumed)
		}
	})
}

// A reader does not resume where the feed does not have all that happened since.
func TestReaderThatCannotResumeStartsFromASnapshot(t *testing.T) {
	for _, test := range []struct {
		name    string
		changed func(t *testing.T, s *state.Store, k *kept)
	}{
		{"a feed that was trimmed", func(t *testing.T, s *state.Store, _ *kept) {
			if err := s.Do(t.Context(), "XTRIM", "mm:{"+project+"}:feed", "MAXLEN", "1"); err != nil {
				t.Fatal(err)
			}
		}},
		{"a feed that is gone", func(t *testing.T, s *state.Store, _ *kept) {
			if err := s.Do(t.Context(), "DEL", "mm:{"+project+"}:feed"); err != nil {
				t.Fatal(err)
			}
		}},
		{"a position that went back", func(_ *testing.T, _ *state.Store, k *kept) { k.position += 100 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, state.Options{}, 10)
			create(t, s.writer, "a", "b")
			first := &kept{mirror: newMirror()}
			end := followInto(t, s.reader, first, nil)
			first.sees(t, "a", "b")
			first.until(t, func() (any, bool) { return first.mirror.position, first.mirror.position > 0 }, "the snapshot")
			end()
			create(t, s.writer, "c")
			create(t, s.writer, "d")
			second := first.later()
			test.changed(t, s.writer, second)
			second.earlier["never"] = second.earlier["a"]
			followInto(t, s.reader, second, nil)
			second.until(t, func() (any, bool) { return second.resets, second.resets == 2 && second.mirror.position > 0 },
				"the snapshot")
			if second.sees(t, "a", "b", "c", "d"); !second.resumed {
				t.Error("it was not tried")
			}
		})
	}
}

// A Redis that was restarted may lack the last changes and have others at their positions: it is another one.
func TestRedisThatWasRestartedIsAnotherOne(t *testing.T) {
	t.Parallel()
	port, dir := freePort(t), t.TempDir()
	run := func() (stop func()) { return startRedis(t, "--port", port, "--dir", dir, "--appendonly", "yes") }
	stop := run()
	s := openStore(t, state.Options{Server: state.Server{URL: "redis://127.0.0.1:" + port}})
	answers := func() bool { return s.Ping(t.Context()) == nil }
	until(t, "the server answers", answers)
	create(t, s, "a")
	first := &kept{mirror: newMirror()}
	end := followInto(t, s, first, nil)
	first.sees(t, "a")
	first.until(t, func() (any, bool) { return first.mirror.position, first.mirror.position > 0 }, "the snapshot")
	end()
	stop()
	run()
	until(t, "the server answers again", answers)
	second := first.later()
	second.earlier["never"] = second.earlier["a"]
	followInto(t, s, second, nil)
	if second.sees(t, "a"); second.resumed {
		t.Error("it resumed")
	}
	if second.origin.Feed != first.origin.Feed || !first.origin.Known() || !second.origin.Known() {
		t.Errorf("%+v is not what %+v is after a restart", second.origin, first.origin)
	}
}

func TestSecretsAreTakenOnceAndEnd(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		secret, err := s.KeepSecret(t.Context(), project, "x", time.Minute)
		must(t, err)
		if left, err := s.TTL(t.Context(), "mm:{"+project+"}:secret:x"); err != nil || left <= 0 || left > time.Minute {
			t.Errorf("it ends in %v (%v)", left, err)
		}
		got, err := s.TakeSecret(t.Context(), project, "x")
		if must(t, err); len(secret) != 32 || !slices.Equal(got, secret) {
			t.Errorf("%x, want %x", got, secret)
		}
		if got, err = s.TakeSecret(t.Context(), project, "x"); err != nil || got != nil {
			t.Errorf("taken twice: %x, %v", got, err)
		}
	})
}
