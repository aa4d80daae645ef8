package unity

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// infer finds the kind of each source by its default and by the rules that use it. Unity compares strings and numbers
// alike for equality, and intersects lists of both. Where nothing in the file says which they are, they are strings.
func (x *translator) infer(p *Pool) {
	all := slices.Clone(p.Rules)
	for _, team := range p.Teams {
		all = append(all, team.Rules...)
	}
	for _, rule := range all {
		if rule.Default != nil {
			x.defaults[rule.Source] = rule.Default
		}
	}
	for _, rule := range all {
		example := first(x.defaults[rule.Source])
		switch rule.Type {
		case "Intersection":
			x.kinds[rule.Source] = rules.Set
		case "Equality", "InList":
			if n := first(rule.Reference); n != nil {
				example = n
			}
			if x.kinds[rule.Source] == "" {
				x.kinds[rule.Source] = rules.String
			}
			if example != nil && example.Kind == document.Number {
				x.kinds[rule.Source] = rules.Number
			}
		default:
			x.kinds[rule.Source], x.known[rule.Source] = rules.Number, true
		}
		if example != nil {
			x.known[rule.Source] = true
		}
	}
}

// first returns the first element of a list, nil for an empty one, and what is no list itself.
func first(n *document.Node) *document.Node {
	if n == nil || n.Kind != document.List {
		return n
	}
	if len(n.Elements) == 0 {
		return nil
	}
	return n.Elements[0]
}

// guess returns what the guess of a source's kind means for players, or nothing if the file says the kind.
func (x *translator) guess(source string) string {
	switch {
	case x.known[source]:
		return ""
	case x.kinds[source] == rules.Set:
		return "its lists are taken as lists of strings; players with lists of numbers count as missing"
	}
	return "its values are taken as strings; players with numbers count as missing"
}

// datum reads a default.
func datum(kind rules.Kind, n *document.Node) (d rules.Datum, err error) {
	r := &lenient.Reader{}
	switch kind {
	case rules.Number:
		d.Number = r.Number(n)
	case rules.Set:
		d.Set = r.Values(r.List(n, rules.MaxElements))
	default:
		d.String = r.Value(n)
	}
	return d, r.Err()
}
