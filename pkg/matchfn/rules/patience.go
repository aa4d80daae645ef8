package rules

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Patience is how long tickets wait for a nearer match where players come that may be in it. Which tickets wait follows
// from the tickets of a run alone.
type Patience struct {
	// Until is the age, in seconds, from which on a ticket takes any match that the rules allow.
	Until float64
	// Worth is how many seconds of waiting it is worth to get a match of equals instead of one at the bounds of the
	// rules.
	Worth float64
	// Enough is a part of the bounds. A match that uses no more of them is taken at once.
	Enough float64
}

const (
	// MaxPatience is the most seconds of Patience.
	MaxPatience = 86400
	// worthPatience is Worth by default, in times of Until. enoughPatience is Enough by default.
	worthPatience  = 2
	enoughPatience = 0.05
)

func (r *reader) patience(n *document.Node) *Patience {
	if !r.is(n, document.Object) {
		return nil
	}
	r.only(n, "until", "worth", "enough")
	if n.Get("until") == nil {
		r.fail(n, "has no until: after how many seconds tickets take any match")
	}
	p := &Patience{Until: r.number(n.Get("until"), 0)}
	p.Worth = r.number(n.Get("worth"), worthPatience*p.Until)
	p.Enough = r.number(n.Get("enough"), enoughPatience)
	return p
}

func (c *checker) patience() {
	p := c.rules.Patience
	if p == nil {
		return
	}
	if !(p.Until > 0 && p.Until <= MaxPatience) {
		c.add("patience.until", "must be more than 0 seconds and at most %d", MaxPatience)
	}
	if !(p.Worth > 0 && p.Worth <= 100*MaxPatience) {
		c.add("patience.worth", "must be more than 0 seconds and at most %d", 100*MaxPatience)
	}
	if !(p.Enough >= 0 && p.Enough < 1) {
		c.add("patience.enough", "must be a part of the bounds: at least 0 and less than 1")
	}
	if !slices.ContainsFunc(c.rules.Rules, func(rule Rule) bool { return narrows(rule.Need) }) {
		c.add("patience", "no rule bounds a spread, a gap, a favorite or a quality: no match is nearer than another")
	}
}

// narrows reports whether a match can use less than all that a rule allows. What patience asks is looked at in spreads,
// gaps and odds that must hold in any case.
func narrows(need Condition) bool {
	switch c := need.(type) {
	case *Spread, *Gap:
		return true
	case *Compare:
		odds, _, _ := BoundedOdds(c)
		return odds != nil
	case *All:
		return slices.ContainsFunc(c.Of, narrows)
	}
	return false
}
