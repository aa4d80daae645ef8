package runner

import (
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// clock is one that only pass moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time       { return c.Time }
func (c *clock) pass(d time.Duration) { c.Time = c.Add(d) }

// company is a runner named "a" and the clock that it goes by.
func company() (*peers, *clock) {
	c := &clock{time.Unix(1_700_000_000, 0)}
	p := newPeers(&Options{Name: "a", Now: c.now, Settings: Settings{Silence: 1500 * time.Millisecond, Settle: 250 * time.Millisecond}})
	return p, c
}

func beat(name string) *pb.RunnerStatus { return &pb.RunnerStatus{Runner: name} }

func (p *peers) check(t *testing.T, want ...string) {
	t.Helper()
	if got := p.living(); !slices.Equal(got, want) {
		t.Errorf("living: %v, want %v", got, want)
	}
}

func TestANewRunnerListensFirst(t *testing.T) {
	p, c := company()
	p.check(t)
	c.pass(time.Hour) // without a bus
	p.check(t)
	p.hear(beat("a"))
	c.pass(200 * time.Millisecond)
	if !p.hear(beat("b")) {
		t.Error("b is no news")
	}
	p.check(t)
	c.pass(100 * time.Millisecond)
	p.check(t, "a", "b")
	if p.hear(beat("b")) {
		t.Error("b is news again")
	}
}

func TestASilentRunnerIsGone(t *testing.T) {
	p, c := company()
	p.hear(beat("a"))
	p.hear(beat("b"))
	for range 3 {
		c.pass(500 * time.Millisecond)
		p.hear(beat("a"))
	}
	p.check(t, "a", "b")
	c.pass(500 * time.Millisecond)
	p.hear(beat("a"))
	p.check(t, "a")
}

func TestALeavingRunnerIsGoneAtOnce(t *testing.T) {
	p, c := company()
	p.hear(beat("a"))
	p.hear(beat("b"))
	c.pass(time.Second)
	if !p.hear(&pb.RunnerStatus{Runner: "b", Leaving: true}) {
		t.Error("leaving is no news")
	}
	p.check(t, "a")
}

func TestARunnerThatHearsNobodyKeepsItsView(t *testing.T) {
	p, c := company()
	p.hear(beat("a"))
	p.hear(beat("b"))
	c.pass(time.Minute)
	p.check(t, "a", "b")
	p.hear(beat("a")) // the bus is back, b may need a moment more
	p.check(t, "a", "b")
	for range 4 {
		c.pass(500 * time.Millisecond)
		p.hear(beat("a"))
	}
	p.check(t, "a")
}

func TestServing(t *testing.T) {
	p, _ := company()
	p.hear(&pb.RunnerStatus{Runner: "b", Instances: []*pb.InstanceStatus{
		{Project: "p", Function: "f", State: running}, {Project: "p", Function: "g", State: waiting},
	}})
	for _, c := range []struct {
		runners  []string
		function string
		want     int
	}{
		{[]string{"b"}, "f", 1}, {[]string{"b"}, "g", 0}, {[]string{"b"}, "h", 0},
		{[]string{"a", "b"}, "f", 1}, {[]string{"b", "c"}, "f", 1},
	} {
		if got := p.serving(c.runners, target{"p", c.function}); got != c.want {
			t.Errorf("%s on %v: %v", c.function, c.runners, got)
		}
	}
}
