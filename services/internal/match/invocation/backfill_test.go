package invocation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"matchmaker.dev/pkg/matchfn"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/match/invocation/invocationtest"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/proposals"
)

// native is an instance that needs no sandbox.
type native = invocationtest.Native

// indexOf is an index of n tickets.
func indexOf(t *testing.T, n int, ticket func(i int) *pb.Ticket) *pool.Index {
	t.Helper()
	index := pool.New()
	for i := range n {
		one := ticket(i)
		body, err := proto.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		if err := index.Put(one.GetId(), body); err != nil {
			t.Fatal(err)
		}
	}
	return index
}

// newBackfill is a backfill ticket as functions are shown it.
func newBackfill(id string, created int64, skill float64) *pb.Backfill {
	return &pb.Backfill{
		Id: id, Created: created, Version: created + 10, Generation: created + 100, Connection: id + ":1",
		AttributeNames: []string{"free", "skill"}, AttributeValues: []float64{float64(created), skill},
		Properties: map[string][]byte{"roster": []byte(id), "map": []byte("harbour")},
	}
}

// invoke runs a function on two tickets, of skill 1000 and 2000, and some backfill tickets.
func invoke(t *testing.T, pools map[string]*pb.Pool, shown bool, f func(*matchfn.Run),
	all ...*pb.Backfill) *pb.RunPart {
	t.Helper()
	index, backfills := indexOf(t, 2, func(i int) *pb.Ticket {
		return &pb.Ticket{Id: fmt.Sprint("t", i), Created: int64(i + 1), AttributeNames: []string{"skill"},
			AttributeValues: []float64{float64(1000 * (i + 1))}}
	}), pool.NewBackfills()
	for _, one := range all {
		if err := backfills.Put(one); err != nil {
			t.Fatal(err)
		}
	}
	function := matchfn.New(func(r *matchfn.Run) error { f(r); return nil })
	last, err := new(Invoker).Invoke(t.Context(), &Run{
		Request: &pb.RunRequest{Pools: pools, Now: 1000, Backfills: shown}, Index: index, Backfills: backfills,
		Began: time.Now(), Deadline: time.Now().Add(time.Minute),
	}, native{Function: function}, Needs{allAttributes: true, allProperties: true})
	if err != nil && last.GetError() == "" {
		t.Errorf("the error %v is not in the answer", err)
	}
	if err := proposals.Unpack(last); err != nil {
		t.Error(err)
	}
	return last
}

func TestFunctionsSeeBackfillTicketsThroughTheirPools(t *testing.T) {
	least, most := 1500.0, 3000.0
	pools := map[string]*pb.Pool{
		"high":    {Filters: []*pb.Filter{{Attribute: "skill", Min: &least, Max: &most}}},
		"nowhere": {Filters: []*pb.Filter{{Attribute: "region", Min: &least}}},
	}
	allocated := newBackfill("c", 3, 2500)
	allocated.Connection = ""
	last := invoke(t, pools, true, func(r *matchfn.Run) {
		if r.Tickets() != 1 || r.Backfills() != 2 {
			t.Fatalf("%d tickets, %d backfill tickets", r.Tickets(), r.Backfills())
		}
		if got := r.BackfillPool("high"); !slices.Equal(got, []uint32{0, 1}) {
			t.Errorf("pool high has %v", got)
		}
		if got := r.BackfillPool("nowhere"); len(got) != 0 {
			t.Errorf("pool nowhere has %v", got)
		}
		if !slices.Equal(r.BackfillCreated(), []float64{1, 3}) || !slices.Equal(r.BackfillVersion(), []int64{11, 13}) ||
			!slices.Equal(r.BackfillAttribute("free"), []float64{1, 3}) {
			t.Errorf("created %v, versions %v, free %v", r.BackfillCreated(), r.BackfillVersion(), r.BackfillAttribute("free"))
		}
		first, ok := r.BackfillConnection(0)
		if _, second := r.BackfillConnection(1); first != "a:1" || !ok || second {
			t.Errorf("connection %q, %v, and of one that is being allocated: %v", first, ok, second)
		}
		if roster, ok := r.BackfillProperty("roster").Of(1); string(roster) != "c" || !ok {
			t.Errorf("roster %q, %v", roster, ok)
		}
	}, newBackfill("a", 1, 1500), newBackfill("b", 2, 1499), allocated)
	if last.GetError() != "" {
		t.Error(last.GetError())
	}
	// A run whose request does not ask for backfill tickets.
	invoke(t, nil, false, func(r *matchfn.Run) {
		if r.Tickets() != 2 || r.Backfills() != 0 {
			t.Errorf("%d tickets, %d backfill tickets", r.Tickets(), r.Backfills())
		}
	}, newBackfill("a", 1, 1500))
}

