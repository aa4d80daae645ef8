package pool_test

import (
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// TestFilterHoldsWhatItSelects: what a filter says of a ticket alone is what it selects from an index.
func TestFilterHoldsWhatItSelects(t *testing.T) {
	ticket := &pb.Ticket{
		Created: 1000, AttributeNames: []string{"aim", "created", "skill"}, AttributeValues: []float64{-1, 7, 5},
		Players: []*pb.Player{{Id: "ann"}, {Id: "bob"}},
	}
	index := pool.New()
	if err := index.PutTicket("one", ticket); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		filter *pb.Filter
		value  float64
		has    bool
		holds  bool
	}{
		{&pb.Filter{Attribute: "skill"}, 5, true, true},
		{&pb.Filter{Attribute: "skill", Min: new(5.0)}, 5, true, true},
		{&pb.Filter{Attribute: "skill", Max: new(5.0)}, 5, true, false},
		{&pb.Filter{Attribute: "aim", Min: new(-1.0), Max: new(-1.0)}, -1, true, true},
		{&pb.Filter{Attribute: "luck"}, 0, false, false},
		{&pb.Filter{Attribute: "created", Min: new(1000.0), Max: new(1001.0)}, 1000, true, true},
		{&pb.Filter{Attribute: "created", Max: new(8.0)}, 1000, true, false},
		{&pb.Filter{Count: pool.CountPlayers, Min: new(2.0)}, 2, true, true},
		{&pb.Filter{Count: pool.CountPlayers, Min: new(3.0)}, 2, true, false},
		{&pb.Filter{Count: "pets"}, 0, false, false},
		{&pb.Filter{Count: "pets", Attribute: "skill"}, 0, false, false},
	} {
		value, has := pool.ValueOf(c.filter, ticket)
		if value != c.value || has != c.has || (has && pool.Holds(c.filter, value)) != c.holds {
			t.Errorf("%v: %v, %v", c.filter, value, has)
		}
		var s pool.Selection
		index.View(func(v pool.View) { v.Select(map[string]*pb.Pool{"p": {Filters: []*pb.Filter{c.filter}}}, &s) })
		if s.N() > 0 != c.holds {
			t.Errorf("%v: %d tickets were selected", c.filter, s.N())
		}
	}
	alone := &pb.Ticket{Owner: "ann"}
	if n, has := pool.ValueOf(&pb.Filter{Count: pool.CountPlayers}, alone); n != 1 || !has {
		t.Errorf("a ticket that names no players has %v, %v", n, has)
	}
}
