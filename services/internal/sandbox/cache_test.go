package sandbox_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/sandbox"
)

// clock is a clock that the test moves.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.at.Store(time.Now().Unix())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(c.at.Load(), 0) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d / time.Second)) }

// numbered is a good module, different for each number.
func numbered(n int) []byte {
	return reactor(echo()).with(function{export: fmt.Sprint("number", n), code: nil}).bytes()
}

// cachedHashes is the hashes of the modules on disk.
func cachedHashes(t *testing.T, dir string) []string {
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

func TestCacheIsBoundedBySize(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), newClock()
	b := boxOf(t, sandbox.Options{Dir: dir, Cache: sandbox.CacheLimits{Bytes: 1}, Now: c.now, Binary: child(t)})
	one := load(t, b, numbered(1))
	i, _ := start(t, b, one)
	two := load(t, b, numbered(2))
	if got := cachedHashes(t, dir); len(got) != 2 {
		t.Fatalf("both are held, and on disk are %v", got)
	}
	b.Release(one)
	c.advance(time.Second)
	b.Release(two)
	three := load(t, b, numbered(3))
	if got := cachedHashes(t, dir); !slices.Equal(got, []string{three.Hash}) {
		t.Errorf("one is held, %s, and on disk are %v", three.Hash, got)
	}
	if got := run(t, i, "still here"); got != "still here" {
		t.Errorf("an instance of a module that was removed answered %q", got)
	}
	start(t, b, load(t, b, numbered(1))) // and it can be learned again
}

// TestHeldModulesAreBounded: what runs on the disk is bounded over all owners, and each may have half of what the
// others leave. Released modules make room. A module that is not held makes room for a held one.
func TestHeldModulesAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	probe := newBox(t, sandbox.Limits{})
	m := load(t, probe, numbered(1))
	one := int64(m.Size) + m.Code
	// Room for eight, so that the first owner may have four, the next one two, the next one one, and any other none.
	b := boxOf(t, sandbox.Options{Dir: dir, Cache: sandbox.CacheLimits{Bytes: 1, Held: 8*one + one/2}, Binary: child(t)})
	held := map[string][]*sandbox.Module{}
	hold := func(owner string, n int) error {
		m, _, err := b.Load(t.Context(), owner, numbered(n))
		if err == nil {
			held[owner] = append(held[owner], m)
		}
		return err
	}
	n := 10
	for _, owner := range []string{"a", "b", "c", "d"} {
		want := map[string]int{"a": 4, "b": 2, "c": 1, "d": 0}[owner]
		for range 5 {
			n++
			if err := hold(owner, n); err != nil {
				e, ok := errors.AsType[*problem.Error](err)
				if !ok || e.Kind != problem.Unavailable || e.RetryAfter <= 0 || e.Limit == nil ||
					!strings.Contains(e.Detail, "--max-module-disk") {
					t.Fatal(err)
				}
				break
			}
		}
		if got := len(held[owner]); got != want {
			t.Errorf("%s holds %d, want %d", owner, got, want)
		}
	}
	if use := b.DiskUse(); use.Held < 7*one-100 || use.Held > use.Limits.Held {
		t.Errorf("in use are %+v", use)
	}
	// The same module held by another owner takes no more room.
	for _, owner := range []string{"a", "d"} {
		if err := hold(owner, 11); err != nil {
			t.Errorf("a second hold of %s: %v", owner, err)
		}
	}
	b.Release(held["a"][0])
	if err := hold("d", 50); err == nil {
		t.Error("one of two holds made room")
	}
	for _, m := range held["a"][1:] {
		b.Release(m)
	}
	if err := hold("d", 51); err != nil {
		t.Errorf("after a gave all back: %v", err)
	}
	if got := len(cachedHashes(t, dir)); got != 5 {
		t.Errorf("%d modules are on disk, those of b, c and d are 5", got)
	}
}

