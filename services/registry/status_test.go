package registry

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// host is an instance of the function f.
func host(name, state string, generation int64) *pb.InstanceStatus {
	return &pb.InstanceStatus{Project: "p", Function: "f", Name: name, State: state, Generation: generation}
}

// listening is a runnerView that has listened for long.
func listening(c *clock) *runnerView {
	b := newRunnerView(500*time.Millisecond, 10*time.Second, c.now, c.now)
	b.setConnected(true)
	c.advance(time.Minute)
	return b
}

func TestStates(t *testing.T) {
	for name, test := range map[string]struct {
		instances []*pb.InstanceStatus
		young     bool
		want      string
	}{
		"no runner has it":     {nil, false, "Not Running"},
		"no runner has it yet": {nil, true, "Pending"},
		"waits":                {[]*pb.InstanceStatus{host("a", "Waiting", 7)}, false, "Pending"},
		"runs":                 {[]*pb.InstanceStatus{host("a", "Running", 7)}, false, "Running"},
		"runs, another waits":  {[]*pb.InstanceStatus{host("a", "Running", 7), host("b", "Waiting", 7)}, false, "Running"},
		"runs, another failed": {[]*pb.InstanceStatus{host("a", "Terminated", 7), host("b", "Running", 7)}, false, "Running"},
		"failed":               {[]*pb.InstanceStatus{host("a", "Terminated", 7)}, true, "Failed"},
		"failed, another waits": {[]*pb.InstanceStatus{host("a", "Terminated", 7), host("b", "Waiting", 7)},
			false, "Pending"},
		"failed, the previous version serves": {[]*pb.InstanceStatus{host("a", "Running", 6), host("b", "Terminated", 7)},
			false, "Failed"},
		"starts, the previous version serves": {[]*pb.InstanceStatus{host("a", "Running", 6), host("b", "Waiting", 7)},
			false, "Pending"},
		"only the previous version":     {[]*pb.InstanceStatus{host("a", "Running", 6)}, false, "Pending"},
		"a newer version than was read": {[]*pb.InstanceStatus{host("a", "Running", 8)}, false, "Running"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			b := listening(c)
			base := c.now().Add(-time.Minute).UnixMilli()
			if test.young {
				base = c.now().Add(-9 * time.Second).UnixMilli()
			}
			for _, i := range test.instances {
				i.Generation += base
			}
			b.receive(&pb.RunnerStatus{Runner: "r", Instances: test.instances})
			f := &pb.Function{Name: "f", Generation: base + 7}
			got := b.status("p", f)
			if got.State != test.want || len(got.Instances) != len(test.instances) {
				t.Errorf("got %+v, want %s", got, test.want)
			}
			if other := b.status("q", f); len(other.Instances) > 0 {
				t.Errorf("another project sees %+v", other)
			}
			b.setConnected(false)
			if lost := b.status("p", f); lost.State != "Unknown" {
				t.Errorf("without the bus: %+v", lost)
			}
		})
	}
}

func TestInstancesVanish(t *testing.T) {
	c := newClock()
	b := listening(c)
	f := &pb.Function{Name: "f", Generation: 7}
	say := func(runner string) {
		b.receive(&pb.RunnerStatus{Runner: runner, Instances: []*pb.InstanceStatus{host("on-"+runner, "Running", 7)}})
	}
	names := func(want ...string) {
		t.Helper()
		var got []string
		for _, i := range b.status("p", f).Instances {
			got = append(got, i.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("instances differ (-want +got):\n%s", diff)
		}
	}
	say("b")
	c.advance(time.Second)
	say("a")
	say("c")
	names("on-a", "on-b", "on-c")
	c.advance(500 * time.Millisecond)
	names("on-a", "on-b", "on-c")
	c.advance(time.Millisecond)
	names("on-a", "on-c")
	say("a")
	if len(b.runners) != 2 {
		t.Errorf("a silent runner is kept: %v", b.runners)
	}
	b.receive(&pb.RunnerStatus{Runner: "a", Leaving: true, Instances: []*pb.InstanceStatus{host("on-a", "Running", 7)}})
	names("on-c")
	// A heartbeat replaces the one before.
	b.receive(&pb.RunnerStatus{Runner: "c"})
	names()
}

func TestRunnerViewListensBeforeItAnswers(t *testing.T) {
	c := newClock()
	b := newRunnerView(500*time.Millisecond, 10*time.Second, c.now, c.now)
	f := &pb.Function{Name: "f", Generation: 7}
	expect := func(ready bool, state string) {
		t.Helper()
		if err := b.ready(); (err == nil) != ready {
			t.Errorf("ready: %v, want %v", err, ready)
		}
		if got := b.status("p", f).State; got != state {
			t.Errorf("got %s, want %s", got, state)
		}
	}
	expect(false, "Unknown")
	c.advance(time.Hour)
	expect(false, "Unknown")
	b.setConnected(true)
	b.receive(&pb.RunnerStatus{Runner: "r", Instances: []*pb.InstanceStatus{host("a", "Running", 7)}})
	c.advance(749 * time.Millisecond)
	b.setConnected(true)
	expect(false, "Unknown")
	c.advance(time.Millisecond)
	expect(true, "Running")
	b.setConnected(false)
	expect(false, "Unknown")
	b.setConnected(true)
	expect(false, "Unknown")
	c.advance(750 * time.Millisecond)
	expect(true, "Running")
}
