package invocation

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/proposals"
)

// Proposals, pools and queues say how many players they have: for plain proposals and for others, and also if the
// function keeps its tickets. Where each ticket has one player, nothing is said.
func TestRunsCountPlayers(t *testing.T) {
	index := indexOf(t, 6, func(i int) *pb.Ticket { // of 1, 1, 1, 1, 3 and 4 players
		one := &pb.Ticket{Id: fmt.Sprint("t", i), Owner: fmt.Sprint("o", i), Created: int64(1000 + i),
			AttributeNames: []string{"kind"}, AttributeValues: []float64{float64(i / 4)}}
		for k := range max(0, i-3) * 3 / (i/5 + 1) {
			one.Players = append(one.Players, &pb.Player{Id: fmt.Sprint(i, "-", k)})
		}
		return one
	})
	f := matchfn.New(func(r *matchfn.Run) error {
		if r.Tickets() == 6 {
			r.Propose(1, 0, 1)
			r.Propose(2, 2, 4)
			r.Propose(3, 3, 5).MatchProperties([]byte(`{}`))
		}
		return nil
	}, matchfn.Attributes("kind"))
	most := 1.0
	pools := map[string]*pb.Pool{"all": {}, "alone": {Filters: []*pb.Filter{{Attribute: "kind", Max: &most}}}}
	last, err := new(Invoker).Invoke(t.Context(), &Run{
		Request: &pb.RunRequest{Pools: pools, Now: 9000}, Index: index, Began: time.Now(),
		Deadline: time.Now().Add(time.Hour),
	}, native{Function: f}, needsOf(f))
	if err != nil {
		t.Fatal(err)
	}
	if err := proposals.Unpack(last); err != nil {
		t.Fatal(err)
	}
	players := map[float64]int32{}
	for _, p := range last.GetProposals() {
		players[p.GetScore()] = p.GetPlayers()
	}
	if want := map[float64]int32{1: 0, 2: 4, 3: 4}; fmt.Sprint(players) != fmt.Sprint(want) {
		t.Errorf("proposals have players %v, want %v", players, want)
	}
	stats := last.GetStats()
	if all, alone := stats.GetPools()["all"], stats.GetPools()["alone"]; stats.GetPlayers() != 10 ||
		all.GetTickets() != 6 || all.GetPlayers() != 10 || alone.GetTickets() != 4 || alone.GetPlayers() != 0 {
		t.Errorf("counted %v", stats)
	}
}

// A function that keeps its tickets gets only the new ones. The counts include all.
func TestPlayersOfKeptTicketsAreCounted(t *testing.T) {
	w := newSession(t, func(*pairs) {})
	w.k.least = 1
	put := func(id string, players int) {
		t.Helper()
		w.created++
		one := &pb.Ticket{Id: id, Created: w.created, Owner: id, AttributeNames: []string{"kind"},
			AttributeValues: []float64{float64(w.created)}}
		for i := range players {
			one.Players = append(one.Players, &pb.Player{Id: fmt.Sprint(id, "-", i)})
		}
		raw, err := proto.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.index.Put(id, raw); err != nil {
			t.Fatal(err)
		}
	}
	counted := func(tickets, players int64) {
		t.Helper()
		_, stats, err := w.invoke()
		if err != nil {
			t.Fatal(err)
		}
		if all := stats.GetPools()["all"]; all.GetTickets() != tickets || all.GetPlayers() != players {
			t.Errorf("counted %v, want %d tickets of %d players", all, tickets, players)
		}
	}
	put("a", 1)
	put("b", 0)
	counted(2, 0)
	put("c", 3)
	counted(3, 5)
	w.index.Drop("a")
	counted(2, 4)
	w.index.View(func(v pool.View) {
		if n := v.AllPlayers(); n != 4 {
			t.Errorf("%d players wait in all", n)
		}
	})
	if (*w.runs)[len(*w.runs)-1] == 2 {
		t.Errorf("no run was of changes: %v", *w.runs)
	}
}
