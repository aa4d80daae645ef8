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
	"matchmaker.dev/services/internal/match/pool"
)

// playersOf are a ticket's players.
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

// A crowd comes and goes, in any order, with few players in several tickets, alone and with others. Promise 2.
func TestSelectionHasNoPlayerTwice(t *testing.T) {
	next := uint64(1)
	if testing.Short() {
		next = 4
	}
	for seed := uint64(0); seed < 20; seed += next {
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
					players := 0
					for _, i := range s.Pool(name) {
						players += len(playersOf(tickets[s.ID(int(i))]))
					}
					if got := s.PlayersOf(s.Pool(name)); max(got, len(s.Pool(name))) != players {
						t.Fatalf("seed %d, step %d: pool %s has %d players, want %d", seed, step, name, got, players)
					}
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

// A selection that goes on has, in every run, the tickets that a new one would have: a second ticket of a player is
// hidden, and comes when the first one is gone, whatever comes, leaves, is proposed, or comes back at its old age.
func TestKeptSelectionRemembersWhatIsHidden(t *testing.T) {
	goesOn, hides, overtaken := 0, 0, 0
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 2))
		name := func() string { return fmt.Sprint("player-", random.IntN(40+int(seed)*20)) }
		pools := []map[string]*pb.Pool{nil, {"a": {Filters: []*pb.Filter{below("skill", 0.7)}}, "b": {
			Filters: []*pb.Filter{{Attribute: "skill", Min: new(0.4), Max: new(1.0)}}}}}[seed%2]
		ix, created := pool.New(), int64(0)
		var ids []string
		var s, fresh pool.Selection
		var k pool.IncrementalSelection
		begun := false
		for step := range 400 {
			for range random.IntN(4) {
				created++
				one := &pb.Ticket{Id: fmt.Sprint("t", created), Created: 10 * created, Owner: name(),
					AttributeNames: []string{"skill"}, AttributeValues: []float64{random.Float64()}}
				if random.IntN(10) == 0 {
					one.Created = 1 + random.Int64N(10*created) // it waits again
				}
				if random.IntN(4) == 0 {
					one.Players = []*pb.Player{{Id: name()}, {Id: "with " + name()}}
				}
				raw, err := proto.Marshal(one)
				if err != nil {
					t.Fatal(err)
				}
				if err := ix.Put(one.Id, raw); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, one.Id)
			}
			for range random.IntN(4) {
				if i := random.IntN(1 + len(ids)); i < len(ids) {
					ix.Drop(ids[i])
					ids = slices.Delete(ids, i, i+1)
				}
			}
			var made []float64
			ix.View(func(v pool.View) {
				v.Select(pools, &fresh)
				if begun && v.Advance(pools, &s, &k) {
					goesOn++
					made = make([]float64, s.N())
					v.Column(&s, pool.Created, made)
					return
				}
				if begun {
					overtaken++
				}
				v.Select(pools, &s)
				v.Keep(&s, &k)
			})
			begun = true
			if made != nil {
				k.Commit(&s, made)
			}
			if fresh.Hides() {
				hides++
			}
			compareKept(t, &k, &fresh, pools, fmt.Sprint("seed ", seed, ", step ", step))
			for number := range uint32(k.All().N()) {
				if random.IntN(30) == 0 {
					k.Propose(number)
				}
			}
		}
	}
	if goesOn < 10_000 || hides < 3_000 || overtaken > goesOn/4 {
		t.Errorf("%d runs went on, %d hid tickets, %d began anew", goesOn, hides, overtaken)
	}
}

// compareKept fails unless the tickets that are kept equal a fresh selection.
func compareKept(t *testing.T, k *pool.IncrementalSelection, fresh *pool.Selection, pools map[string]*pb.Pool,
	when string) {
	t.Helper()
	got := k.Waiting()
	var want []string
	shared := map[string]bool{}
	for i := range fresh.N() {
		want = append(want, fresh.ID(i))
		shared[fresh.ID(i)] = fresh.Shared(uint32(i))
	}
	slices.Sort(want)
	ids := slices.Sorted(maps.Values(got))
	if !slices.Equal(ids, want) {
		t.Fatalf("%s: %d are kept, want %d:\n%v\n%v", when, len(ids), len(want), ids, want)
	}
	for number, id := range got {
		if shared[id] && !k.All().Shared(number) {
			t.Fatalf("%s: ticket %s shares a player, and is not said to", when, id)
		}
	}
	for name := range pools {
		if n, _ := k.Count(name); n != len(fresh.Pool(name)) {
			t.Fatalf("%s: pool %s has %d, want %d", when, name, n, len(fresh.Pool(name)))
		}
		if n, want := k.PlayersOf(name), fresh.PlayersOf(fresh.Pool(name)); n != want {
			t.Fatalf("%s: pool %s has %d players, want %d", when, name, n, want)
		}
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
