package pool_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// ghost is what a function that keeps tickets knows: by number, which ticket it was told of and not told to forget.
type ghost map[uint32]string

// keeper does what a run does with an IncrementalSelection, and what the function does with what it is told.
type keeper struct {
	kept  pool.IncrementalSelection
	queue string
	begun bool
	known ghost
	s     pool.Selection
	first uint32
	went  int // runs that went on
}

func (k *keeper) run(t *testing.T, ix *pool.Index, pools map[string]*pb.Pool) {
	t.Helper()
	var went bool
	var created []float64
	ix.View(func(v pool.View) {
		v = v.In(k.queue)
		went = k.begun && !k.kept.Worn() && v.Advance(pools, &k.s, &k.kept)
		if !went {
			v.Select(pools, &k.s)
			v.Keep(&k.s, &k.kept)
		}
		created = make([]float64, k.s.N())
		v.Column(&k.s, pool.Created, created)
	})
	k.first = 0
	if went {
		k.went++
		k.first = uint32(k.kept.All().N())
		for _, number := range k.kept.Gone() {
			if k.known[number] == "" {
				t.Fatalf("number %d is gone, which the function does not have", number)
			}
			delete(k.known, number)
		}
		k.kept.Commit(&k.s, created)
	} else {
		k.known = ghost{}
	}
	k.begun = true
	for i := range k.s.N() {
		k.known[k.first+uint32(i)] = k.s.ID(i)
	}
}

// check compares what the function has with what pools select.
func (k *keeper) check(t *testing.T, ix *pool.Index, pools map[string]*pb.Pool) {
	t.Helper()
	var all pool.Selection
	ix.View(func(v pool.View) { v.In(k.queue).Select(pools, &all) })
	var want, got []string
	for i := range all.N() {
		want = append(want, all.ID(i))
	}
	for number, id := range k.known {
		got = append(got, id)
		if k.kept.All().ID(int(number)) != id {
			t.Fatalf("number %d is %s, not %s", number, k.kept.All().ID(int(number)), id)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || k.kept.Live() != len(want) {
		t.Fatalf("the function has %v, want %v; %d are live", got, want, k.kept.Live())
	}
	for name := range pools {
		n, _ := k.kept.Count(name)
		if want := len(all.Pool(name)); n != want {
			t.Fatalf("pool %s has %d tickets, want %d", name, n, want)
		}
		if numbers := all.Pool(name); len(numbers) > 0 {
			oldest := make([]float64, all.N())
			ix.View(func(v pool.View) { v.Column(&all, pool.Created, oldest) })
			if _, at := k.kept.Count(name); at != int64(oldest[numbers[0]]) {
				t.Fatalf("the oldest ticket of pool %s is of %d, want %v", name, at, oldest[numbers[0]])
			}
		}
	}
}

// Whatever happens to the index, a function that is told of changes has the tickets that its pools select.
func TestKeptTicketsAreThoseOfThePools(t *testing.T) {
	everyone := map[string]*pb.Pool{"all": {}}
	filtered := map[string]*pb.Pool{
		"low":  {Filters: []*pb.Filter{{Attribute: "a", Max: proto.Float64(5)}}},
		"rare": {Filters: []*pb.Filter{{Attribute: "rare", Min: proto.Float64(2)}, {Attribute: "a"}}},
		"new":  {Filters: []*pb.Filter{{Attribute: pool.Created, Min: proto.Float64(now + 500)}}},
	}
	seeds := uint64(60)
	if testing.Short() {
		seeds = 18 // each queue and each of the pools twice
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		pools := []map[string]*pb.Pool{everyone, filtered, nil}[seed%3]
		ix := pool.New()
		var ids []string
		next := 0
		add := func(id string) {
			ticket := &pb.Ticket{Id: id, Created: now + r.Int64N(1000)}
			switch { // with some seeds none has a queue
			case seed%9 == 0:
			case r.IntN(40) == 0:
				ticket.Queues = []string{"rare", "some"}
			case r.IntN(2) == 0:
				ticket.Queues = []string{"some"}
			}
			if r.IntN(10) > 0 {
				ticket.AttributeNames = append(ticket.AttributeNames, "a")
				ticket.AttributeValues = append(ticket.AttributeValues, float64(r.IntN(10)))
			}
			if r.IntN(30) == 0 {
				ticket.AttributeNames = append(ticket.AttributeNames, "rare")
				ticket.AttributeValues = append(ticket.AttributeValues, float64(r.IntN(10)))
			}
			put(t, ix, ticket)
		}
		k := keeper{queue: []string{"", "some", "rare"}[seed%9/3]}
		for range 80 {
			for range r.IntN(120) {
				ids = append(ids, fmt.Sprint("t", next))
				add(ids[len(ids)-1])
				next++
			}
			for range r.IntN(110) {
				if len(ids) == 0 {
					break
				}
				at := r.IntN(len(ids))
				if r.IntN(8) == 0 { // it comes again, as one that was claimed and released
					ix.Drop(ids[at])
					add(ids[at])
					continue
				}
				ix.Drop(ids[at])
				ids = slices.Delete(ids, at, at+1)
			}
			if r.IntN(40) == 0 {
				ix.Reset()
				ids = nil
			}
			k.run(t, ix, pools)
			k.check(t, ix, pools)
			for number := range k.known {
				if r.IntN(12) > 0 {
					continue
				}
				if !k.kept.Propose(number) {
					t.Fatalf("number %d cannot be proposed", number)
				}
				if id := k.known[number]; r.IntN(2) == 0 { // it was matched
					ix.Drop(id)
					ids = slices.DeleteFunc(ids, func(other string) bool { return other == id })
				}
				delete(k.known, number)
			}
			if k.kept.Propose(1 << 30) {
				t.Fatal("a ticket that is not there was proposed")
			}
			if r.IntN(5) == 0 {
				k.again(t, ix)
			}
		}
		if k.went < 20 {
			t.Errorf("seed %d: only %d runs went on", seed, k.went)
		}
	}
}

// again lets the function have all tickets anew that it left over.
func (k *keeper) again(t *testing.T, ix *pool.Index) {
	t.Helper()
	left, known := 0, ghost{}
	for _, id := range k.known {
		if id != "" {
			left++
		}
	}
	var ok bool
	ix.View(func(v pool.View) { ok = v.Again(&k.s, &k.kept) })
	if !ok {
		return
	}
	if k.s.N() != left {
		t.Fatalf("%d tickets are left over, want %d", k.s.N(), left)
	}
	for i := range k.s.N() {
		known[uint32(i)] = k.s.ID(i)
	}
	k.known = known
}
