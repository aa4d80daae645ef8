package flexmatch

import (
	"errors"
	"fmt"
	"math"
	"slices"

	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
)

// scope returns the teams of a path: each by itself if the value is per team, or all players together.
func (x *translator) scope(path *Expr, apart bool) rules.Scope {
	whole := true
	for _, team := range x.set.Teams {
		whole = whole && (path.Teams == nil || slices.Contains(path.Teams, team.Name))
	}
	single := len(x.set.Teams) == 1 && x.set.Teams[0].Quantity == 1
	switch {
	case whole && (!apart || single):
		return rules.Scope{Of: rules.InMatch}
	case whole:
		return rules.Scope{Of: rules.InTeam}
	}
	return rules.Scope{Of: rules.InTeams, Teams: path.Teams}
}

// players returns the path of an expression that is a path or its flatten, and whether teams stay apart.
func players(e *Expr) (path *Expr, apart, ok bool) {
	switch {
	case e.Call == "":
		return e, e.PerTeam, true
	case e.Call == "flatten" && e.Arg.Call == "" && e.Arg.PerTeam:
		return e.Arg, false, true
	}
	return nil, false, false
}

// together returns the scope of all players of a path. Without all teams there is none for players of several.
func (x *translator) together(path *Expr, apart bool) (rules.Scope, error) {
	s := x.scope(path, apart)
	if s.Of == rules.InTeams && path.PerTeam && !apart {
		return s, fmt.Errorf("%s is of several teams, which are neither one nor all", path)
	}
	return s, nil
}

// number translates an expression of numbers.
func (x *translator) number(e *Expr, party string) (rules.Expression, error) {
	if e.Elem != Numbers {
		return nil, fmt.Errorf("%s has no numbers", e)
	}
	if path, _, ok := players(e); ok {
		value := x.value(path.Attribute, party, false)
		return &rules.StatOf{Stat: rules.StatEach, Value: value, Scope: x.scope(path, false)}, nil
	}
	stat := rules.Stat(e.Call)
	path, apart, ok := players(e.Arg)
	if !ok {
		of, err := x.number(e.Arg, party)
		if err != nil {
			return nil, err
		}
		return &rules.Reduce{Stat: stat, Of: of}, nil
	}
	value := ""
	switch {
	case stat != rules.StatCount:
		value = x.value(path.Attribute, party, false)
	case x.attributes[path.Attribute] != nil && x.attributes[path.Attribute].Type == "string_list":
		return nil, fmt.Errorf("%s does not say whether it counts players or strings", e)
	}
	s := x.scope(path, apart)
	if s.Of == rules.InTeams && path.PerTeam && !apart { // several teams together
		if stat == rules.StatCount {
			return &rules.Reduce{Stat: rules.StatSum, Of: &rules.StatOf{Stat: stat, Scope: s}}, nil
		}
		return &rules.Reduce{Stat: stat, Of: &rules.StatOf{Stat: rules.StatEach, Value: value, Scope: s}}, nil
	}
	return &rules.StatOf{Stat: stat, Value: value, Scope: s}, nil
}

// reference translates what numbers are compared with: one number.
func (x *translator) reference(ref *Reference, party string) (rules.Expression, error) {
	if ref.Number != nil {
		return &rules.Literal{Bound: x.bound(*ref.Number)}, nil
	}
	if ref.Expr == nil {
		return nil, errors.New("numbers are compared with a text")
	}
	if ref.Expr.Depth > 0 {
		return nil, fmt.Errorf("referenceValue is %s, and one number is expected", ref.Expr.Shape())
	}
	return x.number(ref.Expr, party)
}

// sides are the measurement of a rule and its reference.
func (x *translator) sides(rule *Rule, m *Expr) (left, right rules.Expression, err error) {
	if left, err = x.number(m, rule.Aggregation); err != nil {
		return nil, nil, err
	}
	right, err = x.reference(rule.Reference, rule.Aggregation)
	return left, right, err
}

