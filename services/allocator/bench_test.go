package allocator_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/instant"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/state"
)

// BenchmarkMatches is matches of two through one allocator, from the work queue to the assignment of their tickets,
// with a hosting system that answers at once: what the service itself costs, on a real Redis and a real NATS.
func BenchmarkMatches(b *testing.B) {
	w := prepare(b)
	w.options.Provider = instant.New("1.2.3.4:5")
	settled := w.run()
	defer settled()
	var done atomic.Int64
	all := make(chan struct{})
	sub, err := w.bus.OnResults(func(_ string, a bus.Assigned) {
		if done.Add(int64(len(a.Tickets()))) == int64(2*b.N) {
			close(all)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = sub.Stop() }()

	create := w.store.Creator(nil)
	matches := make([]string, b.N)
	claims := make([]*state.Claim, b.N)
	created := make(chan error, 64)
	for i := range b.N {
		matches[i] = fmt.Sprint("m", i)
		tickets := []string{matches[i] + "-a", matches[i] + "-b"}
		claims[i] = w.claimOf(matches[i], tickets...)
		for _, id := range tickets {
			go func() {
				created <- create.Create(b.Context(), project, &pb.Ticket{Id: id, Created: time.Now().UnixMilli()})
			}()
		}
		for range tickets {
			if err := <-created; err != nil {
				b.Fatal(err)
			}
		}
	}
	if _, err := w.store.Claim(b.Context(), project, w.terms, claims); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	w.send(matches...)
	select {
	case <-all:
	case <-time.After(10 * time.Minute):
		b.Fatalf("%d of %d tickets are assigned", done.Load(), 2*b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "matches/s")
}