func TestFunctionsChangeBackfillTickets(t *testing.T) {
	shown := newBackfill("a", 1, 1500)
	before := proto.Clone(shown)
	last := invoke(t, nil, true, func(r *matchfn.Run) {
		r.Propose(3, 0).UpdateBackfill(0)
		r.Propose(2, 1).UpdateBackfill(0).Attribute("free", 0).Attribute("full", 1).Attribute("skill", math.NaN()).
			Property("roster", []byte("a, t1")).Remove("map")
		r.Propose(1, 0, 1).CreateBackfill().Attribute("free", 6).Property("roster", []byte("t0, t1"))
		r.Propose(0, 0)
	}, shown)
	if last.GetError() != "" || len(last.GetProposals()) != 4 {
		t.Fatal(last)
	}
	for i, want := range []*pb.Filling{
		{Backfill: "a", Generation: 101},
		{Backfill: "a", Generation: 101, Contents: &pb.Backfill{
			AttributeNames: []string{"free", "full"}, AttributeValues: []float64{0, 1},
			Properties: map[string][]byte{"roster": []byte("a, t1")},
		}},
		{Contents: &pb.Backfill{
			AttributeNames: []string{"free"}, AttributeValues: []float64{6},
			Properties: map[string][]byte{"roster": []byte("t0, t1")},
		}},
		nil,
	} {
		if diff := cmp.Diff(want, last.GetProposals()[i].GetFilling(), protocmp.Transform()); diff != "" {
			t.Errorf("proposal %d: %s", i, diff)
		}
	}
	if diff := cmp.Diff(before, shown, protocmp.Transform()); diff != "" {
		t.Error("the index was changed:", diff)
	}
}

func TestBackfillTicketsHaveNoMoreThanAServerMaySend(t *testing.T) {
	for words, change := range map[string]func(matchfn.Backfill){
		"65 attributes": func(b matchfn.Backfill) {
			for i := range MaxBackfillAttributes - 1 {
				b.Attribute(fmt.Sprint("a", i), 1)
			}
		},
		"65 properties": func(b matchfn.Backfill) {
			for i := range MaxBackfillProperties - 1 {
				b.Property(fmt.Sprint("p", i), nil)
			}
		},
		"bytes": func(b matchfn.Backfill) { b.Property("roster", []byte(strings.Repeat("x", MaxBackfillBytes))) },
		"bytes of notes": func(b matchfn.Backfill) {
			b.Property(fields.Note, []byte(strings.Repeat("x", MaxBackfillNotes)))
		},
	} {
		last := invoke(t, nil, true, func(r *matchfn.Run) { change(r.Propose(1, 0).UpdateBackfill(0)) },
			newBackfill("a", 1, 1))
		if !strings.Contains(last.GetError(), words) || !strings.Contains(last.GetError(), "proposal 0") {
			t.Errorf("%s: %q", words, last.GetError())
		}
	}
	full := newBackfill("a", 1, 1)
	full.Properties = map[string][]byte{"x": []byte(strings.Repeat("x", MaxBackfillBytes-1000))}
	for i := range MaxBackfillProperties - 1 {
		full.Properties[fmt.Sprint(i)] = nil
	}
	last := invoke(t, nil, true, func(r *matchfn.Run) {
		r.Propose(1, 0).UpdateBackfill(0).Property(fields.Note+"x", []byte(strings.Repeat("x", MaxBackfillNotes-100)))
	}, full)
	if last.GetError() != "" {
		t.Error("a note beside what a server may send:", last.GetError())
	}
}

// A run sees the tickets and backfill tickets of its queue alone, and those without queues when it has none.
func TestRunsSeeTheirQueue(t *testing.T) {
	queues := [][]string{nil, {"ranked"}, {"casual"}, {"casual", "ranked"}}
	index, backfills := indexOf(t, len(queues), func(i int) *pb.Ticket {
		return &pb.Ticket{Id: fmt.Sprint("t", i), Created: int64(i + 1), Queues: queues[i]}
	}), pool.NewBackfills()
	for i, queue := range []string{"", "ranked", "casual"} {
		one := newBackfill(fmt.Sprint("b", i), int64(i+1), 1)
		one.Queue = &queue
		if err := backfills.Put(one); err != nil {
			t.Fatal(err)
		}
	}
	for queue, want := range map[string][2][]float64{
		"": {{1}, {1}}, "ranked": {{2, 4}, {2}}, "casual": {{3, 4}, {3}}, "nobody": {nil, nil},
	} {
		var tickets, games []float64
		function := matchfn.New(func(r *matchfn.Run) error {
			tickets, games = slices.Clone(r.Created()), slices.Clone(r.BackfillCreated())
			return nil
		})
		last, err := new(Invoker).Invoke(t.Context(), &Run{
			Request: &pb.RunRequest{Queue: queue, Now: 1000, Backfills: true, Census: map[string]*pb.Pool{"all": {}}},
			Index:   index, Backfills: backfills, Began: time.Now(), Deadline: time.Now().Add(time.Minute),
		}, native{Function: function}, Needs{allAttributes: true, allProperties: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(tickets, want[0]) || !slices.Equal(games, want[1]) {
			t.Errorf("queue %q: the function saw tickets of %v and games of %v, want %v", queue, tickets, games, want)
		}
		stats := last.GetStats()
		if got := stats.GetPopulation()["all"]; got != int64(len(want[0])) {
			t.Errorf("queue %q: the census counted %d", queue, got)
		}
		if got := stats.GetQueues(); len(got) != 2 || got["ranked"] != 2 || got["casual"] != 2 {
			t.Errorf("queue %q: the queues have %v", queue, got)
		}
		if got := stats.GetCrossing(); got != 1 {
			t.Errorf("queue %q: %d tickets wait in several queues, want 1", queue, got)
		}
	}
}
