package rules

import (
	"fmt"
	"math"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Overlap says how many elements each player's set has in common with a list: With, or if Other is not empty, the
// union or the intersection of the sets Other of all players in the scope.
type Overlap struct {
	Value string
	With  []string
	Other string
	Merge Merge // of Other: Union or Intersection
	Count Range
	Scope Scope
}

func readOverlap(r *reader, n, subject *document.Node) Condition {
	value := r.text(subject, "")
	c := &Overlap{Value: value, Count: r.needSpan(n, "count"), Scope: r.scope(n.Get("in"), false)}
	given := 0
	if with := n.Get("with"); with != nil {
		given++
		c.With = r.texts(with)
	}
	for _, merge := range []Merge{Union, Intersection} {
		if other := n.Get(string(merge)); other != nil {
			given++
			c.Other, c.Merge = r.text(other, ""), merge
		}
	}
	if given != 1 {
		r.fail(n, "must have one of with, union, intersection")
	}
	return c
}

func (c *Overlap) written() object {
	o := object{{"overlap", c.Value}}
	if c.Other != "" {
		o.add(string(c.Merge), c.Other)
	} else {
		o.add("with", listOf(c.With))
	}
	o.add("count", spanOf(c.Count))
	o.scope(c.Scope)
	return o
}

func (c *Overlap) check(k *checker, path string) {
	k.value(path+".overlap", c.Value, Set, String)
	if c.Other != "" {
		k.value(path+"."+string(c.Merge), c.Other, Set, String)
	}
	k.count(path+".count", c.Count, math.Inf(1))
	k.scope(path, c.Scope)
}

// fate looks at a count only if a player with the value is surely there: the condition holds without players.
func (c *Overlap) fate(k *checker, path string) (fate, Problem) {
	if k.sizes.some(c.Value, c.Scope) == 0 {
		return open, Problem{}
	}
	most := k.elements(c.Value)
	if c.Merge == Intersection {
		most = min(most, k.elements(c.Other))
	}
	why := c.Count.excludes(interval{0, most})
	if why == "" && c.Other == "" && !c.Count.meets(interval{0, float64(len(c.With))}) {
		why = fmt.Sprintf("the list has %d elements", len(c.With))
	}
	return neverIf(path+".count", why)
}

func (c *Overlap) parts() parts { return parts{values: []string{c.Value, c.Other}} }

func (c *Overlap) words() string {
	with := list(quotedAll(c.With), "and")
	if c.Other != "" {
		with = "what any player" + of(c.Scope) + " has in " + quoted(c.Other)
		if c.Merge == Intersection {
			with = "what all players" + of(c.Scope) + " have in " + quoted(c.Other)
		}
		return quoted(c.Value) + " of each of them has " + span(c.Count) + " in common with " + with
	}
	return quoted(c.Value) + " of each player" + of(c.Scope) + " has " + span(c.Count) + " in common with " + with
}
