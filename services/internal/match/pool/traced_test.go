package pool_test

import (
	"fmt"
	"maps"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

func TestSelectionHasTheSpansOfItsSampledTickets(t *testing.T) {
	ix := pool.New()
	const n = 5000 // enough that the index is compacted when most of them are dropped
	for i := range n {
		ticket := &pb.Ticket{
			Id: fmt.Sprint("t", i), Created: now + int64(i),
			AttributeNames: []string{"side"}, AttributeValues: []float64{float64(i % 2)},
		}
		if i%1000 == 0 || i%1000 == 1 {
			ticket.Trace = fmt.Appendf(nil, "span of %d", i)
		}
		put(t, ix, ticket)
	}
	one := 1.0
	odd := map[string]*pb.Pool{"odd": {Filters: []*pb.Filter{{Attribute: "side", Min: &one, Max: &one}}}}
	var s pool.Selection
	traces := func(pools map[string]*pb.Pool) map[string]string {
		ix.View(func(v pool.View) { v.Select(pools, &s) })
		got := map[string]string{}
		for i := range s.N() {
			if trace, sampled := s.Trace(uint32(i)); sampled {
				got[s.ID(i)] = trace
			}
		}
		if len(got) != s.Traced() {
			t.Errorf("%d have a span, %d are counted", len(got), s.Traced())
		}
		return got
	}
	want := map[string]string{
		"t1": "span of 1", "t1001": "span of 1001", "t2001": "span of 2001", "t3001": "span of 3001",
		"t4001": "span of 4001",
	}
	if got := traces(odd); !maps.Equal(got, want) {
		t.Errorf("odd ones: %v", got)
	}
	for i := range n - 10 {
		ix.Drop(fmt.Sprint("t", i))
	}
	put(t, ix, &pb.Ticket{Id: "late", Created: now, Trace: []byte("its span")})
	put(t, ix, &pb.Ticket{Id: "later", Created: now, Trace: []byte("its span")})
	put(t, ix, &pb.Ticket{Id: "later", Created: now})
	if got := traces(everyone); !maps.Equal(got, map[string]string{"late": "its span"}) {
		t.Errorf("what is left: %v", got)
	}
	ix.Reset()
	if got := traces(everyone); len(got) > 0 {
		t.Errorf("of an empty index: %v", got)
	}
}
