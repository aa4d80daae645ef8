package rules

import (
	"math"
	"strconv"
)

// teamNames checks that no two teams of a match have the same name. Teams of the same shape are reported elsewhere.
func (c *checker) teamNames() {
	of := map[string]int{} // the shape of each name
	for i := range c.rules.Teams {
		t := &c.rules.Teams[i]
		if t.Copies.Max == nil {
			continue
		}
		_, most, _ := t.Copies.Max.Over(0, math.Inf(1))
		for number := 1; number <= int(min(most, MaxTeams)); number++ {
			name := t.Called(number)
			other, taken := of[name]
			if !taken {
				of[name] = i
				continue
			}
			if o := &c.rules.Teams[other]; o.Name != t.Name {
				c.add("teams["+strconv.Itoa(i)+"].name", "a match may have two teams %q, of %q and of %q", name, o.Name, t.Name)
			}
			break
		}
	}
}
