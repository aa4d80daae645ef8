package rules

import "matchmaker.dev/pkg/matchfn/rules/document"

// Same says that all players have the same string or number; with Different, that no two players have the same.
type Same struct {
	Value     string
	Different bool
	Scope     Scope
}

func readSame(r *reader, n, subject *document.Node) Condition {
	return &Same{Value: r.text(subject, ""), Scope: r.scope(n.Get("in"), true)}
}

func readDifferent(r *reader, n, subject *document.Node) Condition {
	return &Same{Value: r.text(subject, ""), Different: true, Scope: r.scope(n.Get("in"), false)}
}

func (c *Same) written() object {
	name := "same"
	if c.Different {
		name = "different"
	}
	o := object{{name, c.Value}}
	o.scope(c.Scope)
	return o
}

func (c *Same) check(k *checker, path string) {
	k.value(path, c.Value, String, Number)
	k.scope(path, c.Scope)
}

func (*Same) fate(*checker, string) (fate, Problem) { return open, Problem{} }

func (c *Same) parts() parts { return parts{values: []string{c.Value}} }

func (c *Same) words() string {
	switch {
	case c.Different:
		return "no two players" + of(c.Scope) + " have the same " + quoted(c.Value)
	case c.Scope.Of == BesideAnchor:
		return "each player has the same " + quoted(c.Value) + " as the anchor"
	}
	return "all players" + of(c.Scope) + " have the same " + quoted(c.Value)
}
