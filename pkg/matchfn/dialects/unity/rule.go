package unity

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// rule translates a rule of the match, or of the teams of a shape.
func (x *translator) rule(rule *Rule, scope rules.Scope) {
	active, never, err := rule.active()
	if never {
		x.Say(rule.At, rule.Name, t.Exact, "it is never enabled, so it is left out")
		return
	}
	mark := x.Mark()
	var need rules.Condition
	why := ""
	if err == nil {
		need, why, err = x.need(rule, scope)
	}
	if err == nil && rule.Not {
		if _, ok := need.(*rules.Latency); ok { // its bounds would become others
			err = errors.New("not is not for latencies: write GreaterThan")
		} else if scope.Of != rules.InMatch {
			err = errors.New("not is only for rules of the match: for several teams it would say that one breaks the rule")
		}
		need = &rules.Not{Of: need}
	}
	if err != nil {
		x.Reset(mark)
		x.Say(rule.At, rule.Name, t.Refused, "%v", err)
		return
	}
	x.Rule(rule.Name, active, need)
	verdict := t.Exact
	if guess := x.guess(rule.Source); guess != "" {
		verdict, why = t.Stricter, strings.TrimPrefix(why+"; "+guess, "; ")
	}
	if x.defaults[rule.Source] == nil && !x.pool.needs(rule.Source) {
		verdict, why = t.Stricter, strings.TrimPrefix(why+"; a player without the value is in no match, also where the "+
			"rule does not count", "; ")
	}
	x.Say(rule.At, rule.Name, verdict, "%s", why)
}

// needs reports whether a rule looks at the source for every player, at any time.
func (p *Pool) needs(source string) bool {
	always := func(rule *Rule) bool {
		active, never, err := rule.active()
		return rule.Source == source && active == nil && !never && err == nil
	}
	return slices.ContainsFunc(p.Rules, always) ||
		!slices.ContainsFunc(p.Teams, func(t Team) bool { return !slices.ContainsFunc(t.Rules, always) })
}

// active is when the rule counts: nil for always.
func (rule *Rule) active() (active *rules.Bound, never bool, err error) {
	b := &rules.Bound{Clock: rules.Oldest}
	if rule.Enabled {
		b.Start = 1
	}
	ever := rule.Enabled
	relaxations, err := rule.relaxed("RuleControl.Enable", "RuleControl.Disable")
	for _, r := range relaxations {
		b.Clock = clocks[r.Age]
		if r.Type == "RuleControl.Enable" {
			b.Step(r.After, 1)
			ever = true
		} else {
			b.Step(r.After, 0)
		}
	}
	if !ever {
		return nil, true, nil
	}
	if len(b.Steps) == 0 && b.Start == 1 {
		return nil, false, err
	}
	return b, len(b.Steps) == 0, err
}

// relaxed returns the relaxations of some types by their time. They must all follow the same age.
func (rule *Rule) relaxed(types ...string) ([]Relaxation, error) {
	all := sorted(rule.Relaxations)
	all = slices.DeleteFunc(all, func(r Relaxation) bool { return !slices.Contains(types, r.Type) })
	for _, r := range all {
		if r.Scope != wholeMatch {
			return all, r.At.Errorf("has the ageScope %s, and our rules follow the ages of the match", r.Scope)
		}
		if r.Age != all[0].Age {
			return all, r.At.Errorf("has the ageType %s, and another relaxation of its kind %s: they must have the same",
				r.Age, all[0].Age)
		}
	}
	return all, nil
}

// bound is a number that relaxations replace.
func (rule *Rule) bound(start *document.Node) (*rules.Bound, error) {
	v, ok := number(start)
	if !ok {
		return nil, errors.New("reference is not a number")
	}
	b := &rules.Bound{Clock: rules.Oldest, Start: v}
	replaced, err := rule.relaxed("ReferenceControl.Replace")
	for _, r := range replaced {
		if v, ok = number(r.Value); !ok {
			return nil, errors.New("a relaxation's value is not a number")
		}
		b.Clock = clocks[r.Age]
		b.Step(r.After, v)
	}
	return b, err
}

// replaced reports whether relaxations replace the reference.
func (rule *Rule) replaced() bool {
	return slices.ContainsFunc(rule.Relaxations, func(r Relaxation) bool { return r.Type == "ReferenceControl.Replace" })
}

var operators = map[string]rules.Operator{
	"LessThan": rules.Less, "LessThanEqual": rules.LessEqual,
	"GreaterThan": rules.Greater, "GreaterThanEqual": rules.GreaterEqual,
}

