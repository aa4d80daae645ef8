package director

import (
	"log/slog"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/match/segmentation"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// crowdPools are pools of which one is divided into segments of ten tickets.
func crowdPools() map[string]*pb.Pool {
	low, high, stddev := 0.0, 100.0, 10.0
	return map[string]*pb.Pool{
		"all": {},
		"crowd": {Filters: []*pb.Filter{{Attribute: "skill", Min: &low, Max: &high, Segmentation: &pb.Segmentation{
			Distribution: segmentation.Normal, Behavior: segmentation.BucketSize, Value: 10, Stddev: &stddev,
		}}}},
	}
}

// When the tickets no longer fit the segments, runs under way go on, no new one starts, and their proposals are settled
// before the segments change.
func TestSegmentsChangeBetweenRuns(t *testing.T) {
	ctx, now, log := t.Context(), time.Unix(1_700_000_000, 0), slog.New(slog.DiscardHandler)
	config := &pb.Config{Id: "ranked", Pools: crowdPools()}
	division := segmentation.Divide(config.GetPools())
	project := observe.New(telemetry.Meter{}, telemetry.Tracer{}).Project("demo", 1, log)
	l := &leader{
		scope:    scope{Options: &Options{Now: func() time.Time { return now }}, log: log, observed: project},
		settler:  &settler{},
		budget:   schedule.NewBudget(0),
		segments: map[string][]*segment{},
	}
	l.maintenance = &maintenance{next: now.Add(time.Hour)}
	l.segments["ranked"] = l.newSegments(ctx, config, division, nil)
	only := l.segments["ranked"][0]
	answer := func(s *segment, counts segmentation.Population) {
		s.run = &run{segment: s}
		s.Start(now)
		l.answer(ctx, part{run: s.run, RunPart: &pb.RunPart{Last: true, Stats: &pb.RunStats{Population: counts}}})
	}
	expect := func(want int) {
		t.Helper()
		l.resegment(ctx)
		if n := len(l.segments["ranked"]); n != want {
			t.Fatalf("%d segments, want %d", n, want)
		}
	}
	expect(1)
	answer(only, segmentation.Population{"crowd": 15})
	expect(1)
	answer(only, segmentation.Population{"crowd": 42})
	only.Start(now)
	expect(1)
	only.End(schedule.OK, 0, now)
	only.Propose(1)
	expect(1)
	only.Settle(1)
	if starts, _ := l.state().Next(now.Add(time.Hour)); len(starts) > 0 {
		t.Error("a run starts before the segments change")
	}
	expect(4)
	if starts, _ := l.state().Next(now.Add(time.Hour)); len(starts) != 4 {
		t.Errorf("runs of %d new segments start", len(starts))
	}
	for _, s := range l.segments["ranked"] {
		if !s.Started().Equal(now) {
			t.Errorf("a new segment starts %v later than the old one", s.Started().Sub(now))
		}
	}

	first := l.segments["ranked"][0]
	answer(first, nil) // a run that did not count
	answer(first, segmentation.Population{"crowd": 60})
	answer(first, segmentation.Population{"crowd": 20})
	expect(4)
	answer(first, segmentation.Population{"crowd": 19})
	expect(2)
}
