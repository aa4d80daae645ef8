package runner

import (
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

func TestScalerFollowsTheLoad(t *testing.T) {
	s := &Settings{Hosts: 2, MaxHosts: 4, Timing: Timing{Crowded: 2 * time.Second, Idle: time.Minute}}
	now := time.Unix(1_700_000_000, 0)
	var sc scaler
	hosts := 2
	look := func(after time.Duration, crowded bool, want int) {
		t.Helper()
		now = now.Add(after)
		got := sc.update(now, crowded, hosts, s)
		if got != want {
			t.Fatalf("wants %d, want %d", got, want)
		}
		hosts = max(2, got) // they come at once
	}
	look(0, false, 0)
	look(time.Hour, false, 0)
	look(time.Second, true, 0)
	look(time.Second, true, 0)
	look(time.Second, false, 0) // it has caught up
	look(time.Second, true, 0)
	look(1900*time.Millisecond, true, 0)
	look(100*time.Millisecond, true, 3)
	look(1900*time.Millisecond, true, 3) // the third needs time
	look(100*time.Millisecond, true, 4)
	look(time.Hour, true, 4) // the most there may be
	look(time.Second, false, 4)
	look(59*time.Second, false, 4)
	look(time.Second, false, 3)
	look(59*time.Second, false, 3)
	look(time.Millisecond, true, 3) // crowded again, for a moment
	look(time.Millisecond, false, 3)
	look(59*time.Second, false, 3)
	look(time.Second, false, 0)
	look(time.Hour, false, 0)
	// It wants no more than one above the runners that there are: the others may all be busy, or down.
	look(0, true, 0)
	hosts = 1
	if got := sc.update(now.Add(time.Hour), true, hosts, s); got != 0 {
		t.Errorf("with one runner of two it wants %d", got)
	}
}

func TestGreatestDesiredHostsCounts(t *testing.T) {
	p, c := newTestPeers()
	p.update(heartbeat("a"))
	p.update(&pb.RunnerStatus{Runner: "b", Hosts: map[string]int32{"x": 3, "y": 4}})
	p.update(&pb.RunnerStatus{Runner: "c", Hosts: map[string]int32{"x": 5}})
	check := func(project string, want int) {
		t.Helper()
		if got := p.desiredHosts(project); got != want {
			t.Errorf("%s wants %d, want %d", project, got, want)
		}
	}
	check("x", 5)
	check("y", 4)
	check("z", 0)
	p.update(heartbeat("b"))
	check("y", 0)
	for range 2 { // c says nothing any more
		c.pass(time.Second)
		p.update(heartbeat("a"))
		p.update(heartbeat("b"))
	}
	p.check(t, "a", "b")
	check("x", 0)
}