func (x *translator) need(rule *Rule, scope rules.Scope) (rules.Condition, string, error) {
	if rule.Type == "DoubleDifference" {
		return nil, "", errors.New("nobody has said what DoubleDifference means")
	}
	if strings.EqualFold(rule.Source, "Players.QosResults.Latency") {
		return x.latency(rule, scope)
	}
	value, why, err := x.value(rule)
	if err != nil {
		return nil, "", err
	}
	switch rule.Type {
	case "Difference":
		most, err := rule.bound(rule.Reference)
		return &rules.Spread{Value: value, Max: most, Scope: scope}, why, err
	case "Equality":
		need, err := x.equality(rule, value, scope)
		return need, why, err
	case "InList":
		need, err := x.among(rule, value, scope)
		return need, why, err
	case "Intersection":
		least := rule.Reference
		if _, ok := number(least); !ok && rule.Overlap != nil && least == nil {
			least = &document.Node{Kind: document.Number, Number: *rule.Overlap}
		} else if rule.Overlap != nil && *rule.Overlap != 0 && least != nil {
			return nil, "", errors.New("it has both a reference and an overlap")
		}
		common, err := rule.bound(least)
		return &rules.Share{Value: value, Min: common, Scope: scope}, why, err
	}
	limit, err := rule.bound(rule.Reference)
	return &rules.Compare{
		Left: &rules.StatOf{Stat: rules.StatEach, Value: value, Scope: scope}, Op: operators[rule.Type],
		Right: &rules.Literal{Bound: limit},
	}, why, err
}

// latency is about the region of the match.
func (x *translator) latency(rule *Rule, scope rules.Scope) (rules.Condition, string, error) {
	const why = "tickets bring the latencies as a map by region"
	if scope.Of != rules.InMatch {
		return nil, "", errors.New("the players of the match are in one region, so that a team has no limit of its own")
	}
	limit, err := rule.bound(rule.Reference)
	if err != nil {
		return nil, "", err
	}
	value := x.Regions(LatencyValue, rules.Each)
	all := &rules.LatencyOf{Value: value}
	switch rule.Type {
	case "LessThanEqual":
		return &rules.Latency{Value: value, Max: limit, From: rules.Least}, why, nil
	case "LessThan", "GreaterThan", "GreaterThanEqual":
		return &rules.Compare{Left: all, Op: operators[rule.Type], Right: &rules.Literal{Bound: limit}}, why, nil
	case "Difference":
		return &rules.Compare{
			Left: &rules.Arithmetic{Op: '-', Left: &rules.Reduce{Stat: rules.StatMax, Of: all},
				Right: &rules.Reduce{Stat: rules.StatMin, Of: all}},
			Op: rules.LessEqual, Right: &rules.Literal{Bound: limit},
		}, why, nil
	}
	return nil, "", fmt.Errorf("latencies have no rule of the type %s", rule.Type)
}

func (x *translator) equality(rule *Rule, value string, scope rules.Scope) (rules.Condition, error) {
	n := rule.Reference
	switch {
	case n == nil:
		if kind := x.Rules.ValueOf(value).Kind; kind == rules.Set {
			return nil, errors.New("another rule takes its source as a list")
		}
		if rule.replaced() {
			return nil, errors.New("a relaxation replaces its reference, and it has none")
		}
		return &rules.Same{Value: value, Scope: scope}, nil
	case n.Kind == document.Number && x.Rules.ValueOf(value).Kind == rules.Number:
		limit, err := rule.bound(n)
		return &rules.Compare{
			Left: &rules.StatOf{Stat: rules.StatEach, Value: value, Scope: scope}, Op: rules.Equal,
			Right: &rules.Literal{Bound: limit},
		}, err
	case n.Kind == document.String && x.Rules.ValueOf(value).Kind == rules.String:
		if rule.replaced() {
			return nil, errors.New("a text cannot be replaced with time")
		}
		text, err := datum(rules.String, n)
		return &rules.Overlap{Value: value, With: []string{text.String}, Count: rules.Exactly(1), Scope: scope}, err
	}
	return nil, fmt.Errorf("its reference is %s, and the source has values of the kind %s", n.Kind,
		x.Rules.ValueOf(value).Kind)
}

// among says that each value is in a list.
func (x *translator) among(rule *Rule, value string, scope rules.Scope) (rules.Condition, error) {
	if rule.Reference == nil {
		return nil, errors.New("it has no reference")
	}
	if rule.replaced() {
		return nil, errors.New("a list cannot be replaced with time")
	}
	if x.Rules.ValueOf(value).Kind != rules.String {
		return nil, errors.New("only strings are looked for in a list")
	}
	with, err := datum(rules.Set, rule.Reference)
	if err == nil && len(with.Set) == 0 {
		err = rule.Reference.Errorf("has no elements, so that nobody is in it")
	}
	return &rules.Overlap{Value: value, With: with.Set, Count: rules.Exactly(1), Scope: scope}, err
}
