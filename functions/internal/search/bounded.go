package search

import "matchmaker.dev/pkg/matchfn/rules"

// totalOf returns the sum that a condition bounds, nil for one that bounds none: a total, or a comparison of a sum with
// a number, or of how far it is from a fixed one, as the rule sets of other matchmakers say it. If the sum is how many
// players have an element, and there must be some, it returns the element. That there are not too many is a pruner.
func totalOf(need rules.Condition) (sum *rules.Total, element string) {
	switch c := need.(type) {
	case *rules.Total:
		return c, ""
	case *rules.Holders:
		if c.Count.Min != nil {
			return &rules.Total{Value: c.Value, Sum: c.Count, Scope: c.Scope}, c.Element
		}
	case *rules.Compare:
		if sum, bound, op := sided(c); sum != nil {
			return compared(sum, bound, op), ""
		}
	}
	return nil, ""
}

// sided returns the left and the right side of a comparison with a number, which it puts on the right.
func sided(c *rules.Compare) (e rules.Expression, bound *rules.Bound, op rules.Operator) {
	if literal, ok := c.Right.(*rules.Literal); ok {
		return c.Left, literal.Bound, c.Op
	}
	if literal, ok := c.Left.(*rules.Literal); ok {
		mirrored := map[rules.Operator]rules.Operator{
			rules.Less: rules.Greater, rules.LessEqual: rules.GreaterEqual, rules.Greater: rules.Less,
			rules.GreaterEqual: rules.LessEqual, rules.Equal: rules.Equal,
		}
		return c.Right, literal.Bound, mirrored[c.Op]
	}
	return nil, nil, ""
}

func compared(e rules.Expression, bound *rules.Bound, op rules.Operator) *rules.Total {
	switch e := e.(type) {
	case *rules.StatOf:
		if e.Stat != rules.StatSum {
			return nil
		}
		t := &rules.Total{Value: e.Value, Scope: e.Scope}
		switch op {
		case rules.Less, rules.LessEqual:
			t.Sum.Max = bound
		case rules.Greater, rules.GreaterEqual:
			t.Sum.Min = bound
		case rules.Equal:
			t.Sum = rules.Range{Min: bound, Max: bound}
		default:
			return nil
		}
		return t
	case *rules.Abs:
		sum, at := apart(e.Of)
		if sum == nil || op != rules.Less && op != rules.LessEqual {
			return nil
		}
		return &rules.Total{Value: sum.Value, Scope: sum.Scope, Sum: rules.Range{
			Min: shifted(bound, at, -1), Max: shifted(bound, at, 1),
		}}
	}
	return nil
}

// apart returns the sum and the fixed number whose difference an expression is.
func apart(e rules.Expression) (sum *rules.StatOf, at float64) {
	difference, ok := e.(*rules.Arithmetic)
	if !ok || difference.Op != '-' {
		return nil, 0
	}
	left, right := difference.Left, difference.Right
	if _, ok := left.(*rules.Literal); ok {
		left, right = right, left
	}
	sum, _ = left.(*rules.StatOf)
	fixed, _ := right.(*rules.Literal)
	if sum == nil || sum.Stat != rules.StatSum || fixed == nil || !fixed.Bound.Constant() || fixed.Bound.Off {
		return nil, 0
	}
	return sum, fixed.Bound.Start
}

// shifted returns a number and a bound that is added to it, or taken from it.
func shifted(b *rules.Bound, at, sign float64) *rules.Bound {
	to := *b
	to.Start = at + sign*b.Start
	to.Steps = nil
	for _, step := range b.Steps {
		step.Value = at + sign*step.Value
		to.Steps = append(to.Steps, step)
	}
	if l := b.Linear; l != nil {
		to.Linear = &rules.Linear{Delta: sign * l.Delta, Every: l.Every, Limit: at + sign*l.Limit}
	}
	return &to
}
