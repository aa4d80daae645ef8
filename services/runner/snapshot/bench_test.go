package snapshot_test

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
)

// BenchmarkRestart measures how long it takes to keep an index of a million tickets, and to have it again.
func BenchmarkRestart(b *testing.B) {
	const n = 1_000_000
	ix := pool.New()
	for i := range n {
		raw, err := proto.Marshal(&pb.Ticket{Owner: fmt.Sprint("player-", i), Created: 1_700_000_000_000 + int64(i),
			AttributeNames: []string{"latency", "skill"}, AttributeValues: []float64{float64(i % 100), float64(i)}})
		if err != nil {
			b.Fatal(err)
		}
		if err := ix.Put(fmt.Sprintf("%032x", i), raw); err != nil {
			b.Fatal(err)
		}
	}
	p := newPlace(b, 1<<30)
	var bytes int64
	var writing, reading float64
	for b.Loop() {
		began := b.Elapsed()
		var err error
		if bytes, err = p.Write(b.Context(), "p", origin, 7, ix.Save); err != nil {
			b.Fatal(err)
		}
		written := b.Elapsed()
		again := pool.New()
		if _, err := p.Take(b.Context(), "p", origin, again.Load); err != nil || again.Len() != n {
			b.Fatalf("%d tickets, %v", again.Len(), err)
		}
		writing, reading = writing+(written-began).Seconds(), reading+(b.Elapsed()-written).Seconds()
	}
	b.ReportMetric(writing/float64(b.N), "s/write")
	b.ReportMetric(reading/float64(b.N), "s/read")
	b.ReportMetric(float64(bytes)/n, "B/ticket")
}
