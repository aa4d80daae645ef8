package flexmatch

import (
	"errors"
	"fmt"

	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
)

// lists returns the path of an expression that has a list for each player, and its scope.
func (x *translator) lists(m *Expr) (*Expr, rules.Scope, error) {
	path, apart, ok := players(m)
	if !ok || path.Attribute == "" || x.attributes[path.Attribute].Type != "string_list" {
		return nil, rules.Scope{}, fmt.Errorf("%s is %s, and a list of each player is expected, "+
			"as in flatten(teams[*].players.attributes[…]) of a string_list", m, m.Shape())
	}
	s, err := x.together(path, apart)
	return path, s, err
}

func (x *translator) collection(rule *Rule, m *Expr) (rules.Condition, error) {
	switch rule.Operation {
	case "intersection":
		return x.intersection(rule, m)
	case "contains":
		return x.contains(rule, m)
	}
	path, s, err := x.lists(m)
	if err != nil {
		return nil, err
	}
	need := &rules.Overlap{
		Value: x.value(path.Attribute, rule.Aggregation, false), With: rule.Reference.Texts,
		Count: rules.Range{Min: x.bound(rule.MinCount), Max: x.bound(rule.MaxCount)}, Scope: s,
	}
	if rule.Reference.Text != "" {
		need.With = []string{rule.Reference.Text}
	}
	if e := rule.Reference.Expr; e != nil {
		if err := x.other(need, rule, e); err != nil {
			return nil, err
		}
	}
	return need, nil
}

// other finds the sets of other players that lists are compared with.
func (x *translator) other(need *rules.Overlap, rule *Rule, e *Expr) error {
	if e.Depth != 1 || e.Elem != Strings {
		return fmt.Errorf("referenceValue is %s, and a list of strings is expected", e.Shape())
	}
	var path *Expr
	var s rules.Scope
	var err error
	switch {
	case e.Call == "set_intersection":
		need.Merge = rules.Intersection
		path, s, err = x.lists(e.Arg)
	case e.Path().ID || x.attributes[e.Path().Attribute].Type == "string":
		var ok, apart bool
		need.Merge = rules.Union
		if path, apart, ok = players(e); !ok {
			return fmt.Errorf("%s is no list of all strings", e)
		}
		s, err = x.together(path, apart)
	case e.Call == "flatten":
		need.Merge = rules.Union
		path, s, err = x.lists(e.Arg)
	default:
		return fmt.Errorf("%s is not understood as a list of strings", e)
	}
	if err != nil {
		return err
	}
	if s.Of != need.Scope.Of || fmt.Sprint(s.Teams) != fmt.Sprint(need.Scope.Teams) {
		return errors.New("measurements and referenceValue are of different teams")
	}
	if path.ID {
		need.Other = x.Value(rules.Value{From: IDValue, Kind: rules.String, Party: rules.Each, Missing: rules.Reject})
		return nil
	}
	need.Other = x.value(path.Attribute, rule.Aggregation, false)
	return nil
}

// intersection is how many elements all lists have in common.
func (x *translator) intersection(rule *Rule, m *Expr) (rules.Condition, error) {
	if m.Call == "set_intersection" {
		m = m.Arg
	}
	path, s, err := x.lists(m)
	if err != nil {
		return nil, err
	}
	value := x.value(path.Attribute, rule.Aggregation, false)
	return x.counted(rule, s, func(least *rules.Bound) rules.Condition {
		return &rules.Share{Value: value, Min: least, Scope: s}
	})
}

// counted bounds a number by a condition that it is at least so much.
func (x *translator) counted(rule *Rule, s rules.Scope, of func(least *rules.Bound) rules.Condition) (
	rules.Condition, error,
) {
	var needs []rules.Condition
	if rule.MinCount.Set() {
		needs = append(needs, of(x.bound(rule.MinCount)))
	}
	if rule.MaxCount.Set() {
		if s.Of != rules.InMatch && (s.Of != rules.InTeams || len(s.Teams) > 1) {
			return nil, errors.New("maxCount is not for each of several teams")
		}
		more := x.bound(rule.MaxCount)
		more.Start++
		for i := range more.Steps {
			more.Steps[i].Value++
		}
		needs = append(needs, &rules.Not{Of: of(more)})
	}
	return t.All(needs...), nil
}

// common counts an element in what all lists have in common: it is there once if each list has it.
func (x *translator) common(rule *Rule, m *Expr) (rules.Condition, error) {
	path, s, err := x.lists(m.Arg)
	if err != nil {
		return nil, err
	}
	if m.Depth > 1 {
		return nil, fmt.Errorf("%s is a list for each team, and the teams that have an element are not counted", m)
	}
	value := x.value(path.Attribute, rule.Aggregation, false)
	return x.counted(rule, s, func(least *rules.Bound) rules.Condition {
		return &rules.Overlap{Value: value, With: []string{rule.Reference.Text}, Count: rules.Range{Min: least}, Scope: s}
	})
}

// contains counts the players that have an element. A party has one list.
func (x *translator) contains(rule *Rule, m *Expr) (rules.Condition, error) {
	if m.Call == "set_intersection" && rule.Reference.Text != "" {
		return x.common(rule, m)
	}
	path, apart, ok := players(m)
	if !ok || path.Attribute == "" || path.Elem != Strings || rule.Reference.Text == "" {
		return nil, fmt.Errorf("contains looks for a text in strings of players, and %s is %s", m, m.Shape())
	}
	s, err := x.together(path, apart)
	if err != nil {
		return nil, err
	}
	once := x.attributes[path.Attribute].Type == "string_list"
	return &rules.Holders{
		Value: x.value(path.Attribute, rule.Aggregation, once), Element: rule.Reference.Text,
		Count: rules.Range{Min: x.bound(rule.MinCount), Max: x.bound(rule.MaxCount)}, Scope: s,
	}, nil
}
