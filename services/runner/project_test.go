package runner

import (
	"slices"
	"testing"
	"time"
)

// A new host that cannot start a function, for example because its disk is full, must not take the project over.
func TestProjectStaysUntilNewHostsServeIt(t *testing.T) {
	now, ended := time.Unix(1, 0), false
	e := &env{Options: Options{Now: func() time.Time { return now },
		Settings: Settings{Timing: Timing{Handover: 30 * time.Second}}}}
	h := newHostedProject(e, "p", func() { ended = true })
	h.functions["f"] = &function{functionKey: functionKey{"p", "f"}, subscription: subscription{}}
	h.functions["g"] = &function{functionKey: functionKey{"p", "g"}} // this runner does not serve it either
	for _, c := range []struct {
		after   time.Duration
		serving int // of two
		want    bool
	}{
		{0, 0, false}, {0, 1, false}, {0, 2, true},
		{29 * time.Second, 1, false}, {30 * time.Second, 1, true}, {time.Hour, 0, false},
	} {
		h.cancelHandover()
		ended = false
		h.handOver(2, func(functionKey) int { return 0 })
		now = now.Add(c.after)
		h.handOver(2, func(f functionKey) int {
			if f.function == "g" {
				return 0
			}
			return c.serving
		})
		if ended != c.want {
			t.Errorf("after %v with %d of 2 that serve: ended %v, want %v", c.after, c.serving, ended, c.want)
		}
	}
}

func TestDeletedProjectsAreReleased(t *testing.T) {
	var ended []string
	r := &Runner{hosted: map[string]*hostedProject{}, projects: []string{"listed"}}
	for _, project := range []string{"listed", "deleted", "lost"} {
		r.hosted[project] = newHostedProject(&env{}, project, func() { ended = append(ended, project) })
	}
	r.hosted["lost"].functions["f"] = &function{functionKey: functionKey{"lost", "f"}}
	r.releaseDeleted()
	if len(ended) > 0 {
		t.Errorf("%v ended before the list was read", ended)
	}
	r.projectsRead = true
	r.releaseDeleted()
	if !slices.Equal(ended, []string{"deleted"}) {
		t.Errorf("%v ended, want the one that is not listed and has no function", ended)
	}
}

// subscription is a subscription to runs.
type subscription struct{}

func (subscription) Stop() <-chan struct{} { return nil }
