package pool_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// list lists all tickets that are asked for, in pages, and checks that the totals agree.
func list(t *testing.T, ix *pool.Index, queue string, pools map[string]*pb.Pool, l *pb.Listing,
	createdOf map[string]int64) (all []string) {
	t.Helper()
	for more := true; more; {
		var listed *pb.Listed
		ix.View(func(v pool.View) { listed = v.In(queue).List(pools, l) })
		ids := listed.GetTickets()
		more = listed.GetMore()
		if len(ids) > int(l.GetLimit()) || more && len(ids) == 0 {
			t.Fatalf("a page has %d tickets of %d, more: %v", len(ids), l.GetLimit(), more)
		}
		all = append(all, ids...)
		if len(ids) > 0 {
			l.After, l.AfterCreated = ids[len(ids)-1], listed.GetLastCreated()
			if l.GetAfterCreated() != createdOf[l.GetAfter()] {
				t.Fatalf("%s was created at %d, not %d", l.GetAfter(), createdOf[l.GetAfter()], l.GetAfterCreated())
			}
		}
		if !more && listed.GetTotal() != int64(len(all)) {
			t.Fatalf("%d tickets are listed, and the total is %d", len(all), listed.GetTotal())
		}
	}
	return all
}

func TestListHasAllTicketsInOrder(t *testing.T) {
	ix, r := pool.New(), rand.New(rand.NewPCG(1, 2))
	var tickets []*pb.Ticket
	createdOf := map[string]int64{}
	for i := range 500 {
		one := &pb.Ticket{Id: fmt.Sprintf("t%d", i), Owner: fmt.Sprint("p", r.IntN(100)), Created: now + r.Int64N(50),
			AttributeNames: []string{"skill"}, AttributeValues: []float64{float64(r.IntN(10))}}
		switch r.IntN(4) {
		case 0:
			one.Queues = []string{"quick"}
		case 1:
			one.Queues = []string{"quick", "slow"}
		case 2:
			one.Players = []*pb.Player{{Id: fmt.Sprint("p", r.IntN(100))}, {Id: fmt.Sprint("q", i)}}
		}
		put(t, ix, one)
		createdOf[one.Id] = one.Created
		tickets = append(tickets, one)
	}
	for i := 0; i < 500; i += 7 { // those that are gone are not listed
		ix.Drop(tickets[i].GetId())
		tickets[i] = nil
	}
	isOf := func(k *pb.Ticket, player string) bool {
		if len(k.GetPlayers()) == 0 {
			return k.GetOwner() == player
		}
		return slices.ContainsFunc(k.GetPlayers(), func(p *pb.Player) bool { return p.GetId() == player })
	}
	between := func(low, high float64) *pb.Filter { return &pb.Filter{Attribute: "skill", Min: &low, Max: &high} }
	pools := map[string]*pb.Pool{
		"low": {Filters: []*pb.Filter{between(0, 3)}}, "high": {Filters: []*pb.Filter{between(7, 9)}},
	}
	inPools := func(k *pb.Ticket) bool { v := k.GetAttributeValues()[0]; return v < 3 || v >= 7 && v < 9 }
	for name, c := range map[string]struct {
		queue string
		pools map[string]*pb.Pool
		l     *pb.Listing
		want  func(k *pb.Ticket) bool
	}{
		"everybody": {"", nil, &pb.Listing{EveryQueue: true}, func(*pb.Ticket) bool { return true }},
		"a queue":   {"slow", nil, &pb.Listing{}, func(k *pb.Ticket) bool { return slices.Contains(k.GetQueues(), "slow") }},
		"no queue":  {"", nil, &pb.Listing{}, func(k *pb.Ticket) bool { return len(k.GetQueues()) == 0 }},
		"pools":     {"", pools, &pb.Listing{EveryQueue: true}, inPools},
		"filters of pools": {"quick", pools, &pb.Listing{Filters: []*pb.Filter{between(1, 8)}}, func(k *pb.Ticket) bool {
			v := k.GetAttributeValues()[0]
			return slices.Contains(k.GetQueues(), "quick") && inPools(k) && v >= 1 && v < 8
		}},
		"a player": {"", nil, &pb.Listing{EveryQueue: true, Player: "p7"}, func(k *pb.Ticket) bool { return isOf(k, "p7") }},
		"a player of one ticket": {"", nil, &pb.Listing{EveryQueue: true, Player: "q5"},
			func(k *pb.Ticket) bool { return isOf(k, "q5") }},
		"nobody": {"", nil, &pb.Listing{EveryQueue: true, Player: "x"}, func(*pb.Ticket) bool { return false }},
	} {
		var want []string
		for _, k := range tickets {
			if k != nil && c.want(k) {
				want = append(want, k.GetId())
			}
		}
		for _, limit := range []int32{1, 3, 50, 1000} {
			c.l.Limit, c.l.After = limit, ""
			got := list(t, ix, c.queue, c.pools, c.l, createdOf)
			if !slices.IsSortedFunc(got, func(a, b string) int { return int(createdOf[a] - createdOf[b]) }) {
				t.Errorf("%s, %d at a time: not in the order of their creation", name, limit)
			}
			sorted := slices.Sorted(slices.Values(got))
			if slices.Sort(want); !slices.Equal(sorted, want) {
				t.Errorf("%s, %d at a time: got %d tickets, want %d", name, limit, len(got), len(want))
			}
		}
	}
}

func TestListIsCountedAndGivenUp(t *testing.T) {
	ix := pool.New()
	for i := range 10_000 {
		put(t, ix, &pb.Ticket{Id: fmt.Sprint(i), Owner: "p", Created: now})
	}
	w := pool.Work{}
	ix.ViewFor(&w, func(v pool.View) { v.List(nil, &pb.Listing{Limit: 10}) })
	if w.Cells < 10_000 || w.Cells > 200_000 || w.Late() {
		t.Errorf("%d cells were counted for 10,000 tickets", w.Cells)
	}
	w = pool.Work{Deadline: time.Now().Add(-time.Second)}
	ix.ViewFor(&w, func(v pool.View) {
		if l := v.List(nil, &pb.Listing{Limit: 10}); len(l.GetTickets()) > 0 || !w.Late() {
			t.Errorf("late: got %d tickets", len(l.GetTickets()))
		}
	})
}
