package flexmatch

import (
	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// weight bounds what a rule becomes in our language: how many conditions and expressions, and how deep its text is.
type weight struct{ size, depth int }

// ruleDepth is how deep the text of a rule's condition is in a rule set.
const ruleDepth = 3

// weigh finds the weight of a rule. A rule that names others has theirs, once for each time that it names them.
func (r *reader) weigh(rule *Rule) {
	switch {
	case rule.Statement != nil:
		rule.weight = rule.Statement.weight()
		at := lenient.Member(rule.At, "statement")
		if rule.weight.size > rules.MaxConditions {
			r.Fail(at, "it has more than %d conditions and expressions, with those of the rules that it names",
				rules.MaxConditions)
		}
		if rule.weight.depth+ruleDepth > document.MaxDepth {
			r.Fail(at, "it is nested too deep, with the rules that it names")
		}
	case rule.Type == "distanceSort" || rule.Type == "absoluteSort" || rule.Type == "compound":
	default:
		rule.weight = rule.leaf()
	}
}

// leaf is the weight of a rule that names no others.
func (rule *Rule) leaf() weight {
	size, depth := func(e *Expr) int { return len(e.Calls()) + 1 }, 0
	reference := 1
	if rule.Reference != nil && rule.Reference.Expr != nil {
		reference = size(rule.Reference.Expr)
	}
	w := weight{}
	if len(rule.Measurements) > 1 {
		w.size = 1 // all of them
	}
	for _, m := range rule.Measurements {
		one := 4 // of a collection at most
		switch rule.Type {
		case "comparison":
			one = 1 + size(m) + reference
			if rule.Reference == nil { // with each other, or the greatest with the least
				one = len(rule.Measurements) * (3 + 2*size(m))
			}
		case "distance":
			one = 4 + size(m) + reference // compare, abs, minus, the number
			if rule.MinDistance.Set() && rule.MaxDistance.Set() {
				one *= 2
			}
		}
		w.size += one
		depth = max(depth, size(m), reference)
	}
	if rule.Measurements == nil { // latency, batchDistance
		w.size, depth = 10, 2
	}
	w.depth = 9 + depth // all of all of compare, abs, minus
	return w
}

// weight is the sum of its parts. It stops where it is too much.
func (s *Statement) weight() weight {
	if s.Op == "" {
		return s.Rule.weight
	}
	w := weight{size: 1}
	for _, arg := range s.Args {
		part := arg.weight()
		w.size = min(w.size+part.size, rules.MaxConditions+1)
		w.depth = max(w.depth, part.depth)
	}
	w.depth = min(w.depth+2, document.MaxDepth+1)
	return w
}

// weighAll looks at what all rules become together.
func (r *reader) weighAll(all []*Rule) {
	size := 0
	for _, rule := range all {
		if rule.Part {
			continue
		}
		if size += rule.weight.size; size > rules.MaxConditions {
			r.Fail(rule.At, "the rules up to this one have more than %d conditions and expressions", rules.MaxConditions)
			return
		}
	}
}
