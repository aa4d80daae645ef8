package rules

import "matchmaker.dev/pkg/matchfn/rules/document"

// Share says that the sets of all players have at least Min elements in common. A string is a set of one.
type Share struct {
	Value string
	Min   *Bound
	Scope Scope
}

func readShare(r *reader, n, subject *document.Node) Condition {
	c := &Share{r.text(subject, ""), Fixed(1), r.scope(n.Get("in"), true)}
	if n.Get("min") != nil {
		c.Min = r.bound(n.Get("min"), false)
	}
	return c
}

func (c *Share) written() object {
	o := object{{"share", c.Value}}
	o.bound("min", c.Min)
	o.scope(c.Scope)
	return o
}

func (c *Share) check(k *checker, path string) {
	k.value(path+".share", c.Value, Set, String)
	k.scope(path, c.Scope)
	if c.Min == nil {
		k.add(path+".min", "is missing")
	}
}

func (c *Share) fate(k *checker, path string) (fate, Problem) {
	if k.sizes.some(c.Value, c.Scope) == 0 {
		return open, Problem{}
	}
	return neverIf(path+".min", Range{Min: c.Min}.excludes(interval{0, k.elements(c.Value)}))
}

func (c *Share) parts() parts { return parts{values: []string{c.Value}} }

func (c *Share) words() string {
	if c.Scope.Of == BesideAnchor {
		return quoted(c.Value) + " of each ticket has at least " + bound(c.Min) + " in common with the anchor's"
	}
	return quoted(c.Value) + " of all players" + of(c.Scope) + " has at least " + bound(c.Min) + " in common"
}
