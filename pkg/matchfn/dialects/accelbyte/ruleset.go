// Package accelbyte reads match rulesets of AccelByte Gaming Services.
package accelbyte

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

const maxMillis = 1e9

// RuleSet is a ruleset.
type RuleSet struct {
	Name     string
	Alliance Alliance
	Flexing  []Alliance
	Rules    []*Rule
	Options  []Option
	Regions  Regions
	Blocked  string // empty if the file does not say
	Balance  bool
	At       *document.Node
	// Others are members that are no rules, On the ones that are true.
	Others []document.Member
	On     map[string]bool
}

// Alliance is the teams: how many, and of how many players. One of the flexing rules has them from a time on.
type Alliance struct {
	After                                      int
	MinTeams, MaxTeams, MinPlayers, MaxPlayers int
	// Roles are the roles of each team, or of the first if there is one list for all; nil for none.
	Roles [][]Role
	// Flexing is set if players may get other roles after some time.
	Flexing bool
	At      *document.Node
}

// Role is a role of a team.
type Role struct {
	Name     string
	Min, Max int
}

// Rule is a limit on the distance of an attribute to the oldest ticket's. One of another criteria than distance
// limits nothing.
type Rule struct {
	Attribute string
	Criteria  string
	Reference float64
	Weight    float64
	Scale     float64 // normalizationMax, or else max, or 0
	Max       float64 // 0 if there is none
	Balancing *bool
	// Steps are what flexing rules make of the reference, by their duration.
	Steps []Step
	At    *document.Node
	// Within is set for a rule in the alliance.
	Within bool
}

// criteria are those that AccelByte takes.
var criteria = []string{distance, "average", "smaller", "greater"}

const distance = "distance"

// Step is a reference from a time on.
type Step struct{ After, Reference float64 }

// Option is a match option.
type Option struct {
	Name, Type string
	At         *document.Node
}

// Regions are the limits of latency; nil members are not in the file, or 0, which AccelByte takes for not being there,
// except as the weight.
type Regions struct {
	Initial, Rate, Range, Max, Weight, OneSided *float64
	At                                          *document.Node
}

// Marks are members that only rulesets have.
func Marks() []string { return []string{"alliance", "matching_rule", "matching_rules"} }

// Parse reads a ruleset, or a request or an answer of the API around it.
func Parse(node *document.Node) (*RuleSet, error) {
	r := &lenient.Reader{Fold: true}
	node, name := r.Open(node, lenient.Envelope{
		Name: "name", Marks: Marks(), Around: []string{"data", "rule_set", "match_ruleset"},
		Members: append(Marks(), "flexing_rule", "flexing_rules", "alliance_flexing_rule", "alliance_flexing_rules",
			"match_options"),
		Beside: append(slices.Clone(regional), "blocked_player_option"), // of a channel
	})
	set := &RuleSet{Name: name, On: map[string]bool{}}
	set.At = node
	o := r.Object(node)
	o.Get("name")
	if n := o.Need("alliance"); n != nil {
		a := r.Object(n)
		set.Alliance = alliance(r, a)
		for _, rule := range a.List(rules.MaxRules, "matching_rule", "matching_rules") {
			set.Rules = append(set.Rules, matching(r, rule))
			set.Rules[len(set.Rules)-1].Within = true
		}
		a.Done()
	}
	for _, n := range o.List(rules.MaxRules, "alliance_flexing_rule", "alliance_flexing_rules") {
		a := r.Object(n)
		after := a.Whole("duration", -1, 0, lenient.MaxSeconds)
		flex := alliance(r, a)
		flex.After = after
		a.Done()
		set.Flexing = append(set.Flexing, flex)
	}
	for _, n := range o.List(rules.MaxRules, "matching_rule", "matching_rules") {
		set.Rules = append(set.Rules, matching(r, n))
	}
	for _, n := range o.List(rules.MaxRules, "flexing_rule", "flexing_rules") {
		flexing(r, n, set)
	}
	if n := o.Get("match_options"); n != nil {
		options := r.Object(n)
		for _, one := range options.List(rules.MaxRules, "options") {
			option := r.Object(one)
			set.Options = append(set.Options, Option{
				Name: option.Name("name"), Type: option.Word("type", "", "all", "any", "unique", "disable"), At: one,
			})
			option.Done()
		}
		options.Done()
	}
	set.Regions = regions(r, o)
	set.Balance = o.Bool(true, "rebalance_enable")
	if n := o.Get("blocked_player_option"); n != nil {
		if set.Blocked = r.Text(n); set.Blocked != "" && set.Blocked != "blockedPlayerCannotMatch" &&
			set.Blocked != "blockedPlayerCanMatchOnDifferentTeam" && set.Blocked != "blockedPlayerCanMatch" {
			r.Fail(n, "%q is not known here", set.Blocked)
		}
	}
	others(o, set)
	o.Done()
	names(r, set)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return set, nil
}

// known are members that are no rules.
var known = []string{
	"auto_backfill", "rebalance_version", "match_options_referred_for_backfill", "max_delay_ms", "batch_size",
	"ticket_observability_enable", "extra_attributes", "sub_game_modes", "role_flexing_enable", "role_flexing_second",
	"role_flexing_player", "sort_ticket", "sort_tickets", "ticket_flexing_selection", "ticket_flexing_selections",
	"use_newest_ticket_for_flexing", "bucket_mmr_rule",
}

