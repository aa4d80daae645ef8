package pool_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// A crowd comes, goes and moves to other slots: its players are counted as one would count them.
func TestPlayersAreCounted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ix, tickets := pool.New(), map[string]*pb.Ticket{}
	most := 0
	for step := range 12_000 {
		id := fmt.Sprint("t", random.IntN(3000))
		ix.Drop(id)
		delete(tickets, id)
		if random.IntN(step/6000*8+2) == 0 { // later most of them go, so that the others move
			one := &pb.Ticket{Id: id, Created: int64(step + 1), Owner: id}
			for i := range max(0, random.IntN(8)-4) {
				one.Players = append(one.Players, &pb.Player{Id: fmt.Sprint(id, "/", i)})
			}
			for i := range random.IntN(3) {
				one.Queues = append(one.Queues, fmt.Sprint("queue-", (step+i)%5))
			}
			put(t, ix, one)
			tickets[id] = one
		}
		if step%100 > 0 {
			continue
		}
		all, queues, more := int64(0), map[string]int64{}, map[string]int64{}
		for _, one := range tickets {
			n := int64(len(playersOf(one)))
			all += n
			for _, queue := range one.Queues {
				queues[queue]++
				more[queue] += n - 1
			}
		}
		want := map[string]int64{}
		for queue, n := range more {
			if n > 0 {
				want[queue] = queues[queue] + n
			}
		}
		most = max(most, len(want))
		ix.View(func(v pool.View) {
			if got := v.AllPlayers(); got != all {
				t.Fatalf("step %d: %d players, want %d", step, got, all)
			}
			if got := v.QueuePlayers(v.Queues(10)); !maps.Equal(got, want) {
				t.Fatalf("step %d: the queues have players %v, want %v", step, got, want)
			}
		})
	}
	if most < 5 {
		t.Errorf("at most %d queues had tickets of several players", most)
	}
	ix.Reset()
	ix.View(func(v pool.View) {
		if n := v.AllPlayers(); n != 0 {
			t.Errorf("%d players are left", n)
		}
	})
}
