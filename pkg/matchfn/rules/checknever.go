package rules

import (
	"fmt"
	"math"
)

// rulesHold reports the rules that hold in no match, whatever the time. Rules that do not always hold do not count.
func (c *checker) rulesHold() {
	var all []conjunct
	for i, rule := range c.rules.Rules {
		if active, off := rule.Active.ever(); rule.Active != nil && (off || active.has(0)) {
			continue
		}
		if fate, why := c.fate(c.ruleAt(i), rule.Need); fate == never {
			c.add(why.Path, "%s: nothing can match", why.Text)
		}
		all = conjuncts(all, c.ruleAt(i), rule.Need)
	}
	if len(c.problems) > 0 {
		return
	}
	if why, found := c.clash(all); found {
		c.add(why.Path, "%s: nothing can match", why.Text)
	}
}

// fate is what is sure of a condition before one knows the match.
type fate int

const (
	open   fate = iota
	never       // holds in no new match
	always      // holds in each
)

// maxSteps bounds how much is looked at to find what never holds: conditions, pairs of them, and bytes of their text.
// What is beyond it may hold.
const maxSteps = 1 << 22

// step counts steps, and returns whether there were enough.
func (c *checker) step(n int) bool {
	c.steps += n
	return c.steps <= maxSteps
}

// fate returns the fate of a condition, and where and why it never holds.
func (c *checker) fate(path string, need Condition) (fate, Problem) {
	if !c.step(1) {
		return open, Problem{}
	}
	return need.fate(c, path)
}

// neverIf is the fate of a condition that never holds for a reason, or of one of which nothing is known.
func neverIf(path, why string) (fate, Problem) {
	if why == "" {
		return open, Problem{}
	}
	return never, Problem{path, why}
}

// elements is how many elements a set of a player has at most.
func (c *checker) elements(value string) float64 {
	v := c.rules.ValueOf(value)
	if v.Kind == String {
		return 1
	}
	most := float64(max(MaxElements, len(v.Default.Set)))
	if v.Party == Union { // of a ticket, whose players are in one team
		most *= max(1, c.sizes.team.high)
	}
	return most
}

// String is how messages name the numbers of an interval.
func (i interval) String() string {
	switch {
	case i.low == i.high:
		return fmt.Sprint(i.low)
	case math.IsInf(i.high, 1):
		return fmt.Sprintf("a number from %v up", i.low)
	}
	return fmt.Sprintf("a number from %v to %v", i.low, i.high)
}
