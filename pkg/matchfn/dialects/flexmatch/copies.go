package flexmatch

import (
	"fmt"
	"slices"
)

// copies are the names of a team's copies; nil for a team that is one.
func (t *Team) copies() (names []string) {
	if t.Quantity == 1 {
		return nil
	}
	for i := range t.Quantity {
		names = append(names, fmt.Sprintf("%s_%d", t.Name, i+1))
	}
	return names
}

// paths are the paths of all expressions.
func (set *RuleSet) paths() (all []*Expr) {
	for _, rule := range set.Rules {
		for _, m := range rule.Measurements {
			all = append(all, m.Path())
		}
		if rule.Reference != nil && rule.Reference.Expr != nil {
			all = append(all, rule.Reference.Expr.Path())
		}
	}
	return all
}

// split makes teams of the copies of a team where an expression names one of them. In a match they have the same names.
func (set *RuleSet) split() {
	named := map[string]bool{}
	for _, path := range set.paths() {
		for _, name := range path.Teams {
			named[name] = true
		}
	}
	var teams []Team
	copies := map[string][]string{}
	for _, team := range set.Teams {
		names := team.copies()
		if !slices.ContainsFunc(names, func(name string) bool { return named[name] }) {
			teams = append(teams, team)
			continue
		}
		copies[team.Name] = names
		for _, name := range names {
			one := team
			one.Name, one.Quantity = name, 1
			teams = append(teams, one)
		}
	}
	set.Teams = teams
	for _, path := range set.paths() {
		var all []string
		for _, name := range path.Teams {
			if copies[name] == nil {
				all = append(all, name)
			}
			all = append(all, copies[name]...)
		}
		path.Teams = all
	}
}
