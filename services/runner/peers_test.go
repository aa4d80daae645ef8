package runner

import (
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// clock is a clock that only pass moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time       { return c.Time }
func (c *clock) pass(d time.Duration) { c.Time = c.Add(d) }

// newTestPeers is the peers of a runner named "a" and the clock that it goes by.
func newTestPeers() (*peers, *clock) {
	c := &clock{time.Unix(1_700_000_000, 0)}
	p := newPeers(&Options{Name: "a", Now: c.now,
		Settings: Settings{Timing: Timing{Silence: 1500 * time.Millisecond, Settle: 250 * time.Millisecond}}})
	return p, c
}

func heartbeat(name string) *pb.RunnerStatus { return &pb.RunnerStatus{Runner: name} }

func (p *peers) check(t *testing.T, want ...string) {
	t.Helper()
	if got := p.alive(); !slices.Equal(got, want) {
		t.Errorf("alive: %v, want %v", got, want)
	}
}

func TestNewRunnerListensBeforeItPlaces(t *testing.T) {
	p, c := newTestPeers()
	p.check(t)
	c.pass(time.Hour) // without a bus
	p.check(t)
	p.update(heartbeat("a"))
	c.pass(200 * time.Millisecond)
	if !p.update(heartbeat("b")) {
		t.Error("b is no news")
	}
	p.check(t)
	c.pass(100 * time.Millisecond)
	p.check(t, "a", "b")
	if p.update(heartbeat("b")) {
		t.Error("b is news again")
	}
}

func TestSilentRunnerIsNotAlive(t *testing.T) {
	p, c := newTestPeers()
	p.update(heartbeat("a"))
	p.update(heartbeat("b"))
	for range 3 {
		c.pass(500 * time.Millisecond)
		p.update(heartbeat("a"))
	}
	p.check(t, "a", "b")
	c.pass(500 * time.Millisecond)
	p.update(heartbeat("a"))
	p.check(t, "a")
}

func TestLeavingRunnerIsNotAlive(t *testing.T) {
	p, c := newTestPeers()
	p.update(heartbeat("a"))
	p.update(heartbeat("b"))
	c.pass(time.Second)
	if !p.update(&pb.RunnerStatus{Runner: "b", Leaving: true}) {
		t.Error("leaving is no news")
	}
	p.check(t, "a")
}

func TestDisconnectedRunnerKeepsItsPeers(t *testing.T) {
	p, c := newTestPeers()
	p.update(heartbeat("a"))
	p.update(heartbeat("b"))
	c.pass(time.Minute)
	p.check(t, "a", "b")
	p.update(heartbeat("a")) // the bus is back, b may need a moment more
	p.check(t, "a", "b")
	for range 4 {
		c.pass(500 * time.Millisecond)
		p.update(heartbeat("a"))
	}
	p.check(t, "a")
}

func TestCountServing(t *testing.T) {
	p, _ := newTestPeers()
	p.update(&pb.RunnerStatus{Runner: "b", Instances: []*pb.InstanceStatus{
		{Project: "p", Function: "f", State: stateRunning}, {Project: "p", Function: "g", State: stateWaiting},
	}})
	for _, c := range []struct {
		runners  []string
		function string
		want     int
	}{
		{[]string{"b"}, "f", 1}, {[]string{"b"}, "g", 0}, {[]string{"b"}, "h", 0},
		{[]string{"a", "b"}, "f", 1}, {[]string{"b", "c"}, "f", 1},
	} {
		if got := p.countServing(c.runners, functionKey{"p", c.function}); got != c.want {
			t.Errorf("%s on %v: %v", c.function, c.runners, got)
		}
	}
}
