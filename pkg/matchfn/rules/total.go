package rules

import "matchmaker.dev/pkg/matchfn/rules/document"

// Total bounds the sum of a number over the players.
type Total struct {
	Value string
	Sum   Range
	Scope Scope
}

func readTotal(r *reader, n, subject *document.Node) Condition {
	return &Total{r.text(subject, ""), r.needSpan(n, "sum"), r.scope(n.Get("in"), false)}
}

func (c *Total) written() object {
	o := object{{"total", c.Value}, {"sum", spanOf(c.Sum)}}
	o.scope(c.Scope)
	return o
}

func (c *Total) check(k *checker, path string) {
	k.value(path+".total", c.Value, Number)
	k.span(path+".sum", c.Sum)
	k.scope(path, c.Scope)
}

func (c *Total) fate(k *checker, path string) (fate, Problem) {
	if len(k.sizes.each(c.Scope)) == 0 {
		return open, Problem{}
	}
	return neverIf(path+".sum", c.Sum.excludes(everything))
}

func (c *Total) parts() parts { return parts{values: []string{c.Value}} }

func (c *Total) words() string {
	return "the sum of " + quoted(c.Value) + " over the players" + of(c.Scope) + " is " + span(c.Sum)
}
