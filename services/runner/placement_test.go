package runner

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPlacementMovesAsLittleAsPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9-]{1,20}`)
		runners := rapid.SliceOfNDistinct(name, 1, 12, rapid.ID[string]).Draw(t, "runners")
		project := name.Draw(t, "project")
		n := rapid.IntRange(1, 4).Draw(t, "n")
		hosts := hostsOf(project, runners, n)
		if len(hosts) != min(n, len(runners)) {
			t.Fatalf("%d hosts", len(hosts))
		}

		shuffled := rapid.Permutation(runners).Draw(t, "shuffled")
		if again := hostsOf(project, shuffled, n); !same(hosts, again) {
			t.Fatalf("%v in another order: %v", hosts, again)
		}
		// Without a runner: if it was no host, nothing moves; if it was, the others stay.
		gone := rapid.SampledFrom(runners).Draw(t, "gone")
		rest := slices.DeleteFunc(slices.Clone(runners), func(r string) bool { return r == gone })
		after := hostsOf(project, rest, n)
		if slices.Contains(after, gone) {
			t.Fatalf("%s is gone", gone)
		}
		for _, host := range hosts {
			if host != gone && !slices.Contains(after, host) {
				t.Fatalf("%s left although %s did: %v, %v", host, gone, hosts, after)
			}
		}
		if !slices.Contains(hosts, gone) && !same(hosts, after) {
			t.Fatalf("%v became %v without %s", hosts, after, gone)
		}
	})
}

func TestPlacementIsEven(t *testing.T) {
	runners := []string{"runner-1", "runner-2", "runner-3", "runner-4", "runner-5"}
	const projects = 10_000
	hosted := map[string]int{}
	for p := range projects {
		for _, host := range hostsOf(fmt.Sprint("project-", p), runners, 2) {
			hosted[host]++
		}
	}
	for _, r := range runners {
		if share := float64(hosted[r]) / projects; share < 0.37 || share > 0.43 {
			t.Errorf("%s has %v of the projects, 0.4 is fair", r, share)
		}
	}
}

func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