func others(o *lenient.Object, set *RuleSet) {
	for _, name := range known {
		if n := o.Get(name); n != nil {
			set.Others = append(set.Others, document.Member{Name: name, Node: n})
			set.On[name] = n.Kind == document.Bool && n.True || n.Kind == document.String && n.Text == "true"
		}
	}
}

func alliance(r *lenient.Reader, o *lenient.Object) Alliance {
	a := Alliance{At: o.Node}
	a.MinTeams, a.MaxTeams = o.Range("min_number", "max_number", 1, rules.MaxTeams)
	a.MinPlayers, a.MaxPlayers = o.Range("player_min_number", "player_max_number", 0, rules.MaxPlayers)
	has := o.Bool(false, "has_combination")
	if n := o.Get("combination"); n != nil {
		c := r.Object(n)
		has = c.Bool(has, "has_combination")
		nodes := c.List(rules.MaxTeams, "alliances")
		if has {
			a.Roles = teams(r, nodes, 0)
		}
		a.Flexing = c.Bool(false, "role_flexing_enable")
		c.Done("role_flexing_second", "role_flexing_player")
	}
	return a
}

// teams reads lists of roles: one for each team, one for all of them, or teams with combinations of their own. Beside
// lists, a role is a list of one.
func teams(r *lenient.Reader, nodes []*document.Node, depth int) [][]Role {
	var all [][]Role
	var flat []Role
	lists := slices.ContainsFunc(nodes, func(n *document.Node) bool { return n.Kind == document.List })
	for _, n := range nodes {
		switch {
		case lists && n.Kind != document.List && lenient.Member(n, "combination") == nil:
			all = append(all, []Role{role(r, n)})
		case n.Kind == document.List:
			if len(n.Elements) > rules.MaxRules {
				r.Fail(n, "has %d roles, and at most %d are allowed", len(n.Elements), rules.MaxRules)
				return nil
			}
			var roles []Role
			for _, e := range n.Elements {
				roles = append(roles, role(r, e))
			}
			all = append(all, roles)
		case lenient.Member(n, "combination") != nil:
			o := r.Object(n)
			o.Text("", "name")
			least, most := o.Whole("min_number", 1, 0, rules.MaxTeams), o.Whole("max_number", 1, 1, rules.MaxTeams)
			if least != most || depth > 0 {
				r.Fail(n, "a team with a combination has the same min_number and max_number, and none within it")
			}
			inner := r.Object(o.Get("combination"))
			one := teams(r, inner.List(rules.MaxRules, "alliances"), depth+1)
			inner.Done("has_combination")
			o.Done("has_combination")
			for range most {
				all = append(all, one...)
			}
		default:
			flat = append(flat, role(r, n))
		}
	}
	if len(flat) > rules.MaxRules || len(all) > rules.MaxTeams || flat != nil && all != nil {
		r.Fail(nodes[0], "there are too many roles or teams, or both beside each other")
		return nil
	}
	if flat != nil {
		all = [][]Role{flat}
	}
	return all
}

func role(r *lenient.Reader, n *document.Node) Role {
	o := r.Object(n)
	defer o.Done()
	least, most := o.Range("min", "max", 0, rules.MaxPlayers)
	return Role{o.Name("name"), least, most}
}

func matching(r *lenient.Reader, n *document.Node) *Rule {
	o := r.Object(n)
	rule := &Rule{Attribute: o.Name("attribute"), Criteria: o.Word("criteria", "", criteria...), At: n}
	rule.Reference = notNegative(r, o.Need("reference"))
	rule.Weight, rule.Max = o.NumberOr(1, "weight"), o.NumberOr(0, "max")
	rule.Scale = o.NumberOr(rule.Max, "normalizationMax")
	if rule.Weight < 0 || rule.Scale < 0 || rule.Max < 0 {
		r.Fail(n, "weight, max and normalizationMax must not be negative")
	}
	if b := o.Get("isForBalancing"); b != nil {
		rule.Balancing = new(r.Bool(b))
	}
	o.Done("useLatestTicketData")
	return rule
}

// notNegative reads a number that is not negative.
func notNegative(r *lenient.Reader, n *document.Node) float64 {
	v := r.Number(n)
	if v < 0 {
		r.Fail(n, "must not be negative")
	}
	return v
}

// flexing adds a step to the rule of its attribute.
func flexing(r *lenient.Reader, n *document.Node, set *RuleSet) {
	o := r.Object(n)
	attribute := o.Name("attribute")
	kind := o.Word("criteria", distance, criteria...)
	step := Step{After: float64(o.Whole("duration", -1, 0, lenient.MaxSeconds))}
	step.Reference = notNegative(r, o.Need("reference"))
	o.Done("weight", "normalizationMax", "isForBalancing", "useLatestTicketData", "max")
	for _, rule := range set.Rules {
		if rule.Attribute == attribute {
			if rule.Criteria != kind {
				r.Fail(n, "its criteria is %s, and that of the matching rule for %q is %s", kind, attribute, rule.Criteria)
			}
			rule.Steps = append(rule.Steps, step)
			return
		}
	}
	r.Fail(n, "there is no matching rule for the attribute %q", attribute)
}
