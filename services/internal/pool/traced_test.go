package pool_test

import (
	"fmt"
	"maps"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
)

// TestMarksOfSampledTickets come and go with their tickets, and only those of the pools are told.
func TestMarksOfSampledTickets(t *testing.T) {
	ix := pool.New()
	const n = 5000 // enough that holes are closed when most of them go
	for i := range n {
		ticket := &pb.Ticket{Id: fmt.Sprint("t", i), Created: now + int64(i), AttributeNames: []string{"side"}, AttributeValues: []float64{float64(i % 2)}}
		if i%1000 == 0 || i%1000 == 1 {
			ticket.Trace = fmt.Appendf(nil, "mark of %d", i)
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
			t.Errorf("%d are told, %d are counted", len(got), s.Traced())
		}
		return got
	}
	want := map[string]string{"t1": "mark of 1", "t1001": "mark of 1001", "t2001": "mark of 2001", "t3001": "mark of 3001", "t4001": "mark of 4001"}
	if got := traces(odd); !maps.Equal(got, want) {
		t.Errorf("odd ones: %v", got)
	}
	for i := range n - 10 {
		ix.Drop(fmt.Sprint("t", i))
	}
	put(t, ix, &pb.Ticket{Id: "late", Created: now, Trace: []byte("its mark")})
	put(t, ix, &pb.Ticket{Id: "later", Created: now, Trace: []byte("its mark")})
	put(t, ix, &pb.Ticket{Id: "later", Created: now})
	if got := traces(everyone); !maps.Equal(got, map[string]string{"late": "its mark"}) {
		t.Errorf("what is left: %v", got)
	}
	ix.Reset()
	if got := traces(everyone); len(got) > 0 {
		t.Errorf("of an empty index: %v", got)
	}
}