func TestCacheIsBoundedByAge(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), newClock()
	keep := sandbox.CacheLimits{Age: time.Hour}
	b := boxOf(t, sandbox.Options{Dir: dir, Cache: keep, Now: c.now, Binary: child(t)})
	old, used, held := load(t, b, numbered(1)), load(t, b, numbered(2)), load(t, b, numbered(3))
	b.Release(old)
	b.Release(used)
	c.advance(50 * time.Minute)
	b.Release(load(t, b, numbered(2)))
	c.advance(50 * time.Minute)
	fresh := load(t, b, numbered(4))
	want := []string{used.Hash, held.Hash, fresh.Hash}
	slices.Sort(want)
	if got := cachedHashes(t, dir); !slices.Equal(got, want) {
		t.Errorf("on disk are %v, want %v", got, want)
	}
	b.Close()

	// The modules of a closed box age as well. What is no module stays.
	if err := os.Mkdir(filepath.Join(dir, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.advance(70 * time.Minute)
	boxOf(t, sandbox.Options{Dir: dir, Cache: keep, Now: c.now, Binary: child(t)})
	deadline := time.After(time.Minute)
	for !slices.Equal(cachedHashes(t, dir), []string{"notes"}) {
		select {
		case <-deadline:
			t.Fatalf("on disk are still %v", cachedHashes(t, dir))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Goroutines load and release modules concurrently, and the cache keeps none that is not held. A module that was loaded
// can be started.
func TestLoadWhileOtherModulesAreRemoved(t *testing.T) {
	t.Parallel()
	b := boxOf(t, sandbox.Options{Dir: t.TempDir(), Cache: sandbox.CacheLimits{Bytes: 1}, Binary: child(t)})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 6 {
				m, _, err := b.Load(t.Context(), "", numbered((g+n)%3))
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

func TestOpenFindsIntactModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := boxOf(t, sandbox.Options{Dir: dir, Binary: child(t)})
	m := load(t, b, numbered(1))
	damaged := load(t, b, numbered(2))
	b.Close()

	b = boxOf(t, sandbox.Options{Dir: dir, Binary: child(t)})
	opened, _, err := b.Open(t.Context(), "", m.Hash)
	if err != nil || opened.Hash != m.Hash || opened.Size != m.Size {
		t.Fatalf("Open = %+v, %v; want %+v", opened, err, m)
	}
	start(t, b, opened)
	if again, _, err := b.Open(t.Context(), "", m.Hash); err != nil || again.Hash != opened.Hash {
		t.Errorf("the second Open = %+v, %v; want %+v", again, err, opened)
	}
	if err := os.WriteFile(filepath.Join(dir, damaged.Hash, "module.wasm"), numbered(3), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{damaged.Hash, "", "..", m.Hash[1:] + "0", m.Hash + "/../" + m.Hash} {
		if m, _, err := b.Open(t.Context(), "", hash); !errors.Is(err, sandbox.ErrNotCached) {
			t.Errorf("Open(%q) = %v, %v; want ErrNotCached", hash, m, err)
		}
	}
}

// Damaged modules are repaired when they are started again, by the Supervisor that holds them and by the next one.
func TestDamagedModulesAreRepaired(t *testing.T) {
	t.Parallel()
	overwrite := func(t *testing.T, file string, change func([]byte) []byte) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, change(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	half := func(b []byte) []byte { return b[:len(b)/2] }
	code := func(t *testing.T, folder string) string {
		found, err := filepath.Glob(filepath.Join(folder, "cache", "*", "*"))
		if err != nil || len(found) != 1 {
			t.Fatalf("machine code in %v, %v", found, err)
		}
		return found[0]
	}
	for name, damage := range map[string]func(t *testing.T, folder string) error{
		"all gone":    func(_ *testing.T, folder string) error { return os.RemoveAll(folder) },
		"folder gone": func(_ *testing.T, folder string) error { return os.RemoveAll(filepath.Dir(folder)) },
		"module gone": func(_ *testing.T, folder string) error {
			return os.Remove(filepath.Join(folder, "module.wasm"))
		},
		"code gone": func(t *testing.T, folder string) error { return os.Remove(code(t, folder)) },
		"module cut off": func(t *testing.T, folder string) error {
			overwrite(t, filepath.Join(folder, "module.wasm"), half)
			return nil
		},
		"module empty": func(_ *testing.T, folder string) error {
			return os.WriteFile(filepath.Join(folder, "module.wasm"), nil, 0o600)
		},
		"code cut off": func(t *testing.T, folder string) error { overwrite(t, code(t, folder), half); return nil },
		"code empty":   func(t *testing.T, folder string) error { return os.WriteFile(code(t, folder), nil, 0o600) },
		"code overwritten": func(t *testing.T, folder string) error {
			overwrite(t, code(t, folder), func(b []byte) []byte {
				for i := 32; i < len(b); i++ {
					b[i] ^= 0xff
				}
				return b
			})
			return nil
		},
		"code a folder": func(t *testing.T, folder string) error {
			file := code(t, folder)
			return errors.Join(os.Remove(file), os.Mkdir(file, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "box")
			b := boxOf(t, sandbox.Options{Dir: dir, Binary: child(t)})
			open := func() *sandbox.Module {
				m, _, err := b.Open(t.Context(), "", hashOf(numbered(1)))
				if errors.Is(err, sandbox.ErrNotCached) { // and so it is brought
					m, _, err = b.Load(t.Context(), "", numbered(1))
				}
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			works := func(m *sandbox.Module) {
				i, _ := start(t, b, m)
				if got := run(t, i, "fine"); got != "fine" {
					t.Errorf("answer = %q", got)
				}
			}
			m := open()
			works(m)
			if err := damage(t, filepath.Join(dir, m.Hash)); err != nil {
				t.Fatal(err)
			}
			if i, err := b.Start(t.Context(), m, t.Name(), func(string) {}); err == nil {
				i.Close()
				t.Error("an instance was started of a module that is damaged")
			}
			b.Release(m)
			m = open()
			works(m)

			b.Close()
			if err := damage(t, filepath.Join(dir, m.Hash)); err != nil {
				t.Fatal(err)
			}
			b = boxOf(t, sandbox.Options{Dir: dir, Binary: child(t)})
			works(open())
		})
	}
}

func hashOf(wasm []byte) string {
	sum := sha256.Sum256(wasm)
	return hex.EncodeToString(sum[:])
}
