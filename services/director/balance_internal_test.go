package director

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// TestShare: whatever the directors lead now, their shares are even, all projects are shared out, and nobody
// who has his share gives anything up.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		living := map[string]int{}
		for i := range rapid.IntRange(1, 6).Draw(t, "directors") {
			living[fmt.Sprint("d", i)] = rapid.IntRange(0, 9).Draw(t, "leads")
		}
		projects := rapid.IntRange(0, 30).Draw(t, "projects")
		shares, total := map[string]int{}, 0
		for name := range living {
			shares[name] = share(living, name, projects)
			total += shares[name]
			if n := projects / len(living); shares[name] < n || shares[name] > n+1 {
				t.Fatalf("%s gets %d of %d projects, of %v", name, shares[name], projects, living)
			}
		}
		if total != projects {
			t.Fatalf("%d of %d projects are shared out: %v", total, projects, shares)
		}
		for name, n := range shares {
			if again := share(shares, name, projects); again != n {
				t.Fatalf("%s led its share of %d and is to lead %d: %v", name, n, again, maps.Clone(shares))
			}
		}
	})
}
