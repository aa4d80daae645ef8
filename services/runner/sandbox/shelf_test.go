package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/services/runner/sandbox"
)

// clock is one that is moved by hand.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.at.Store(time.Now().Unix())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(c.at.Load(), 0) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d / time.Second)) }

// numbered is a good module unlike those of other numbers.
func numbered(n int) []byte {
	return reactor(echo()).with(function{export: fmt.Sprint("number", n), code: nil}).bytes()
}

// kept is the hashes of the modules on disk.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestModulesAreKeptBySize(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	b := boxOf(t, sandbox.Options{Dir: dir, Keep: sandbox.Keep{Bytes: 1}, Now: c.now, Binary: child(t)})
	one := load(t, b, numbered(1))
	i, _ := start(t, b, one)
	two := load(t, b, numbered(2))
	if got := kept(t, dir); len(got) != 2 {
		t.Fatalf("both are held, and on disk are %v", got)
	}
	b.Release(one)
	c.advance(time.Second)
	b.Release(two)
	three := load(t, b, numbered(3))
	if got := kept(t, dir); !slices.Equal(got, []string{three.Hash}) {
		t.Errorf("one is held, %s, and on disk are %v", three.Hash, got)
	}
	if got := run(t, i, "still here"); got != "still here" {
		t.Errorf("an instance of a module that was removed answered %q", got)
	}
	start(t, b, load(t, b, numbered(1))) // and it can be learned again
}

func TestModulesAreKeptByAge(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	keep := sandbox.Keep{Age: time.Hour}
	b := boxOf(t, sandbox.Options{Dir: dir, Keep: keep, Now: c.now, Binary: child(t)})
	old, used, held := load(t, b, numbered(1)), load(t, b, numbered(2)), load(t, b, numbered(3))
	b.Release(old)
	b.Release(used)
	c.advance(50 * time.Minute)
	b.Release(load(t, b, numbered(2)))
	c.advance(50 * time.Minute)
	fresh := load(t, b, numbered(4))
	want := []string{used.Hash, held.Hash, fresh.Hash}
	slices.Sort(want)
	if got := kept(t, dir); !slices.Equal(got, want) {
		t.Errorf("on disk are %v, want %v", got, want)
	}
	b.Close()

	// What a box that is no more left behind ages as well; what is no module stays.
	if err := os.Mkdir(filepath.Join(dir, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.advance(70 * time.Minute)
	boxOf(t, sandbox.Options{Dir: dir, Keep: keep, Now: c.now, Binary: child(t)})
	deadline := time.After(time.Minute)
	for !slices.Equal(kept(t, dir), []string{"notes"}) {
		select {
		case <-deadline:
			t.Fatalf("on disk are still %v", kept(t, dir))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Modules come and go in many hands, and there is room for none that is not held:
// whoever loaded one can start it.
func TestLoadWhileOthersAreRemoved(t *testing.T) {
	b := boxOf(t, sandbox.Options{Dir: t.TempDir(), Keep: sandbox.Keep{Bytes: 1}, Binary: child(t)})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 6 {
				m, err := b.Load(t.Context(), numbered((g+n)%3))
				if err != nil {
					t.Errorf("load: %v", err)
					return
				}
				i, err := b.Start(t.Context(), m, "one of many", func(string) {})
				if err != nil {
					t.Errorf("start: %v", err)
					return
				}
				b.Release(m)
				if _, _, err := i.Run(t.Context(), []byte("x"), 0); err != nil {
					t.Errorf("run: %v", err)
				}
				i.Close()
			}
		})
	}
	wg.Wait()
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	b := boxOf(t, sandbox.Options{Dir: dir, Binary: child(t)})
	m := load(t, b, numbered(1))
	damaged := load(t, b, numbered(2))
	b.Close()

	b = boxOf(t, sandbox.Options{Dir: dir, Binary: child(t)})
	opened, err := b.Open(t.Context(), m.Hash)
	if err != nil || opened.Hash != m.Hash || opened.Size != m.Size {
		t.Fatalf("Open = %+v, %v; want %+v", opened, err, m)
	}
	start(t, b, opened)
	if again, err := b.Open(t.Context(), m.Hash); err != nil || again != opened {
		t.Errorf("the second Open = %p, %v; want %p", again, err, opened)
	}
	if err := os.WriteFile(filepath.Join(dir, damaged.Hash, "module.wasm"), numbered(3), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{damaged.Hash, "", "..", m.Hash[1:] + "0", m.Hash + "/../" + m.Hash} {
		if m, err := b.Open(t.Context(), hash); !errors.Is(err, sandbox.ErrNotKept) {
			t.Errorf("Open(%q) = %v, %v; want ErrNotKept", hash, m, err)
		}
	}
}
