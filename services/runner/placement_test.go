package runner

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPlacementIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9-]{1,20}`)
		runners := rapid.SliceOfNDistinct(name, 1, 12, rapid.ID[string]).Draw(t, "runners")
		project := name.Draw(t, "project")
		n := rapid.IntRange(1, 4).Draw(t, "n")
		homes := placed(project, runners, n)
		if len(homes) != min(n, len(runners)) {
			t.Fatalf("%d homes", len(homes))
		}

		shuffled := rapid.Permutation(runners).Draw(t, "shuffled")
		if again := placed(project, shuffled, n); !same(homes, again) {
			t.Fatalf("%v in another order: %v", homes, again)
		}
		// Without a runner: if it was no home, nothing moves; if it was, the others stay.
		gone := rapid.SampledFrom(runners).Draw(t, "gone")
		rest := slices.DeleteFunc(slices.Clone(runners), func(r string) bool { return r == gone })
		after := placed(project, rest, n)
		if slices.Contains(after, gone) {
			t.Fatalf("%s is gone", gone)
		}
		for _, home := range homes {
			if home != gone && !slices.Contains(after, home) {
				t.Fatalf("%s left although %s did: %v, %v", home, gone, homes, after)
			}
		}
		if !slices.Contains(homes, gone) && !same(homes, after) {
			t.Fatalf("%v became %v without %s", homes, after, gone)
		}
	})
}

func TestPlacementIsEven(t *testing.T) {
	runners := []string{"runner-1", "runner-2", "runner-3", "runner-4", "runner-5"}
	const projects = 10_000
	load := map[string]int{}
	for p := range projects {
		for _, home := range placed(fmt.Sprint("project-", p), runners, 2) {
			load[home]++
		}
	}
	for _, r := range runners {
		if share := float64(load[r]) / projects; share < 0.37 || share > 0.43 {
			t.Errorf("%s has %v of the projects, 0.4 is fair", r, share)
		}
	}
}

func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
