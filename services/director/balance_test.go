package director_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// leaders counts the projects that each director leads.
func (w *world) leaders(projects []string) map[string]int {
	w.Helper()
	leases, err := w.store.Leases(w.Context(), projects)
	if err != nil {
		w.Fatal(err)
	}
	counts := map[string]int{}
	for _, l := range leases {
		if !l.Free(time.Now(), time.Hour) {
			counts[l.Owner]++
		}
	}
	return counts
}

// shares waits until the directors lead these numbers of projects.
func (w *world) shares(projects []string, want map[string][]int) {
	w.Helper()
	w.until(fmt.Sprint("projects are shared as ", want), func() bool {
		got := w.leaders(projects)
		total := 0
		for name, n := range got {
			if !slices.Contains(want[name], n) {
				return false
			}
			total += n
		}
		return total == len(projects) && len(got) == len(want)
	})
}

func TestDirectorsShareTheProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var projects []string
	for i := range 10 {
		projects = append(projects, fmt.Sprint("p", i))
		w.put(projects[i], "c", nil)
	}
	even := func(names ...string) map[string][]int {
		want := map[string][]int{}
		for _, name := range names {
			want[name] = []int{len(projects) / len(names), (len(projects) + len(names) - 1) / len(names)}
		}
		return want
	}
	w.director("a", times())
	w.shares(projects, even("a"))
	stop := w.director("b", times())
	w.shares(projects, even("a", "b"))
	w.director("c", times())
	w.shares(projects, even("a", "b", "c"))
	stop()
	w.shares(projects, even("a", "c"))
}

// The proposals of a run that is under way are still settled.
func TestProjectPassesToAnotherDirectorBetweenRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began, end := make(chan struct{}, 10), make(chan struct{})
	w.runner("r", map[string]function{"c": func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
		if len(tickets) < 2 {
			return nil
		}
		began <- struct{}{}
		<-end
		return pairs(r, tickets, part)
	}})
	both := []string{"another", project} // the last is given up
	for _, p := range both {
		w.put(p, "c", nil)
	}
	w.director("a", times(), steady)
	w.shares(both, map[string][]int{"a": {2}})
	tickets := w.create(2)
	<-began
	w.director("b", times(), steady)
	w.until("the project is given up", func() bool {
		w.poke("nowhere", &pb.Poke{Configs: true}) // which shows a that b is there
		return w.says("giving a project up")
	})
	close(end)
	w.results(tickets...)
	if n := len(began); n > 0 && !w.says(untaken) {
		t.Errorf("the tickets were proposed by %d more runs", n)
	}
	w.shares(both, map[string][]int{"a": {1}, "b": {1}})
	w.results(w.create(2)...) // by the other one
}
