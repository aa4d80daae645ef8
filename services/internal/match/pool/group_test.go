package pool_test

import (
	"fmt"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// party is a ticket of so many players with an attribute each.
func party(i, players int) *pb.Ticket {
	one := &pb.Ticket{Id: fmt.Sprintf("%032x", i), Owner: fmt.Sprintf("player-%d-0", i), Created: int64(1000 + i),
		AttributeNames: []string{"skill"}, AttributeValues: []float64{float64(i)}}
	for k := range players {
		one.Players = append(one.Players, &pb.Player{Id: fmt.Sprintf("player-%d-%d", i, k),
			AttributeNames: []string{"role", "skill"}, AttributeValues: []float64{float64(k), 1}})
	}
	return one
}

func putAll(tb testing.TB, ix *pool.Index, n int, ticket func(i int) *pb.Ticket) {
	tb.Helper()
	for i := range n {
		one := ticket(i)
		raw, err := proto.Marshal(one)
		if err != nil {
			tb.Fatal(err)
		}
		if err := ix.Put(one.GetId(), raw); err != nil {
			tb.Fatal(err)
		}
	}
}

// What players take is counted, whatever they have, and is given back when they leave.
func TestSizeCountsPlayers(t *testing.T) {
	const n = 20_000
	for what, ticket := range map[string]func(i int) *pb.Ticket{
		"parties of three": func(i int) *pb.Ticket { return party(i, 3) },
		"names that nobody else has": func(i int) *pb.Ticket {
			one := party(i, 1)
			for k := range 20 {
				one.Players[0].AttributeNames = append(one.Players[0].AttributeNames, fmt.Sprintf("own-%d-%d", i, k))
				one.Players[0].AttributeValues = append(one.Players[0].AttributeValues, 1)
			}
			return one
		},
		"large properties": func(i int) *pb.Ticket {
			one := party(i, 2)
			one.Players[1].Properties = map[string][]byte{"kit": make([]byte, 500)}
			return one
		},
	} {
		t.Run(what, func(t *testing.T) {
			before := heap()
			ix := pool.New()
			putAll(t, ix, n, ticket)
			took, says := heap()-before, ix.Size()
			if says < took*2/3 || says > took*3/2 {
				t.Errorf("it takes %d bytes a ticket and says %d", took/n, says/n)
			}
			for i := range n {
				ix.Drop(fmt.Sprintf("%032x", i))
			}
			if left := heap() - before; left > took/10 {
				t.Errorf("%d bytes are left of %d", left, took)
			}
			runtime.KeepAlive(ix)
		})
	}
}

// A damaged player makes a damaged ticket, which changes nothing.
func TestDamagedPlayerIsRefused(t *testing.T) {
	ix := pool.New()
	for _, player := range []string{
		"\x12\x01a", // a name without a value
		"\x1a\x08\x00\x00\x00\x00\x00\x00\x00\x00", // a value without a name
		"\x1a\x03abc",               // half a value
		"\x0a\x05ab",                // an id that ends early
		"\x0a\x01a\x22\x02\x0a\x05", // a property that ends early
	} {
		raw := append([]byte{0x42, byte(len(player))}, player...)
		if err := ix.Put("t", raw); err == nil || ix.Len() > 0 {
			t.Errorf("%q: %v, %d tickets", player, err, ix.Len())
		}
	}
}

// BenchmarkPlayers puts tickets of one player and of three, and reads an attribute of all players.
func BenchmarkPlayers(b *testing.B) {
	const n = 100_000
	for _, players := range []int{0, 1, 3} {
		bodies, ids := make([][]byte, n), make([]string, n)
		for i := range n {
			one := party(i, players)
			var err error
			if bodies[i], err = proto.Marshal(one); err != nil {
				b.Fatal(err)
			}
			ids[i] = one.GetId()
		}
		b.Run(fmt.Sprint("put/", players), func(b *testing.B) {
			for b.Loop() {
				filled(b, ids, bodies)
			}
			perTicket(b, n)
		})
		ix := filled(b, ids, bodies)
		var s pool.Selection
		ix.View(func(v pool.View) { v.Select(nil, &s) })
		b.Run(fmt.Sprint("ticket-columns/", players), func(b *testing.B) {
			role, skill := make([]float64, n), make([]float64, n)
			for b.Loop() {
				ix.View(func(v pool.View) {
					v.Column(&s, "skill", skill)
					v.Column(&s, "created", role)
				})
			}
			perTicket(b, n)
		})
		if players == 0 {
			continue
		}
		b.Run(fmt.Sprint("player-columns/", players), func(b *testing.B) {
			role, skill, starts := make([]float64, n*players), make([]float64, n*players), make([]uint32, n+1)
			for b.Loop() {
				ix.View(func(v pool.View) {
					if p := v.Players(&s); p.N != n*players {
						b.Fatal(p)
					}
					s.Starts(nil, starts)
					s.PlayerColumns(nil, []string{"role", "skill"}, [][]float64{role, skill})
				})
			}
			perTicket(b, n)
		})
	}
}
