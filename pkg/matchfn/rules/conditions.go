package rules

import (
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Condition is what must hold of a match. Each kind has a file.
type Condition interface {
	// written returns the condition in our language.
	written() object
	// check reports what is wrong with it.
	check(c *checker, path string)
	// fate returns what is sure of it before one knows the match, and where and why it never holds.
	fate(c *checker, path string) (fate, Problem)
	// parts returns what it looks at.
	parts() parts
	// words explains it, without the conditions in it.
	words() string
}

// parts are the names of values that something looks at, where it has one, and the conditions and expressions in it.
type parts struct {
	values      []string
	conditions  []Condition
	expressions []Expression
}

// kind is how a condition is read: the member that names it, and the other members that it may have.
type kind struct {
	name   string
	read   func(r *reader, n, subject *document.Node) Condition
	others []string
}

func kinds() []kind {
	return []kind{
		{"same", readSame, []string{"in"}},
		{"different", readDifferent, []string{"in"}},
		{"spread", readSpread, []string{"max", "in"}},
		{"share", readShare, []string{"min", "in"}},
		{"overlap", readOverlap, []string{"with", "union", "intersection", "count", "in"}},
		{"holders", readHolders, []string{"of", "count", "in"}},
		{"total", readTotal, []string{"sum", "in"}},
		{"gap", readGap, []string{"stat", "max", "in"}},
		{"compare", readCompare, nil},
		{"latency", readLatency, []string{"max", "over", "apart", "apartFrom"}},
		{"avoid", readAvoid, []string{"id", "in"}},
		{"premade", readPremade, nil},
		{"all", readAll, nil},
		{"any", readAnyOf, nil},
		{"one", readOne, nil},
		{"not", readNot, nil},
	}
}

// condition reads a condition from an object that may have other members besides.
func (r *reader) condition(n *document.Node, besides ...string) Condition {
	if r.nodes++; r.nodes > MaxConditions {
		r.fail(n, "there are more than %d conditions", MaxConditions)
	}
	if n.Kind != document.Object {
		r.fail(n, "must be an object, not %s", n.Kind)
		return nil
	}
	var found kind
	var all []string
	for _, kind := range kinds() {
		all = append(all, kind.name)
		if n.Get(kind.name) == nil {
			continue
		}
		if found.name != "" {
			r.fail(n, "is both %s and %s", found.name, kind.name)
		}
		found = kind
		r.only(n, slices.Concat(besides, []string{kind.name}, kind.others)...)
	}
	if found.name == "" {
		r.fail(n, "must have one of %s", strings.Join(all, ", "))
		return nil
	}
	if r.err != nil {
		return nil
	}
	return found.read(r, n, n.Get(found.name))
}

func (r *reader) conditions(n *document.Node) (all []Condition) {
	elements := r.elements(n, MaxRules)
	if len(elements) == 0 {
		r.fail(n, "must have at least one condition")
	}
	for _, e := range elements {
		all = append(all, r.condition(e))
	}
	return all
}

// need is a bound that must be there.
func (r *reader) need(n *document.Node, name string, own bool) *Bound {
	b := r.bound(n.Get(name), own)
	if b == nil {
		r.fail(n, "has no %s", name)
	}
	return b
}

func (r *reader) needSpan(n *document.Node, name string) Range {
	if n.Get(name) == nil {
		r.fail(n, "has no %s", name)
	}
	return r.span(n.Get(name))
}
