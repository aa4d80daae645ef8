package director

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the directors lead now, their shares are even and cover all projects, and a director that leads its share
// gives nothing up.
func TestSharesAreEvenAndStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alive := map[string]int{}
		for i := range rapid.IntRange(1, 6).Draw(t, "directors") {
			alive[fmt.Sprint("d", i)] = rapid.IntRange(0, 9).Draw(t, "leads")
		}
		projects := rapid.IntRange(0, 30).Draw(t, "projects")
		shares, total := map[string]int{}, 0
		for name := range alive {
			shares[name] = share(alive, name, projects)
			total += shares[name]
			if n := projects / len(alive); shares[name] < n || shares[name] > n+1 {
				t.Fatalf("%s gets %d of %d projects, of %v", name, shares[name], projects, alive)
			}
		}
		if total != projects {
			t.Fatalf("the shares have %d of %d projects: %v", total, projects, shares)
		}
		for name, n := range shares {
			if again := share(shares, name, projects); again != n {
				t.Fatalf("%s led its share of %d and is to lead %d: %v", name, n, again, maps.Clone(shares))
			}
		}
	})
}
