package director

import (
	"log/slog"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/quota"
)

// A run that cost much keeps its own config from running, and no other one.
func TestRunsAreChargedToTheirConfig(t *testing.T) {
	ctx, now, log := t.Context(), time.Unix(1_700_000_000, 0), slog.New(slog.DiscardHandler)
	project := observe.New(telemetry.Meter{}, telemetry.Tracer{}).Project("demo", 1, log)
	l := &leader{
		scope: scope{
			Options: &Options{Now: func() time.Time { return now }, Settings: times()}, log: log, observed: project,
			memory: quota.NewShares[string](proposalMemory), inbox: newInbox(),
		},
		settler: &settler{}, maintenance: &maintenance{next: now.Add(time.Hour)},
		budget: schedule.NewBudget(1), segments: map[string][]*segment{}, runners: newRunners(),
	}
	for _, id := range []string{"heavy", "light"} {
		l.segments[id] = l.newSegments(ctx, &pb.Config{Id: id}, nil, nil)
	}
	starts := func() map[string]bool {
		started := map[string]bool{}
		for s := range l.all() {
			s.Touch()
		}
		segments, _ := l.state().Next(now)
		for _, s := range segments {
			started[s.config.GetId()] = true
			s.run = &run{segment: s, Run: bus.NewRun(0, func() {})}
			s.Start(now)
			l.answer(ctx, part{run: s.run, RunPart: &pb.RunPart{Runner: "r"}})
		}
		return started
	}
	answer := func(id string, charge time.Duration) {
		s := l.segments[id][0]
		l.answer(ctx, part{run: s.run, RunPart: &pb.RunPart{
			Last: true, Stats: &pb.RunStats{Charge: charge.Microseconds(), Processor: charge.Microseconds()},
		}})
	}
	if s := starts(); len(s) != 2 {
		t.Fatalf("at first %v start", s)
	}
	answer("heavy", 10*time.Second)
	answer("light", time.Millisecond)
	for range 100 {
		now = now.Add(50 * time.Millisecond)
		if s := starts(); s["heavy"] || !s["light"] {
			t.Fatalf("after a run of 10 s %v start", s)
		}
		answer("light", time.Millisecond)
	}
	now = now.Add(time.Minute)
	if s := starts(); !s["heavy"] || !s["light"] {
		t.Fatalf("when the run of 10 s is paid %v start", s)
	}
	// A run that its runner does not answer is charged for the time that the runner had.
	answer("light", 0)
	now = now.Add(6 * time.Second)
	l.segments["heavy"][0].run.Run = nil
	before := l.budget.Level()
	s := l.segments["heavy"][0]
	l.endRun(ctx, s, schedule.Late, "the runner did not answer in time", nil)
	if charged := before - l.budget.Level(); charged < 3*time.Second {
		t.Errorf("a run that was never answered is charged %v beside what was reserved", charged)
	}
}

func times() Settings {
	return Settings{MinInterval: 10 * time.Millisecond, MaxInterval: time.Second, Run: 5 * time.Second, Lease: time.Second}
}
