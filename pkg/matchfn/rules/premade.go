package rules

import "matchmaker.dev/pkg/matchfn/rules/document"

// Premade says that every team has a ticket of at least Players players, or none has.
type Premade struct{ Players *Bound }

func readPremade(r *reader, _, subject *document.Node) Condition {
	return &Premade{r.bound(subject, false)}
}

func (c *Premade) written() object {
	o := object{}
	o.bound("premade", c.Players)
	return o
}

func (c *Premade) check(k *checker, path string) {
	if c.Players == nil {
		k.add(path+".premade", "is missing")
	}
}

func (*Premade) fate(*checker, string) (fate, Problem) { return open, Problem{} }

func (*Premade) parts() parts { return parts{} }

func (c *Premade) words() string {
	return "every team has a party of at least " + bound(c.Players) + " players, or none has"
}
