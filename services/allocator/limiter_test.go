package allocator_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

func handsOf(w *world) state.MatchLease {
	return state.MatchLease{
		Holder: "test", Hold: time.Hour, Search: time.Hour, Claim: time.Hour,
	}
}

// Many projects have a hosting system that hangs. The matches of another project still get their servers.
func TestHostingSystemThatHangsDelaysOnlyItsOwnMatches(t *testing.T) {
	w := prepare(t)
	w.options.Settings.Parallel, w.options.Settings.Fleet, w.options.Settings.Call = 16, 4, time.Hour
	w.options.Provider = &hanging{hang: func(r *provider.Request) bool { return r.Project != project }}
	settled := w.run()
	t.Cleanup(settled)
	for n := range 4 {
		stuck := fmt.Sprint("stuck-", n)
		w.lead(stuck)
		var matches []string
		for i := range 40 {
			id := fmt.Sprint("m", i)
			w.region = id
			w.claimIn(stuck, id, id+"-a")
			matches = append(matches, id)
		}
		w.sendIn(stuck, matches...)
	}
	w.lead(project)
	var matches []string
	for i := range 40 {
		id := fmt.Sprint("m", i)
		w.region = id
		w.claim(id, id+"-a")
		matches = append(matches, id)
	}
	w.send(matches...)
	for _, id := range matches {
		if got := w.result(id + "-a"); got.GetConnection() != "1.2.3.4:5" {
			t.Errorf("match %s got %v", id, got)
		}
	}
	for n := range 4 {
		ticket, err := w.store.Ticket(t.Context(), fmt.Sprint("stuck-", n), "m0-a")
		if err != nil || ticket.Assignment != nil {
			t.Errorf("a match of a system that hangs has a result: %v, %v", ticket, err)
		}
	}
}

// counting counts the concurrent calls of each fleet.
type counting struct {
	provider.Provider
	mu    sync.Mutex
	under map[string]int
	most  map[string]int
	gate  chan struct{}
}

func (c *counting) Allocate(ctx context.Context, r *provider.Request) (provider.Result, error) {
	c.count(r.Hosting.Fleet, 1)
	defer c.count(r.Hosting.Fleet, -1)
	select {
	case <-c.gate:
	case <-ctx.Done():
		return provider.Result{}, ctx.Err()
	}
	return allocateAtOnce(1, r)
}

func (c *counting) count(fleet string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.under[fleet] += n
	c.most[fleet] = max(c.most[fleet], c.under[fleet])
}

func (c *counting) now(fleet string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.under[fleet]
}

func TestConcurrentAllocationsOfAFleetAreLimited(t *testing.T) {
	w := prepare(t)
	p := &counting{under: map[string]int{}, most: map[string]int{}, gate: make(chan struct{})}
	w.options.Provider, w.options.Settings.Fleet = p, 5
	t.Cleanup(w.run())
	var matches []string
	for i := range 30 {
		id := fmt.Sprint("m", i)
		w.region = id
		w.claim(id, id+"-a")
		matches = append(matches, id)
	}
	w.send(matches...)
	waittest.Until(t, "as many allocations as are allowed", func() bool { return p.now("proposal's") == 5 })
	close(p.gate)
	for _, id := range matches {
		w.result(id + "-a")
	}
	if p.most["proposal's"] != 5 {
		t.Errorf("%d concurrent allocations of a fleet, want 5", p.most["proposal's"])
	}
}

func TestPendingAllocationsArePolledTogether(t *testing.T) {
	s := &script{
		allocate: func(int, *provider.Request) (provider.Result, error) {
			return provider.Result{Status: provider.Pending}, nil
		},
	}
	s.poll = func(int) provider.Result {
		if s.most < 10 {
			return provider.Result{Status: provider.Pending}
		}
		return provider.Result{Status: provider.Allocated, Connection: "1.2.3.4:5"}
	}
	w := start(t, s, func(o *allocator.Options) { o.Settings.Poll = 20 * time.Millisecond })
	var matches []string
	for i := range 10 {
		id := fmt.Sprint("m", i)
		w.claim(id, id+"-a")
		matches = append(matches, id)
	}
	w.send(matches...)
	for _, id := range matches {
		if got := w.result(id + "-a"); got.GetConnection() != "1.2.3.4:5" {
			t.Errorf("%s: %v", id, got)
		}
	}
}
