// Package playfab reads matchmaking queues of PlayFab: as its documentation shows them, with a list of rules, and as
// its API takes them, with a list for each type of rule.
package playfab

import (
	"bytes"
	"strings"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Queue is a matchmaking queue.
type Queue struct {
	Name      string
	Min, Max  int // players of a match
	MaxTicket int // 0 is no limit
	Teams     []Team
	Rules     []*Rule
	At        *document.Node
	Server    *document.Node // ServerAllocationEnabled, BuildId and the like; nil if there is none
}

// Team is a team.
type Team struct {
	Name     string
	Min, Max int
	At       *document.Node
}

// Rule is a rule of any type. It has the members of its type.
type Rule struct {
	Type, Name string
	At         *document.Node

	Path       string
	FromEntity bool
	// Default is a number, a string or strings; nil if there is none.
	Default any
	// MatchAny means that tickets without the attribute match with any.
	MatchAny bool
	Weight   float64
	Merge    string // Average, Min or Max

	Difference, Min, Max, MinIntersection, MaxLatency float64
	// Optional is after how many seconds the rule does not count; nil for never.
	Optional  *float64
	Expansion *Expansion
}

// Expansion is how a rule grows.
type Expansion struct {
	Every float64
	// Delta and Limit are of a linear expansion.
	Linear       bool
	Delta, Limit float64
	HasLimit     bool
	// Overrides are of a custom one; MaxOverrides are the greatest total's; Enabled are an equality's.
	Overrides, MaxOverrides []Override
	Enabled                 []bool
}

// Override is the number of an interval; Off means that the rule does not count in it.
type Override struct {
	Value float64
	Off   bool
}

var lists = []struct{ member, kind string }{
	{"DifferenceRules", "DifferenceRule"}, {"StringEqualityRules", "StringEqualityRule"},
	{"MatchTotalRules", "MatchTotalRule"}, {"SetIntersectionRules", "SetIntersectionRule"},
	{"RegionSelectionRule", "RegionSelectionRule"}, {"RegionSelectionRules", "RegionSelectionRule"},
	{"TeamDifferenceRules", "TeamDifferenceRule"}, {"TeamSizeBalanceRule", "TeamSizeBalanceRule"},
	{"TeamSizeBalanceRules", "TeamSizeBalanceRule"}, {"TeamTicketSizeSimilarityRule", "TeamTicketSizeSimilarityRule"},
	{"TeamTicketSizeSimilarityRules", "TeamTicketSizeSimilarityRule"},
}

// ParseMember reads the text of a queue. The documentation shows queues as the member "MatchmakingQueue" without braces
// around it; so the text may be that.
func ParseMember(text []byte) (*document.Node, error) {
	text, err := document.Text(text)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(document.First(text), []byte(`"MatchmakingQueue"`)) {
		text = []byte("{" + string(text) + "\n}")
	}
	return lenient.Parse(text)
}

// Marks are members that only queues have.
func Marks() []string { return []string{"MinMatchSize", "MaxMatchSize"} }

// Parse reads a queue, or a request or an answer of the API around it.
func Parse(node *document.Node) (*Queue, error) {
	r := &lenient.Reader{Fold: true}
	node, _ = r.Open(node, lenient.Envelope{
		Name: "Name", Marks: Marks(), Around: []string{"data", "MatchmakingQueue", "MatchmakingQueues"},
		Members: append(Marks(), "MaxTicketSize", "Teams", "Rules", "DifferenceRules"),
	})
	o := r.Object(node)
	q := &Queue{Name: o.Text("", "Name"), At: o.Node}
	q.Min, q.Max = o.Range("MinMatchSize", "MaxMatchSize", 1, rules.MaxPlayers)
	q.MaxTicket = o.Whole("MaxTicketSize", 0, 0, rules.MaxPlayers)
	for _, n := range o.List(rules.MaxTeams, "Teams") {
		t := r.Object(n)
		team := Team{Name: t.Name("Name"), At: n}
		team.Min, team.Max = t.Range("MinTeamSize", "MaxTeamSize", 0, rules.MaxPlayers)
		t.Done()
		q.Teams = append(q.Teams, team)
	}
	for _, n := range o.List(rules.MaxRules, "Rules") {
		q.Rules = append(q.Rules, rule(r, n, ""))
	}
	for _, list := range lists {
		for _, n := range o.List(rules.MaxRules, list.member) {
			q.Rules = append(q.Rules, rule(r, n, list.kind))
		}
	}
	if len(q.Rules) > rules.MaxRules {
		r.Fail(o.Node, "has %d rules, and at most %d are allowed", len(q.Rules), rules.MaxRules)
	}
	q.Server = o.Get("ServerAllocationEnabled")
	o.Done("BuildId", "BuildAliasParams", "StatisticsVisibilityToPlayers")
	if err := r.Err(); err != nil {
		return nil, err
	}
	return q, nil
}

// rule reads a rule of a type, or of that which it names.
func rule(r *lenient.Reader, n *document.Node, kind string) *Rule {
	o := r.Object(n)
	if kind == "" {
		kind = o.Word("Type", "", "DifferenceRule", "StringEqualityRule", "MatchTotalRule", "SetIntersectionRule",
			"RegionSelectionRule", "TeamDifferenceRule", "TeamSizeBalanceRule", "TeamTicketSizeSimilarityRule")
	} else {
		o.Get("Type")
	}
	need := func(names ...string) float64 { return r.Number(o.Need(names...)) }
	rule := &Rule{Type: kind, Name: o.Text("", "Name"), At: n, Weight: o.NumberOr(1, "Weight")}
	if rule.Weight < 0 {
		r.Fail(n, "Weight is negative")
	}
	if rule.Optional = o.Number("SecondsUntilOptional"); rule.Optional != nil && *rule.Optional < 0 {
		r.Fail(n, "SecondsUntilOptional is negative")
	}
	switch kind {
	case "DifferenceRule":
		attribute(r, o, rule)
		rule.Difference = need("Difference", "MaxDifference")
		rule.Merge = o.Word("MergeFunction", "Average", "Average", "Min", "Max")
	case "StringEqualityRule":
		attribute(r, o, rule)
	case "MatchTotalRule":
		attribute(r, o, rule)
		rule.Min, rule.Max = need("Min"), need("Max")
	case "SetIntersectionRule":
		attribute(r, o, rule)
		rule.MinIntersection = need("MinIntersectionSize")
	case "RegionSelectionRule":
		rule.Path, rule.MaxLatency = path(r, o, n), need("MaxLatency")
	case "TeamDifferenceRule":
		attribute(r, o, rule)
		rule.Difference = need("Difference", "MaxDifference")
	case "TeamSizeBalanceRule":
		rule.Difference = need("Difference", "MaxDifference")
	}
	rule.Expansion = expansion(r, o)
	o.Done()
	return rule
}

// path reads the name of an attribute, which may be a path of JSON.
func path(r *lenient.Reader, o *lenient.Object, at *document.Node) string {
	name := strings.TrimPrefix(o.Name("Path"), "$.")
	if name == "" {
		r.Fail(at, "its Path names no attribute")
	}
	return name
}

// attribute reads which attribute a rule is about.
func attribute(r *lenient.Reader, o *lenient.Object, rule *Rule) {
	if n := o.Need("Attribute"); n != nil {
		a := r.Object(n)
		rule.Path = path(r, a, n)
		rule.FromEntity = a.Word("Source", "User", "User", "PlayerEntity") == "PlayerEntity"
		a.Done()
	}
	behavior := o.Word("AttributeNotSpecifiedBehavior", "UseDefault", "UseDefault", "MatchAny")
	rule.MatchAny = behavior == "MatchAny"
	n := o.Get("DefaultAttributeValue")
	switch {
	case n == nil:
	case n.Kind == document.List:
		rule.Default = r.Values(r.List(n, rules.MaxElements))
	case rule.Type == "StringEqualityRule":
		rule.Default = r.Value(n)
	case rule.Type == "SetIntersectionRule":
		rule.Default = []string{r.Value(n)}
	default:
		rule.Default = r.Number(n)
	}
	if _, list := rule.Default.([]string); list != (rule.Type == "SetIntersectionRule") && n != nil {
		r.Fail(n, "a default of this type of rule cannot be %s", n.Kind)
	}
}

// expansion reads one of the three ways to write an expansion. An empty object is none.
func expansion(r *lenient.Reader, o *lenient.Object) *Expansion {
	var found *Expansion
	for _, name := range []string{"Expansion", "LinearExpansion", "CustomExpansion"} {
		n := o.Get(name)
		if n == nil || n.Kind == document.Object && len(n.Members) == 0 {
			continue
		}
		if found != nil {
			r.Fail(n, "the rule has another expansion")
		}
		e := r.Object(n)
		kind := e.Word("Type", "-", "-", "Linear", "Custom")
		x := &Expansion{}
		x.Overrides = overrides(r, e, "DifferenceOverrides", "MinOverrides", "MinIntersectionSizeOverrides",
			"MaxLatencyOverrides", "Overrides")
		x.MaxOverrides = overrides(r, e, "MaxOverrides")
		for _, b := range e.List(rules.MaxSteps, "EnabledOverrides") {
			x.Enabled = append(x.Enabled, r.Bool(b))
		}
		x.Linear = x.Overrides == nil && x.MaxOverrides == nil && x.Enabled == nil
		if kind == "-" && name != "Expansion" {
			kind = strings.TrimSuffix(name, "Expansion")
		}
		if x.Linear && kind == "Custom" || !x.Linear && kind == "Linear" {
			r.Fail(n, "the expansion has not the members of its type")
		}
		if delta := e.Number("Delta"); delta != nil {
			x.Delta = *delta
		} else if x.Linear {
			r.Fail(n, "%q is missing", "Delta")
		}
		if limit := e.Number("Limit"); limit != nil {
			x.Limit, x.HasLimit = *limit, true
		}
		x.Every = e.NumberOr(0, "SecondsBetweenExpansions")
		if x.Every <= 0 || x.Every > lenient.MaxSeconds {
			r.Fail(n, "SecondsBetweenExpansions must be more than 0 and at most %d", lenient.MaxSeconds)
		}
		e.Done()
		found = x
	}
	return found
}

// overrides reads numbers, or objects around them. Null is no number for an interval.
func overrides(r *lenient.Reader, o *lenient.Object, names ...string) []Override {
	var all []Override
	for _, n := range o.List(rules.MaxSteps, names...) {
		v := Override{Off: n.Kind == document.Null}
		switch {
		case v.Off:
		case n.Kind == document.Object:
			inner := r.Object(n)
			v.Value = r.Number(inner.Need("Value"))
			inner.Done()
		default:
			v.Value = r.Number(n)
		}
		all = append(all, v)
	}
	return all
}
