package rules

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Holders says how many players have Element, or in their set.
type Holders struct {
	Value   string
	Element string
	Count   Range
	Scope   Scope
}

func readHolders(r *reader, n, subject *document.Node) Condition {
	if n.Get("of") == nil {
		r.fail(n, "has no of: the element to count")
	}
	return &Holders{r.text(subject, ""), r.text(n.Get("of"), ""), r.needSpan(n, "count"), r.scope(n.Get("in"), false)}
}

func (c *Holders) written() object {
	o := object{{"holders", c.Value}, {"of", c.Element}, {"count", spanOf(c.Count)}}
	o.scope(c.Scope)
	return o
}

func (c *Holders) check(k *checker, path string) {
	k.value(path+".holders", c.Value, Set, String)
	k.count(path+".count", c.Count, MaxPlayers)
	k.scope(path, c.Scope)
}

func (c *Holders) fate(k *checker, path string) (fate, Problem) {
	each := k.sizes.each(c.Scope)
	if len(each) == 0 {
		return open, Problem{}
	}
	fewest := math.Inf(1)
	for _, players := range each {
		fewest = min(fewest, players.high)
	}
	return neverIf(path+".count", c.Count.excludes(interval{0, fewest}))
}

func (c *Holders) parts() parts { return parts{values: []string{c.Value}} }

func (c *Holders) words() string {
	return span(c.Count) + " of the players" + of(c.Scope) + " have " + quoted(c.Element) + " in " + quoted(c.Value)
}
