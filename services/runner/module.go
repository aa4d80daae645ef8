package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/runner/sandbox"
)

// spareModules is how many modules that nobody uses any more stay in the sandbox: a
// function that comes back, or a project, need not be compiled again.
const spareModules = 16

// modules brings modules from the object store into the sandbox, and removes there
// those that have not been used for longest.
type modules struct {
	bus *bus.Bus
	box *sandbox.Box

	mu     sync.Mutex
	used   map[string]*use // by name
	unused []string        // those in used with a count of 0, the oldest first
}

// use is how many take a module, and what they got.
type use struct {
	count  int
	loaded *sandbox.Module // nil before the first of them has it
}

func newModules(b *bus.Bus, box *sandbox.Box) *modules {
	return &modules{bus: b, box: box, used: map[string]*use{}}
}

// take loads the module of a name, "<sha256>.wasm". After a success drop has to follow.
func (m *modules) take(ctx context.Context, name string) (*sandbox.Module, error) {
	m.mu.Lock()
	u := m.used[name]
	if u == nil {
		u = &use{}
		m.used[name] = u
	}
	u.count++
	m.unused = slices.DeleteFunc(m.unused, func(n string) bool { return n == name })
	loaded := u.loaded
	m.mu.Unlock()
	if loaded != nil {
		return loaded, nil
	}
	loaded, err := m.load(ctx, name)
	if err != nil {
		m.drop(name)
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	u.loaded = loaded
	return loaded, nil
}

func (m *modules) load(ctx context.Context, name string) (*sandbox.Module, error) {
	wasm, err := m.bus.Module(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("its module %s cannot be fetched: %w", name, err)
	}
	sum := sha256.Sum256(wasm)
	if hex.EncodeToString(sum[:])+".wasm" != name {
		return nil, fmt.Errorf("its module %s is damaged: what is stored has another hash", name)
	}
	return m.box.Load(ctx, wasm)
}

// drop ends one use.
func (m *modules) drop(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.used[name]
	if u.count--; u.count > 0 {
		return
	}
	m.unused = append(m.unused, name)
	if len(m.unused) <= spareModules {
		return
	}
	oldest := m.unused[0]
	m.unused = m.unused[1:]
	if loaded := m.used[oldest].loaded; loaded != nil {
		// Under the lock, so that nobody takes it meanwhile. What stays on disk after an
		// error goes with the sandbox's folder.
		_ = m.box.Forget(loaded)
	}
	delete(m.used, oldest)
}
