package director

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/match/segmentation"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/quota"
)

// Many configs over the same tickets together run no more often than a few; as many over others do.
func TestConfigsOverEqualPoolsShareTheirRuns(t *testing.T) {
	ctx, log := t.Context(), slog.New(slog.DiscardHandler)
	const configs, seconds, each = 20, 5, 100 // runs a second of a config that is alone
	runs := func(pools func(i int) (string, map[string]*pb.Pool)) (n int) {
		now := time.Unix(1_700_000_000, 0)
		l := &leader{
			scope: scope{
				Options: &Options{Now: func() time.Time { return now }, Settings: times()}, log: log,
				observed: observe.New(telemetry.Meter{}, telemetry.Tracer{}).Project("demo", 1, log),
				memory:   quota.NewShares[string](proposalMemory), inbox: newInbox(),
			},
			settler: &settler{}, maintenance: &maintenance{next: now.Add(time.Hour)},
			budget: schedule.NewBudget(1000), segments: map[string][]*segment{}, runners: newRunners(),
		}
		for i := range configs {
			c := &pb.Config{Id: fmt.Sprint(i)}
			c.Queue, c.Pools = pools(i)
			l.segments[c.Id] = l.newSegments(ctx, c, segmentation.Divide(c.GetPools()), nil)
			l.budget.Account(c.Id).Found(now)
		}
		for end := now.Add(seconds * time.Second); now.Before(end); now = now.Add(time.Millisecond) {
			for s := range l.all() {
				s.Touch()
			}
			starts, _ := l.state().Next(now)
			for _, s := range starts {
				n++
				s.run = &run{segment: s, Run: bus.NewRun(0, func() {})}
				s.Start(now)
				l.answer(ctx, part{run: s.run, RunPart: &pb.RunPart{Runner: "r"}})
				l.answer(ctx, part{run: s.run, RunPart: &pb.RunPart{Last: true, Stats: &pb.RunStats{Charge: 1}}})
			}
		}
		return n
	}
	pool := func(name string, most float64) map[string]*pb.Pool {
		return map[string]*pb.Pool{name: {Filters: []*pb.Filter{{Attribute: "skill", Max: new(most)}}}}
	}
	const alone = configs * seconds * each
	for name, c := range map[string]struct {
		pools func(i int) (string, map[string]*pb.Pool)
		equal bool
	}{
		"equal pools":             {func(i int) (string, map[string]*pb.Pool) { return "q", pool(fmt.Sprint(i), 9) }, true},
		"no pools":                {func(int) (string, map[string]*pb.Pool) { return "", nil }, true},
		"other filters":           {func(i int) (string, map[string]*pb.Pool) { return "q", pool("p", float64(i)) }, false},
		"equal pools, own queues": {func(i int) (string, map[string]*pb.Pool) { return fmt.Sprint(i), pool("p", 9) }, false},
	} {
		got := runs(c.pools)
		if c.equal && (got > alone/3 || got < alone/10) || !c.equal && got < alone*9/10 {
			t.Errorf("%s: %d runs, configs that are alone would have %d", name, got, alone)
		}
	}
}
