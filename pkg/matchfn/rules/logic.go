package rules

import (
	"fmt"
	"strconv"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// All says that all of its conditions hold.
type All struct{ Of []Condition }

func readAll(r *reader, _, subject *document.Node) Condition { return &All{r.conditions(subject)} }

func (c *All) written() object { return object{{"all", writtenAll(c.Of)}} }

func (c *All) check(k *checker, path string) { k.conditions(path+".all", c.Of) }

func (c *All) fate(k *checker, path string) (fate, Problem) {
	of := k.fates(path+".all", c.Of)
	if of.never > 0 {
		return never, of.why
	}
	if why, found := k.clash(conjuncts(nil, path, c)); found {
		return never, why
	}
	if of.always == len(c.Of) {
		return always, Problem{}
	}
	return open, Problem{}
}

func (c *All) parts() parts { return parts{conditions: c.Of} }

func (*All) words() string { return "all of these hold:" }

// AnyOf says that at least one of its conditions holds.
type AnyOf struct{ Of []Condition }

func readAnyOf(r *reader, _, subject *document.Node) Condition { return &AnyOf{r.conditions(subject)} }

func (c *AnyOf) written() object { return object{{"any", writtenAll(c.Of)}} }

func (c *AnyOf) check(k *checker, path string) { k.conditions(path+".any", c.Of) }

func (c *AnyOf) fate(k *checker, path string) (fate, Problem) {
	return k.fates(path+".any", c.Of).some(path + ".any")
}

func (c *AnyOf) parts() parts { return parts{conditions: c.Of} }

func (*AnyOf) words() string { return "at least one of these holds:" }

// One says that exactly one of its conditions holds.
type One struct{ Of []Condition }

func readOne(r *reader, _, subject *document.Node) Condition { return &One{r.conditions(subject)} }

func (c *One) written() object { return object{{"one", writtenAll(c.Of)}} }

func (c *One) check(k *checker, path string) { k.conditions(path+".one", c.Of) }

func (c *One) fate(k *checker, path string) (fate, Problem) {
	of := k.fates(path+".one", c.Of)
	if of.always > 1 {
		return never, Problem{path + ".one", "more than one of these always holds"}
	}
	if fate, why := of.some(path + ".one"); fate == never {
		return never, why
	}
	return open, Problem{}
}

func (c *One) parts() parts { return parts{conditions: c.Of} }

func (*One) words() string { return "exactly one of these holds:" }

// Not says that a condition does not hold.
type Not struct{ Of Condition }

func readNot(r *reader, _, subject *document.Node) Condition { return &Not{r.condition(subject)} }

func (c *Not) written() object { return object{{"not", c.Of.written()}} }

func (c *Not) check(k *checker, path string) { k.condition(path+".not", c.Of) }

func (c *Not) fate(k *checker, path string) (fate, Problem) {
	switch fate, _ := k.fate(path+".not", c.Of); fate {
	case always:
		return never, Problem{path + ".not", "this always holds"}
	case never:
		return always, Problem{}
	case open:
	}
	return open, Problem{}
}

func (c *Not) parts() parts { return parts{conditions: []Condition{c.Of}} }

func (*Not) words() string { return "this does not hold:" }

func writtenAll(of []Condition) []any {
	list := []any{}
	for _, c := range of {
		list = append(list, c.written())
	}
	return list
}

// conditions checks conditions of conditions.
func (c *checker) conditions(path string, of []Condition) {
	if len(of) == 0 {
		c.add(path, "must have at least one condition")
	}
	for i, one := range of {
		c.condition(path+"["+strconv.Itoa(i)+"]", one)
	}
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