func (x *translator) distance(rule *Rule, m *Expr) (rules.Condition, error) {
	if need := x.span(rule, m); need != nil {
		return need, nil
	}
	left, right, err := x.sides(rule, m)
	if err != nil {
		return nil, err
	}
	apart := &rules.Abs{Of: &rules.Arithmetic{Op: '-', Left: left, Right: right}}
	var needs []rules.Condition
	if rule.MaxDistance.Set() {
		most := &rules.Literal{Bound: x.bound(rule.MaxDistance)}
		needs = append(needs, &rules.Compare{Left: apart, Op: rules.LessEqual, Right: most})
	}
	if rule.MinDistance.Set() {
		least := &rules.Literal{Bound: x.bound(rule.MinDistance)}
		needs = append(needs, &rules.Compare{Left: apart, Op: rules.GreaterEqual, Right: least})
	}
	return t.All(needs...), nil
}

// span recognizes the distance between the greatest and the least of the same numbers, of players or of teams: that is
// searched faster. It returns nil for others.
func (x *translator) span(rule *Rule, m *Expr) rules.Condition {
	ref := rule.Reference.Expr
	if ref == nil || rule.MinDistance.Set() || m.Depth > 0 || ref.Depth > 0 || m.Arg == nil || ref.Arg == nil {
		return nil
	}
	ends := m.Call == "max" && ref.Call == "min" || m.Call == "min" && ref.Call == "max"
	if !ends || m.Arg.String() != ref.Arg.String() {
		return nil
	}
	if path, apart, ok := players(m.Arg); ok {
		if s, err := x.together(path, apart); err == nil {
			value := x.value(path.Attribute, rule.Aggregation, false)
			return &rules.Spread{Value: value, Max: x.bound(rule.MaxDistance), Scope: s}
		}
		return nil
	}
	return x.gap(m.Arg, rule.Aggregation, x.bound(rule.MaxDistance))
}

// gap is a limit of how much a number of teams differs. It returns nil if the expression has no number for each team.
func (x *translator) gap(e *Expr, party string, most *rules.Bound) rules.Condition {
	if !e.PerTeam || e.Depth != 1 {
		return nil
	}
	of, err := x.number(e, party)
	if err != nil {
		return nil
	}
	stat, ok := of.(*rules.StatOf)
	if !ok || stat.Scope.Of == rules.InMatch || stat.Stat == rules.StatEach {
		return nil
	}
	return &rules.Gap{Stat: stat.Stat, Value: stat.Value, Teams: stat.Scope.Teams, Max: most}
}

func (x *translator) comparison(rule *Rule, m *Expr) (rules.Condition, error) {
	if rule.Reference == nil {
		return x.alike(rule, m)
	}
	if m.Elem == Strings {
		return x.text(rule, m)
	}
	left, right, err := x.sides(rule, m)
	if err != nil {
		return nil, err
	}
	return &rules.Compare{Left: left, Op: rules.Operator(rule.Operation), Right: right}, nil
}

// text compares each player's string with one.
func (x *translator) text(rule *Rule, m *Expr) (rules.Condition, error) {
	path, _, ok := players(m)
	if !ok || path.Attribute == "" || x.attributes[path.Attribute].Type != "string" || rule.Reference.Text == "" {
		return nil, fmt.Errorf("strings of %s are compared with a text only, and each player has one", m)
	}
	count := rules.Exactly(1)
	if rule.Operation == "!=" {
		count = rules.Range{Max: rules.Fixed(0)}
	}
	return &rules.Overlap{Value: x.value(path.Attribute, "", false), With: []string{rule.Reference.Text}, Count: count,
		Scope: x.scope(path, false)}, nil
}

// latency translates limits of latencies. None is less than the least, but a latency may be less than the average: the
// distance to that has two sides.
func (x *translator) latency(rule *Rule) (rules.Condition, error) {
	value := x.Regions(LatencyValue, rules.Merge(rule.Aggregation))
	need := &rules.Latency{
		Value: value, Max: x.bound(rule.MaxLatency), Apart: x.bound(rule.MaxDistance), From: rules.Least,
	}
	if rule.DistanceReference != string(rules.Average) {
		return need, nil
	}
	most := need.Apart
	if least, _, _ := most.Over(0, math.Inf(1)); least < 0 {
		return nil, errors.New("maxDistance must not be negative at any time")
	}
	all := &rules.LatencyOf{Value: value}
	near := &rules.Compare{
		Left: &rules.Abs{Of: &rules.Arithmetic{
			Op: '-', Left: all, Right: &rules.Reduce{Stat: rules.StatAverage, Of: all},
		}},
		Op: rules.LessEqual, Right: &rules.Literal{Bound: most},
	}
	if need.Apart = nil; need.Max == nil {
		return near, nil
	}
	return t.All(need, near), nil
}
