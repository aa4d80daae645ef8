package search_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// outcome is what became of a case. Cases of the same kind are counted together.
type outcome struct {
	kind    string
	count   map[string]int // more to count
	unknown bool           // whether the reference could not say all
	// failed makes the case small, keeps it, and says what is wrong; nil if nothing is.
	failed func(t *testing.T) string
}

// each runs all cases, on all processors, and counts what becomes of them. The case with the least number of those that
// failed fails the test. Tests of very many cases say now and then how far they are.
func each(t *testing.T, one func(i int) outcome) (counts map[string]int) {
	t.Helper()
	var mutex sync.Mutex
	var next, stop atomic.Int64
	stop.Store(int64(*cases))
	counts = map[string]int{}
	var failed func(t *testing.T) string
	var workers sync.WaitGroup
	done, begun := 0, time.Now()
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= stop.Load() {
					return
				}
				o := one(int(i))
				mutex.Lock()
				if counts[o.kind]++; o.unknown {
					counts["unknown"]++
				}
				for name, n := range o.count {
					counts[name] += n
				}
				if o.failed != nil && i < stop.Load() {
					failed = o.failed
					stop.Store(i) // those before it are looked at yet
				}
				if done++; *cases >= 10_000 && done%(*cases/20) == 0 {
					t.Logf("%d of %d cases, %.0f a second", done, *cases, float64(done)/time.Since(begun).Seconds())
				}
				mutex.Unlock()
			}
		})
	}
	workers.Wait()
	if failed != nil {
		t.Fatal(failed(t))
	}
	return counts
}
