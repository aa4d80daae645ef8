package director_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/observe/telemetry/telemetrytest"
)

// The leader measures the waiting players that the last run counted, and the players in its matches.
func TestLeaderMeasuresPlayers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lives(t.Context(), "r")
	ids := w.create(4)
	w.serve("teams", func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
		one := of("x", ids[0], ids[1])
		one.Players = 5
		_ = answer(&pb.RunPart{Last: true, Proposals: []*pb.Proposal{one}, Stats: &pb.RunStats{
			Players: 9, Queues: map[string]int64{"ranked": 2, "lost": 1, "gone": 1},
			QueuePlayers: map[string]int64{"ranked": 6, "lost": 3},
			Pools:        map[string]*pb.PoolCount{"all": {Tickets: 2, Oldest: 1, Players: 4}},
		}})
	})
	meter, measured := telemetrytest.New()
	w.director("a", times(), func(o *director.Options) { o.Meter = meter })
	w.put(project, "teams", &pb.Config{Queue: "ranked", Pools: map[string]*pb.Pool{"all": {}}})
	w.until("players are measured", func() bool {
		return measured.Value(t, "matchmaker.players.waiting", "project", project) == 9 &&
			measured.Value(t, "matchmaker.tickets.waiting", "project", project) == 2 &&
			measured.Sum(t, "matchmaker.match.players", "project", project) == 5
	})
	for name, want := range map[string]float64{
		"matchmaker.pool.players": 4, "matchmaker.queue.players": 6, "matchmaker.queue.waiting": 2,
		"matchmaker.queue.unserved": 2, "matchmaker.queue.unserved.players": 4,
	} {
		if got := measured.Value(t, name, "project", project); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// Players invent names of queues. However many tickets wait in them, the queues that configs serve are measured.
func TestInventedQueuesHideNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lives(t.Context(), "r")
	w.create(1)
	meter, measured := telemetrytest.New()
	w.director("a", times(), func(o *director.Options) { o.Meter = meter })
	is := func(name string) bool {
		return measured.Value(t, "matchmaker.queue.waiting", "project", project, "queue", name) == 2 &&
			measured.Value(t, "matchmaker.queue.players", "project", project, "queue", name) == 5
	}
	for _, name := range []string{"casual", "ranked"} {
		told := map[string]int64{name: 2}
		for n := range pool.MostQueues - 1 {
			told[fmt.Sprintf("invented-%d", n)] = 3
		}
		var ran atomic.Bool
		w.serve(name, func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
			if name == "casual" && ran.Swap(true) {
				return // the last run that tells anything is the other config's
			}
			_ = answer(&pb.RunPart{Last: true, Stats: &pb.RunStats{Players: 9, Queues: told,
				QueuePlayers: map[string]int64{name: 5}}})
		})
		w.put(project, name, &pb.Config{Queue: name})
		w.until(name+" is measured", func() bool { return is(name) })
	}
	if !is("casual") {
		t.Error("a queue is hidden by invented ones")
	}
}
