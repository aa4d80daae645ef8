package rules

import (
	"fmt"
	"math"
	"strconv"
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

// fate returns that of a condition, and where and why it never holds.
func (c *checker) fate(path string, need Condition) (fate, Problem) {
	if !c.step(1) {
		return open, Problem{}
	}
	why := ""
	switch n := need.(type) {
	case *Share:
		path += ".min"
		if c.sizes.some(n.Value, n.Scope) > 0 {
			why = Range{Min: n.Min}.excludes(interval{0, c.elements(n.Value)})
		}
	case *Overlap:
		path += ".count"
		why = c.overlapNever(n)
	case *Holders:
		path += ".count"
		if each := c.sizes.each(n.Scope); len(each) > 0 {
			fewest := math.Inf(1)
			for _, players := range each {
				fewest = min(fewest, players.high)
			}
			why = n.Count.excludes(interval{0, fewest})
		}
	case *Total:
		path += ".sum"
		if len(c.sizes.each(n.Scope)) > 0 {
			why = n.Sum.excludes(everything)
		}
	case *Gap:
		path += ".max"
		why = c.gapNever(n)
	case *Compare:
		return c.compareFate(path, n)
	default:
		return c.logicFate(path, need)
	}
	if why == "" {
		return open, Problem{}
	}
	return never, Problem{path, why}
}

// overlapNever looks at a count only if a player is surely there who has the value: the condition holds of nobody.
func (c *checker) overlapNever(n *Overlap) string {
	if c.sizes.some(n.Value, n.Scope) == 0 {
		return ""
	}
	most := c.elements(n.Value)
	if n.Merge == Intersection {
		most = min(most, c.elements(n.Other))
	}
	if why := n.Count.excludes(interval{0, most}); why != "" {
		return why
	}
	if n.Other == "" && !n.Count.meets(interval{0, float64(len(n.With))}) {
		return fmt.Sprintf("the list has %d elements", len(n.With))
	}
	return ""
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

// gapNever looks at the teams that every match has: how much the greatest and the least of them differ at least.
func (c *checker) gapNever(n *Gap) string {
	if n.Value != "" {
		return ""
	}
	scope := Scope{Of: InTeam}
	if n.Teams != nil {
		scope = Scope{Of: InTeams, Teams: n.Teams}
	}
	all := nothing // from the least that the greatest is to the greatest that the least is
	for _, players := range c.sizes.each(scope) {
		numbers := players
		if n.Stat != StatCount {
			numbers.low = min(1, players.low)
		}
		all = interval{min(all.low, numbers.high), max(all.high, numbers.low)}
	}
	most, off := n.Max.ever()
	if apart := all.high - all.low; !off && apart > most.high {
		return fmt.Sprintf("the sizes of the teams differ by at least %v, and at most %v is allowed", apart, most.high)
	}
	return ""
}

func (c *checker) compareFate(path string, n *Compare) (fate, Problem) {
	left, right := c.sizes.estimate(n.Left), c.sizes.estimate(n.Right)
	some := left.count.low >= 1 && right.count.low >= 1 // without numbers on a side it holds
	rank, why := n.rankFate(some)
	switch {
	case rank == never:
		return never, Problem{path + ".compare", why}
	case rank == always:
		return always, Problem{}
	case some && n.Op.never(left.numbers, right.numbers):
		return never, Problem{path + ".compare", fmt.Sprintf("%v is never %s %v", left.numbers, n.Op, right.numbers)}
	case n.Op.always(left.numbers, right.numbers):
		return always, Problem{}
	}
	return open, Problem{}
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

// logicFate looks at conditions of conditions.
func (c *checker) logicFate(path string, need Condition) (fate, Problem) {
	switch n := need.(type) {
	case *All:
		of := c.fates(path+".all", n.Of)
		if of.never > 0 {
			return never, of.why
		}
		if why, found := c.clash(conjuncts(nil, path, n)); found {
			return never, why
		}
		if of.always == len(n.Of) {
			return always, Problem{}
		}
	case *AnyOf:
		return c.fates(path+".any", n.Of).some(path + ".any")
	case *One:
		of := c.fates(path+".one", n.Of)
		if of.always > 1 {
			return never, Problem{path + ".one", "more than one of these always holds"}
		}
		if fate, why := of.some(path + ".one"); fate == never {
			return never, why
		}
	case *Not:
		switch fate, _ := c.fate(path+".not", n.Of); fate {
		case always:
			return never, Problem{path + ".not", "this always holds"}
		case never:
			return always, Problem{}
		case open:
		}
	}
	return open, Problem{}
}

// some is the fate of conditions of which one must hold.
func (of *fates) some(path string) (fate, Problem) {
	switch {
	case of.never == 1 && of.all == 1:
		return never, of.why
	case of.never == of.all:
		return never, Problem{path, fmt.Sprintf("none of these ever holds; at %s %s", of.why.Path, of.why.Text)}
	case of.always > 0:
		return always, Problem{}
	}
	return open, Problem{}
}

// fates counts conditions by their fates.
type fates struct {
	all, never, always int
	why                Problem // of the first that never holds
}

func (c *checker) fates(path string, conditions []Condition) *fates {
	all := &fates{all: len(conditions)}
	for i, one := range conditions {
		switch fate, why := c.fate(path+"["+strconv.Itoa(i)+"]", one); fate {
		case never:
			if all.never == 0 {
				all.why = why
			}
			all.never++
		case always:
			all.always++
		case open:
		}
	}
	return all
}
