package rules

import "matchmaker.dev/pkg/matchfn/rules/document"

// Avoid says that no player is with one whose ID is in his set Value. A player may have his own there.
type Avoid struct {
	Value string
	ID    string // the name of a value, a string
	Scope Scope
}

func readAvoid(r *reader, n, subject *document.Node) Condition {
	return &Avoid{r.text(subject, ""), r.text(n.Get("id"), "id"), r.scope(n.Get("in"), false)}
}

func (c *Avoid) written() object {
	o := object{{"avoid", c.Value}, {"id", c.ID}}
	o.scope(c.Scope)
	return o
}

func (c *Avoid) check(k *checker, path string) {
	k.value(path+".avoid", c.Value, Set, String)
	k.value(path+".id", c.ID, String)
	k.scope(path, c.Scope)
}

func (*Avoid) fate(*checker, string) (fate, Problem) { return open, Problem{} }

func (c *Avoid) parts() parts { return parts{values: []string{c.Value, c.ID}} }

func (c *Avoid) words() string {
	return "no player" + of(c.Scope) + " has the " + quoted(c.ID) + " of another one in " + quoted(c.Value)
}
