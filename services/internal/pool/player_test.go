package pool_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
)

// playersOf are those of a ticket.
func playersOf(t *pb.Ticket) (ids []string) {
	for _, p := range t.GetPlayers() {
		ids = append(ids, p.GetId())
	}
	if ids == nil && t.GetOwner() != "" {
		ids = []string{t.GetOwner()}
	}
	return ids
}

// oldest are the tickets that the pools select, without those that share a player with an older one that is selected.
func oldest(tickets map[string]*pb.Ticket, pools map[string]*pb.Pool) []string {
	all := slices.SortedFunc(maps.Values(tickets), func(a, b *pb.Ticket) int { return int(a.Created - b.Created) })
	var ids []string
	seen := map[string]bool{}
	for _, t := range all {
		selected := len(pools) == 0
		for _, p := range pools {
			f := p.Filters[0]
			selected = selected || f.GetMin() <= t.AttributeValues[0] && t.AttributeValues[0] < f.GetMax()
		}
		players := playersOf(t)
		if !selected || slices.ContainsFunc(players, func(id string) bool { return seen[id] }) {
			continue
		}
		for _, id := range players {
			seen[id] = true
		}
		ids = append(ids, t.Id)
	}
	return ids
}

// A crowd comes and goes, in any order, with few players who have several tickets, alone and with others.
func TestSelectionHasNoPlayerTwice(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		name := func() string { return fmt.Sprint("player-", random.IntN(1+int(seed)*20)) }
		ix, tickets := pool.New(), map[string]*pb.Ticket{}
		pools := []map[string]*pb.Pool{nil, {"a": {Filters: []*pb.Filter{below("skill", 0.5)}}}, {
			"a": {Filters: []*pb.Filter{below("skill", 0.7)}},
			"b": {Filters: []*pb.Filter{{Attribute: "skill", Min: new(0.4), Max: new(1.0)}}},
		}}
		var s pool.Selection
		for step := range 4000 {
			id := fmt.Sprint("t", random.IntN(2000))
			if one := tickets[id]; one != nil && random.IntN(3) > 0 || step > 2500 && random.IntN(2) > 0 {
				ix.Drop(id)
				delete(tickets, id)
				continue
			}
			one := &pb.Ticket{Id: id, Created: int64(1 + random.IntN(1<<40)), AttributeNames: []string{"skill"},
				AttributeValues: []float64{random.Float64()}, Owner: name()}
			for range max(0, random.IntN(6)-2) {
				if player := name(); !slices.Contains(playersOf(&pb.Ticket{Players: one.Players}), player) {
					one.Players = append(one.Players, &pb.Player{Id: player, AttributeNames: []string{"role"},
						AttributeValues: []float64{1}})
				}
			}
			raw, err := proto.Marshal(one)
			if err != nil {
				t.Fatal(err)
			}
			if err := ix.Put(id, raw); err != nil {
				t.Fatal(err)
			}
			tickets[id] = one
			if step%200 != 0 {
				continue
			}
			for _, p := range pools {
				ix.View(func(v pool.View) { v.Select(p, &s) })
				var got []string
				for i := range s.N() {
					got = append(got, s.ID(i))
				}
				if want := oldest(tickets, p); !slices.Equal(got, want) {
					t.Fatalf("seed %d, step %d: %d tickets are selected, want %d", seed, step, len(got), len(want))
				}
				for name := range p {
					for _, i := range s.Pool(name) {
						f := p[name].Filters[0]
						if skill := tickets[s.ID(int(i))].AttributeValues[0]; skill < f.GetMin() || skill >= f.GetMax() {
							t.Fatalf("seed %d: pool %s has a ticket of skill %v", seed, name, skill)
						}
					}
				}
				count := map[string]int{}
				for _, one := range tickets {
					for _, player := range playersOf(one) {
						count[player]++
					}
				}
				for i := range s.N() {
					if !s.Shared(uint32(i)) && slices.ContainsFunc(playersOf(tickets[s.ID(i)]), func(player string) bool {
						return count[player] > 1
					}) {
						t.Fatalf("seed %d: ticket %s shares a player, and is not said to", seed, s.ID(i))
					}
				}
			}
		}
	}
}

// A selection that goes on does not add a second ticket of a player whose first is kept.
func TestKeptSelectionEndsWhenAPlayerComesAgain(t *testing.T) {
	ix := pool.New()
	put := func(id, owner string, created int64) {
		t.Helper()
		raw, err := proto.Marshal(&pb.Ticket{Id: id, Owner: owner, Created: created})
		if err != nil {
			t.Fatal(err)
		}
		if err := ix.Put(id, raw); err != nil {
			t.Fatal(err)
		}
	}
	var s pool.Selection
	var k pool.Kept
	keep := func() bool {
		ix.View(func(v pool.View) {
			v.Select(nil, &s)
			v.Keep(&s, &k)
		})
		return !s.Hides()
	}
	advance := func() (goesOn bool) {
		ix.View(func(v pool.View) { goesOn = v.Advance(nil, &s, &k) })
		if goesOn {
			k.Commit(&s, make([]float64, s.N()))
		}
		return goesOn
	}
	put("a1", "ada", 1)
	put("b1", "bob", 2)
	if !keep() {
		t.Error("two players hide a ticket")
	}
	put("c1", "carl", 3)
	if !advance() || s.N() != 1 || s.ID(0) != "c1" {
		t.Errorf("%d tickets are new", s.N())
	}
	put("a2", "ada", 4)
	if advance() {
		t.Errorf("%d tickets are new, and one is that of a player who is kept", s.N())
	}
	if keep() {
		t.Error("a second ticket of ada is not hidden")
	}
	ix.Drop("a1")
	if !keep() || s.N() != 3 {
		t.Errorf("%d tickets, hidden: %v", s.N(), s.Hides())
	}
	put("d1", "dora", 5)
	put("d2", "dora", 6)
	if advance() {
		t.Error("both tickets of dora are new")
	}
}

func TestSharedPlayersAreForgotten(t *testing.T) {
	ix := pool.New()
	put := func(id, owner string, created int64) {
		t.Helper()
		raw, err := proto.Marshal(&pb.Ticket{Id: id, Owner: owner, Created: created})
		if err != nil {
			t.Fatal(err)
		}
		if err := ix.Put(id, raw); err != nil {
			t.Fatal(err)
		}
	}
	var s pool.Selection
	selected := func() string {
		ix.View(func(v pool.View) { v.Select(nil, &s) })
		var ids []string
		for i := range s.N() {
			ids = append(ids, s.ID(i))
		}
		return strings.Join(ids, " ")
	}
	put("a1", "ada", 1)
	put("b1", "bob", 2)
	if got := selected(); got != "a1 b1" || s.AnyShared() {
		t.Errorf("selected %q, shared %v", got, s.AnyShared())
	}
	put("a2", "ada", 3)
	if got := selected(); got != "a1 b1" || !s.Shared(0) || s.Shared(1) {
		t.Errorf("selected %q", got)
	}
	ix.Drop("a1")
	if got := selected(); got != "b1 a2" {
		t.Errorf("selected %q", got)
	}
	put("a1", "ada", 1) // it waits again, at its old age
	if got := selected(); got != "a1 b1" {
		t.Errorf("selected %q", got)
	}
	ix.Drop("a1")
	ix.Drop("a2")
	put("a3", "ada", 4)
	if got := selected(); got != "b1 a3" || s.AnyShared() {
		t.Errorf("selected %q, shared %v", got, s.AnyShared())
	}
}
