package director

import (
	"log/slog"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/telemetry"
)

// crowded are pools of which one is to be in segments of ten tickets.
func crowded() map[string]*pb.Pool {
	low, high, stddev := 0.0, 100.0, 10.0
	return map[string]*pb.Pool{
		"all": {},
		"crowd": {Filters: []*pb.Filter{{Attribute: "skill", Min: &low, Max: &high, Segmentation: &pb.Segmentation{
			Distribution: pool.Normal, Behavior: pool.BucketSize, Value: 10, Stddev: &stddev,
		}}}},
	}
}

func TestCensusIsTakenNowAndThen(t *testing.T) {
	c, now := newCensus(crowded()), time.Unix(1_700_000_000, 0)
	if asked := c.ask(now, time.Second); len(asked) != 1 || asked["crowd"] == nil {
		t.Errorf("first asked for %v", asked)
	}
	if asked := c.ask(now.Add(999*time.Millisecond), time.Second); asked != nil {
		t.Errorf("soon afterwards asked for %v", asked)
	}
	if asked := c.ask(now.Add(time.Second), time.Second); len(asked) != 1 {
		t.Errorf("a second later asked for %v", asked)
	}
	if none := newCensus(map[string]*pb.Pool{"all": {}}); none.ask(now, time.Second) != nil || none.changed() || none.population() != nil {
		t.Error("pools that do not depend on their tickets are counted")
	}
}

// TestPoolsAreDividedBetweenRuns: when the tickets no longer fit the segments, runs under way go on, no new one starts, and what they
// proposed is settled before the segments change.
func TestPoolsAreDividedBetweenRuns(t *testing.T) {
	ctx, census := t.Context(), newCensus(crowded())
	l := &leader{service: &service{metrics: newMetrics(telemetry.Meter{})}, log: slog.New(slog.DiscardHandler), courses: map[string][]*course{}}
	divided := func(want int) {
		t.Helper()
		l.divide(ctx)
		if n := len(l.courses["ranked"]); n != want {
			t.Fatalf("%d segments, want %d", n, want)
		}
	}
	l.courses["ranked"] = l.coursesOf(ctx, &pb.Config{Id: "ranked", Pools: crowded()}, census)
	divided(1)
	only := l.courses["ranked"][0]
	only.started, only.failing = time.Unix(7, 0), "a reason"

	census.hear(pool.Population{"crowd": 15})
	divided(1)
	census.hear(pool.Population{"crowd": 42})
	only.flight = new(flight)
	divided(1)
	only.flight, only.unsettled = nil, 1
	divided(1)
	if !census.changed() {
		t.Error("new runs may start before the segments change")
	}
	only.unsettled = 0
	divided(4)
	if census.changed() {
		t.Error("the segments are to change again")
	}
	for _, c := range l.courses["ranked"] {
		if !c.started.Equal(only.started) || c.failing != only.failing || !c.dirty {
			t.Errorf("a new segment begins as %+v", c)
		}
	}

	census.hear(nil) // a run that did not count
	census.hear(pool.Population{"crowd": 60})
	census.hear(pool.Population{"crowd": 20})
	divided(4)
	census.hear(pool.Population{"crowd": 19})
	divided(2)
}
