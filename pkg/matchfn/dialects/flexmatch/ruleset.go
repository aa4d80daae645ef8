// Package flexmatch reads rule sets of Amazon GameLift FlexMatch, ruleLanguageVersion 1.0.
package flexmatch

import (
	"strings"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// RuleSet is a file.
type RuleSet struct {
	Name       string
	Attributes []Attribute
	Algorithm  Algorithm
	Teams      []Team
	// Mode is the member BackfillMode beside the rule set; nil without it.
	Mode *document.Node
	// Rules are the rules of the file in its order, with their expansions.
	Rules []*Rule
}

// Attribute is a player attribute.
type Attribute struct {
	Name string
	Type string // number, string, string_list or string_number_map
	// Default is of the type; nil if there is none.
	Default any // float64, string, []string or map[string]float64
	At      *document.Node
}

// Algorithm says how matches are looked for.
type Algorithm struct {
	Strategy, Batching, Balanced, ExpansionAge, Backfill string
	SortBy                                               []string
	// At is nil if the file has no algorithm.
	At *document.Node
}

// Team is a team, or Quantity equal ones.
type Team struct {
	Name     string
	Min, Max Param
	Quantity int
	At       *document.Node
}

// Param is a number that expansions change.
type Param struct {
	Value float64
	Steps []Step
	// At is nil if the rule does not have it.
	At *document.Node
}

// Set reports whether the rule has it.
func (p *Param) Set() bool { return p.At != nil }

// Step is the value of a number from a time on.
type Step struct {
	Seconds int
	Value   float64
}

// Rule is a rule of any type. It has the members of its type.
type Rule struct {
	Name, Type, Description string
	At                      *document.Node

	Measurements []*Expr
	Operation    string
	Reference    *Reference
	// Aggregation is what a party is replaced by.
	Aggregation string

	MinDistance, MaxDistance, MinCount, MaxCount, MaxLatency Param
	// Uncounted is set for a collection without counts, for which MinCount is 1.
	Uncounted bool

	DistanceReference string // of latency: min or avg
	Attribute         string // of batchDistance and the sorts
	Direction, MapKey string
	Statement         *Statement
	// Part is set when a compound rule names this one: it is not asked for by itself.
	Part bool
}

// Reference is what measurements are compared with: an expression, a text, texts, or a number.
type Reference struct {
	Expr   *Expr
	Text   string
	Texts  []string
	Number *Param
	At     *document.Node
}

// Parse reads a rule set. It may be in a member RuleSetBody, as an object or a text, within an answer of the API or of
// its command line, or in a template of CloudFormation. The member BackfillMode of the matchmaking configuration may be
// beside it.
func Parse(node *document.Node) (*RuleSet, error) {
	node, mode, err := unwrap(node)
	if err != nil {
		return nil, err
	}
	if mode != nil && (mode.Kind != document.String || mode.Text != automatic && mode.Text != manual) {
		return nil, mode.Errorf("must be %s or %s", automatic, manual)
	}
	set, err := parse(node)
	if set != nil {
		set.Mode = mode
	}
	return set, err
}

// The modes of backfill.
const (
	automatic = "AUTOMATIC"
	manual    = "MANUAL"
)

func unwrap(node *document.Node) (inner, mode *document.Node, err error) {
	r := lenient.Reader{Fold: true}
	if stack := lenient.Member(node, "Resources"); stack != nil { // a template of CloudFormation
		node = templated(stack, "AWS::GameLift::MatchmakingRuleSet")
		if node == nil {
			return nil, nil, stack.Errorf("there is no resource of the type AWS::GameLift::MatchmakingRuleSet, or several")
		}
		mode = lenient.Member(lenient.Member(templated(stack, "AWS::GameLift::MatchmakingConfiguration"), "Properties"),
			"BackfillMode")
	}
	for r.Err() == nil {
		if beside := lenient.Member(node, "BackfillMode"); beside != nil {
			mode = beside
		}
		if next := lenient.Member(node, around...); next != nil {
			node = next
		} else if join := lenient.Member(node, "Fn::Join"); join != nil {
			node = joined(&r, join)
		} else if node.Kind == document.List && len(node.Elements) > 1 && node.Elements[0].Kind == document.String {
			node = node.Elements[0] // of Fn::Sub, before its variables
		} else if next, _ := r.Open(node, lenient.Envelope{
			Name: "RuleSetName", Marks: append(around, "ruleLanguageVersion"),
		}); next != node {
			node = next
		} else {
			break
		}
	}
	return node, mode, r.Err()
}

// around are members that a rule set is in. Before it, there may be texts and lists.
var around = []string{"RuleSets", "RuleSet", "Properties", "RuleSetBody", "Fn::Sub", "Fn::ToJsonString"}

// Marks are members that only rule sets and what is around them have.
func Marks() []string { return []string{"ruleLanguageVersion", "RuleSetBody"} }

// joined is the text that Fn::Join of CloudFormation makes of a separator and texts.
func joined(r *lenient.Reader, join *document.Node) *document.Node {
	text := *join
	if len(join.Elements) == 2 {
		parts := make([]string, len(join.Elements[1].Elements))
		for i, part := range join.Elements[1].Elements {
			if part.Kind != document.String {
				r.Fail(part, "Fn::Join has a reference to another resource: give the rule set as it is")
			}
			parts[i] = part.Text
		}
		text.Kind, text.Text, text.Elements = document.String, strings.Join(parts, join.Elements[0].Text), nil
	} else {
		r.Fail(join, "a separator and a list of texts are expected")
	}
	return &text
}

// templated returns the only resource of a type, or nil.
func templated(stack *document.Node, kind string) (found *document.Node) {
	for _, m := range stack.Members {
		if of := m.Get("Type"); of == nil || of.Text != kind {
			continue
		}
		if found != nil {
			return nil
		}
		found = m.Node
	}
	return found
}

func parse(node *document.Node) (*RuleSet, error) {
	r := &reader{Reader: lenient.Reader{Fold: true}, names: map[string]*Rule{}}
	r.scope = scope{teams: map[string]int{}, attributes: map[string]string{}}
	o := r.Object(node)
	set := &RuleSet{Name: o.Text("", "name")}
	if version := o.Get("ruleLanguageVersion"); version == nil {
		r.Fail(node, "%q is missing: this is no rule set of FlexMatch", "ruleLanguageVersion")
	} else if version.Text != "1.0" {
		r.Fail(version, "must be \"1.0\", not %q", version.Text)
	}
	for _, n := range o.List(rules.MaxValues, "playerAttributes") {
		set.Attributes = append(set.Attributes, r.attribute(n))
	}
	set.Algorithm = r.algorithm(o.Get("algorithm"))
	players, copies := 0.0, 0
	for _, n := range o.List(rules.MaxTeams, "teams") {
		team := r.team(n)
		players += team.Max.Value * float64(team.Quantity)
		copies += team.Quantity
		set.Teams = append(set.Teams, team)
	}
	switch {
	case len(set.Teams) == 0:
		r.Fail(node, "%q is missing: a match needs at least one team", "teams")
	case copies > rules.MaxTeams || players > rules.MaxPlayers:
		r.Fail(node, "the teams are %d with up to %v players, and at most %d with %d are allowed",
			copies, players, rules.MaxTeams, rules.MaxPlayers)
	}
	for _, n := range o.List(rules.MaxRules, "rules") {
		if rule := r.rule(n); r.Err() == nil {
			set.Rules = append(set.Rules, rule)
		}
	}
	r.reserved(set)
	for _, n := range o.List(2*rules.MaxRules, "expansions") {
		r.expansion(n, set)
	}
	o.Done()
	if err := r.Err(); err != nil {
		return nil, err
	}
	return set, nil
}

type reader struct {
	lenient.Reader
	scope scope
	names map[string]*Rule
}

func (r *reader) attribute(n *document.Node) Attribute {
	o := r.Object(n)
	a := Attribute{Name: o.Name("name"), At: n}
	a.Type = o.Word("type", "", "number", "string", "string_list", "string_number_map")
	if _, twice := r.scope.attributes[a.Name]; twice {
		r.Fail(n, "there is another player attribute %q", a.Name)
	}
	r.scope.attributes[a.Name] = a.Type
	if value := o.Get("default"); value != nil {
		a.Default = r.value(value, a.Type)
	}
	o.Done("description")
	return a
}

// value reads a default of a type.
func (r *reader) value(n *document.Node, kind string) any {
	switch kind {
	case "number":
		return r.Number(n)
	case "string":
		return r.Value(n)
	case "string_list":
		return r.Values(r.List(n, rules.MaxElements))
	}
	if n.Kind != document.Object || len(n.Members) > rules.MaxElements {
		r.Fail(n, "an object of at most %d numbers is expected", rules.MaxElements)
		return nil
	}
	m := map[string]float64{}
	for _, member := range n.Members {
		m[member.Name] = r.Number(member.Node)
	}
	return m
}

func (r *reader) algorithm(n *document.Node) Algorithm {
	a := Algorithm{Strategy: "exhaustiveSearch", ExpansionAge: "newest", Backfill: "normal", At: n}
	if n == nil {
		return a
	}
	o := r.Object(n)
	a.Strategy = o.Word("strategy", a.Strategy, "exhaustiveSearch", "balanced")
	if a.Strategy == "balanced" {
		a.Batching = o.Word("batchingPreference", "largestPopulation", "largestPopulation", "fastestRegion")
	} else {
		a.Batching = o.Word("batchingPreference", "random", "random", "sorted")
	}
	a.ExpansionAge = o.Word("expansionAgeSelection", a.ExpansionAge, "newest", "oldest")
	a.Backfill = o.Word("backfillPriority", a.Backfill, "normal", "high", "low")
	if at := o.Get("balancedAttribute"); at != nil {
		a.Balanced = r.attributeOf(at, "number")
	} else if a.Strategy == "balanced" {
		r.Fail(n, "%q is missing: the strategy balanced needs it", "balancedAttribute")
	}
	for _, at := range o.List(rules.MaxValues, "sortByAttributes") {
		a.SortBy = append(a.SortBy, r.attributeOf(at, ""))
	}
	if a.Batching == "sorted" && len(a.SortBy) == 0 {
		r.Fail(n, "%q is missing: the batching preference sorted needs it", "sortByAttributes")
	}
	o.Done()
	return a
}

// attributeOf reads the name of a player attribute, of a type if one is given.
func (r *reader) attributeOf(n *document.Node, kind string) string {
	name := r.Text(n)
	switch found, ok := r.scope.attributes[name]; {
	case !ok:
		r.Fail(n, "there is no player attribute %q, only %s", name, list(r.scope.attributes))
	case kind != "" && found != kind:
		r.Fail(n, "the player attribute %q is a %s, and a %s is expected", name, found, kind)
	}
	return name
}

func (r *reader) team(n *document.Node) Team {
	o := r.Object(n)
	t := Team{Name: o.Name("name"), At: n}
	least, most := o.Range("minPlayers", "maxPlayers", 0, rules.MaxPlayers)
	t.Min, t.Max = Param{Value: float64(least), At: n}, Param{Value: float64(most), At: n}
	t.Quantity = o.Whole("quantity", 1, 1, rules.MaxTeams)
	if _, twice := r.scope.teams[t.Name]; twice {
		r.Fail(n, "there is another team %q", t.Name)
	}
	r.scope.teams[t.Name] = t.Quantity
	for _, name := range t.copies() {
		if _, twice := r.scope.teams[name]; twice {
			r.Fail(n, "there is another team %q", name)
		}
		r.scope.teams[name] = 1
	}
	o.Done("description")
	return t
}
