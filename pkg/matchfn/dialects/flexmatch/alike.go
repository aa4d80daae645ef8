package flexmatch

import (
	"fmt"
	"slices"

	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
)

// singles reports whether a rule compares single numbers with each other.
func (rule *Rule) singles() bool {
	return rule.Reference == nil && !slices.ContainsFunc(rule.Measurements, func(m *Expr) bool { return m.Depth > 0 })
}

// pairs compares each number with each other.
func (x *translator) pairs(rule *Rule) (rules.Condition, error) {
	var numbers []rules.Expression
	for _, m := range rule.Measurements {
		n, err := x.number(m, rule.Aggregation)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	if len(numbers) == 1 {
		return nil, fmt.Errorf("%s is one number, and there is no other to compare it with", rule.Measurements[0])
	}
	var needs []rules.Condition
	for i, left := range numbers {
		for _, right := range numbers[i+1:] {
			needs = append(needs, &rules.Compare{Left: left, Op: rules.Operator(rule.Operation), Right: right})
		}
	}
	return t.All(needs...), nil
}

// alike compares values with each other.
func (x *translator) alike(rule *Rule, m *Expr) (rules.Condition, error) {
	path, apart, ok := players(m)
	if !ok {
		if need := x.gap(m, rule.Aggregation, rules.Fixed(0)); need != nil && rule.Operation == "=" {
			return need, nil
		}
		return nil, fmt.Errorf("%s %s without a reference is only for values of players, or = for those of teams",
			m, rule.Operation)
	}
	if path.ID || path.Attribute == "" || path.Depth > 1 && !path.PerTeam || path.Depth > 2 {
		return nil, fmt.Errorf("%s has no values that can be compared with each other", m)
	}
	if apart {
		return nil, fmt.Errorf("%s is of several teams, and it is not said whether players of one team are compared: "+
			"write flatten(…)", m)
	}
	s, err := x.together(path, apart)
	if err != nil {
		if rule.Operation == "=" && path.Elem == Numbers {
			return x.level(rule, m)
		}
		return nil, err
	}
	different := rule.Operation == "!="
	// A party has one value: its players do not differ from each other.
	return &rules.Same{Value: x.value(path.Attribute, rule.Aggregation, different), Different: different, Scope: s}, nil
}

// level says that the greatest number is the least, too.
func (x *translator) level(rule *Rule, m *Expr) (rules.Condition, error) {
	greatest, err := x.number(&Expr{Call: "max", Arg: m, Elem: Numbers}, rule.Aggregation)
	if err != nil {
		return nil, err
	}
	least, err := x.number(&Expr{Call: "min", Arg: m, Elem: Numbers}, rule.Aggregation)
	return &rules.Compare{Left: greatest, Op: rules.Equal, Right: least}, err
}
