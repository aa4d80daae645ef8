package rules

import "matchmaker.dev/pkg/matchfn/rules/document"

// Spread says that the greatest number is at most Max above the least.
type Spread struct {
	Value string
	Max   *Bound
	Scope Scope
}

func readSpread(r *reader, n, subject *document.Node) Condition {
	return &Spread{r.text(subject, ""), r.need(n, "max", true), r.scope(n.Get("in"), true)}
}

func (c *Spread) written() object {
	o := object{{"spread", c.Value}}
	o.bound("max", c.Max)
	o.scope(c.Scope)
	return o
}

func (c *Spread) check(k *checker, path string) {
	k.value(path+".spread", c.Value, Number)
	k.limit(path+".max", c.Max)
	k.scope(path, c.Scope)
}

func (*Spread) fate(*checker, string) (fate, Problem) { return open, Problem{} }

func (c *Spread) parts() parts { return parts{values: []string{c.Value}} }

func (c *Spread) words() string {
	if c.Scope.Of == BesideAnchor {
		return quoted(c.Value) + " of each player differs from the anchor's by at most " + bound(c.Max)
	}
	return quoted(c.Value) + " of any two players" + of(c.Scope) + " differs by at most " + bound(c.Max)
}
