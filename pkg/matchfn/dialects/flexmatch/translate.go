package flexmatch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// LatencyValue and IDValue name the latencies by region and the id of a player.
const (
	LatencyValue = "latency"
	IDValue      = "id"
)

// Translate makes our rules of a rule set.
func Translate(set *RuleSet) (*t.Translation, error) {
	set.split()
	x := &translator{Builder: t.New(set.Name), set: set, clock: rules.Newest, attributes: map[string]*Attribute{}}
	if set.Algorithm.ExpansionAge == "oldest" {
		x.clock = rules.Oldest
	}
	for i := range set.Attributes {
		x.attributes[set.Attributes[i].Name] = &set.Attributes[i]
	}
	players := 0.0
	for _, team := range set.Teams {
		players += team.Max.Value * float64(team.Quantity)
		x.Rules.Teams = append(x.Rules.Teams, rules.Team{
			Name: team.Name, Copies: rules.Exactly(float64(team.Quantity)),
			Size: rules.Range{Min: x.bound(team.Min), Max: x.bound(team.Max)},
		})
		x.Say(team.At, team.Name, t.Exact, "")
	}
	for _, rule := range set.Rules {
		x.rule(rule)
	}
	x.declared()
	x.algorithm(players)
	return x.Done()
}

type translator struct {
	*t.Builder
	set        *RuleSet
	clock      rules.Clock
	attributes map[string]*Attribute
	made       int // conditions of the rule that is translated, and of the rules that it names
}

// bound is a number with its expansions; nil if the rule does not have it.
func (x *translator) bound(p Param) *rules.Bound {
	if !p.Set() {
		return nil
	}
	b := &rules.Bound{Clock: x.clock, Start: p.Value}
	for _, s := range p.Steps {
		b.Steps = append(b.Steps, rules.Step{After: float64(s.Seconds), Value: s.Value})
	}
	if b.Steps == nil {
		b.Clock = rules.Oldest // as for a number without steps
	}
	return b
}

// value returns the name of an attribute's value. A player without it, and without a default, is in no match.
func (x *translator) value(attribute, party string, once bool) string {
	a := x.attributes[attribute]
	v := rules.Value{From: attribute, Party: rules.Each, Missing: rules.Reject}
	if a.Default != nil {
		v.Missing = rules.UseDefault
	}
	switch a.Type {
	case "number":
		v.Kind, v.Party, v.Once = rules.Number, rules.Merge(party), once
		v.Default.Number, _ = a.Default.(float64)
	case "string":
		v.Kind = rules.String
		v.Default.String, _ = a.Default.(string)
	case "string_list":
		v.Kind, v.Party, v.Once = rules.Set, rules.Merge(party), once
		v.Default.Set, _ = a.Default.([]string)
	default:
		v.Kind, v.Party, v.Once = rules.Map, rules.Merge(party), once
		v.Default.Map, _ = a.Default.(map[string]float64)
	}
	return x.Value(v)
}

// rule translates a rule, unless a compound rule does.
func (x *translator) rule(rule *Rule) {
	if rule.Part {
		x.Say(rule.At, rule.Name, t.Exact, "it is asked for in compound rules alone")
		return
	}
	switch rule.Type {
	case "distanceSort", "absoluteSort":
		x.sort(rule)
		return
	}
	mark := x.Mark()
	x.made = 0
	need, verdict, why, err := x.need(rule, 0)
	if err != nil {
		x.Reset(mark)
		x.Say(rule.At, rule.Name, t.Refused, "%v", err)
		return
	}
	x.Rule(rule.Name, nil, need)
	x.Say(rule.At, rule.Name, verdict, "%s", why)
}

// declared asks for the attributes that have no default and that no rule reads: FlexMatch takes no player without them.
func (x *translator) declared() {
	used := rules.Used(x.Rules)
	for _, a := range x.set.Attributes {
		reads := func(v rules.Value) bool { return v.From == a.Name && v.Missing == rules.Reject && used[v.Name] }
		if a.Default != nil || slices.ContainsFunc(x.Rules.Values, reads) {
			continue
		}
		x.Rule("every player has "+a.Name, nil, &rules.Compare{
			Left: &rules.StatOf{
				Stat: rules.StatCount, Value: x.value(a.Name, string(rules.Each), false), Scope: rules.Scope{Of: rules.InMatch},
			},
			Op: rules.GreaterEqual, Right: &rules.Literal{Bound: rules.Fixed(0)},
		})
		x.Say(a.At, a.Name, t.Exact, "no rule reads it; a player without it is in no match, as it has no default")
	}
}

// deepest is how deep compound rules are in each other at most, so that our text is not nested deeper than it may be.
const deepest = 9

// need returns the condition of a rule that is so deep in compound rules. Rules that name rules that name rules may
// become very many conditions.
func (x *translator) need(rule *Rule, depth int) (need rules.Condition, verdict t.Verdict, why string, err error) {
	verdict = t.Exact
	if x.made += 1 + len(rule.Measurements); rule.Type == "comparison" && rule.singles() {
		x.made += len(rule.Measurements) * len(rule.Measurements) / 2
	}
	if x.made > rules.MaxConditions {
		return nil, verdict, "", fmt.Errorf("it has more than %d conditions, with those of the rules that it names",
			rules.MaxConditions)
	}
	switch rule.Type {
	case "comparison":
		if rule.singles() {
			need, err = x.pairs(rule)
		} else {
			need, err = x.each(rule, x.comparison)
		}
	case "distance":
		need, err = x.each(rule, x.distance)
	case "collection":
		need, err = x.each(rule, x.collection)
		if rule.Uncounted {
			verdict, why = t.Stricter, "at least one is needed; FlexMatch does not say what it asks for without minCount and "+
				"maxCount"
		}
	case "latency":
		need, err = x.latency(rule)
		verdict, why = t.Stricter, "the match has one location that suits all its players; "+
			"FlexMatch asks that each player has a location that suits him"
	case "batchDistance":
		value := x.value(rule.Attribute, rule.Aggregation, false)
		if x.attributes[rule.Attribute].Type == "string" {
			need = &rules.Same{Value: value, Scope: rules.Scope{Of: rules.InMatch}}
		} else {
			need = &rules.Spread{Value: value, Max: x.bound(rule.MaxDistance), Scope: rules.Scope{Of: rules.InMatch}}
		}
	case "compound":
		return x.compound(rule.Statement, depth)
	default:
		err = fmt.Errorf("a %s rule cannot be part of another", rule.Type)
	}
	if err == nil && rule.deviates() {
		why = "FlexMatch does not say which standard deviation it takes; this is that of exactly these players"
	}
	return need, verdict, why, err
}

// deviates reports whether an expression of the rule has a standard deviation.
func (rule *Rule) deviates() bool {
	all := slices.Clone(rule.Measurements)
	if rule.Reference != nil && rule.Reference.Expr != nil {
		all = append(all, rule.Reference.Expr)
	}
	return slices.ContainsFunc(all, func(e *Expr) bool { return strings.Contains(e.String(), "stddev(") })
}

// each makes a condition of each measurement. All must hold.
func (x *translator) each(rule *Rule, of func(*Rule, *Expr) (rules.Condition, error)) (rules.Condition, error) {
	var needs []rules.Condition
	for _, m := range rule.Measurements {
		need, err := of(rule, m)
		if err != nil {
			return nil, err
		}
		needs = append(needs, need)
	}
	return t.All(needs...), nil
}

func (x *translator) compound(s *Statement, depth int) (rules.Condition, t.Verdict, string, error) {
	switch {
	case s.Op == "":
		return x.need(s.Rule, depth)
	case depth >= deepest:
		return nil, "", "", errors.New("it is nested too deep, with the rules that it names")
	}
	verdict, why := t.Exact, ""
	var needs []rules.Condition
	for _, arg := range s.Args {
		need, v, w, err := x.compound(arg, depth+1)
		if err != nil {
			return nil, v, w, partError(arg, err)
		}
		// What is stricter in a part may be looser in the whole.
		switch {
		case v != t.Exact && (s.Op == "not" || s.Op == "xor"):
			return nil, v, w, errors.New("a part of it is " + string(v) + ", and it is negated: " + w)
		case v != t.Exact:
			verdict, why = v, w
		case why == "":
			why = w
		}
		needs = append(needs, need)
	}
	switch s.Op {
	case "and":
		return &rules.All{Of: needs}, verdict, why, nil
	case "or":
		return &rules.AnyOf{Of: needs}, verdict, why, nil
	case "xor":
		return &rules.One{Of: needs}, verdict, why, nil
	}
	return &rules.Not{Of: needs[0]}, verdict, why, nil
}

// partError names the part that an error is of, if none is named yet.
func partError(s *Statement, err error) error {
	if s.Op != "" || strings.HasPrefix(err.Error(), "its part ") {
		return err
	}
	return fmt.Errorf("its part %q: %w", s.Rule.Name, err)
}

// sort translates an order of candidates, which refuses no player.
func (x *translator) sort(rule *Rule) {
	o := rules.Order{
		Value: x.orderValue(rule), Near: rule.Type == "distanceSort", Descending: rule.Direction == "descending",
		KeyOf: map[string]rules.Merge{"minValue": rules.Least, "maxValue": rules.Greatest}[rule.MapKey],
	}
	if x.attributes[rule.Attribute].Type == "number" {
		o.KeyOf = ""
	}
	x.Rules.Order = append(x.Rules.Order, o)
	x.Say(rule.At, rule.Name, t.Exact, "it orders candidates and refuses nobody")
}

// orderValue is the value of an order: players without it are not refused.
func (x *translator) orderValue(rule *Rule) string {
	if a := x.attributes[rule.Attribute]; a.Default == nil {
		kind := rules.Number
		if a.Type != "number" {
			kind = rules.Map
		}
		return x.Value(rules.Value{From: a.Name, Kind: kind, Party: rules.Merge(rule.Aggregation), Missing: rules.Any})
	}
	return x.value(rule.Attribute, rule.Aggregation, false)
}

func (x *translator) algorithm(players float64) {
	a := x.set.Algorithm
	x.Rules.Backfill.Open = rules.Fixed(0) // a joined game has the size of a new match
	if n := x.set.Mode; n != nil && n.Text == automatic {
		x.Rules.Backfill.Create = rules.CreateShort
		x.Say(n, n.Text, t.Exact, "a match that is not full gets a backfill ticket")
	} else if n != nil {
		x.Say(n, n.Text, t.Exact, "running games are filled if their servers make backfill tickets; new matches get none")
	}
	if a.At == nil {
		return
	}
	at := func(name string) *document.Node { return a.At.Get(name) }
	if n := at("strategy"); n != nil && a.Strategy == "exhaustiveSearch" {
		x.Say(n, a.Strategy, t.Note, "all tickets are looked at, in no batches")
	}
	if a.Strategy == "balanced" {
		value := x.value(a.Balanced, string(rules.Average), false)
		if len(x.Rules.Teams) > 1 || x.set.Teams[0].Quantity > 1 {
			x.Rules.Prefer = append(x.Rules.Prefer, rules.Preference{
				Name: "balanced " + a.Balanced, Weight: 1, Scale: 1, Amount: t.TeamGap(rules.StatAverage, value),
			})
		}
		x.Rules.Order = append(x.Rules.Order, rules.Order{Value: value, Near: true})
		x.Say(a.At, a.Balanced, t.Note, "matches whose teams have nearer averages are preferred, and candidates nearer "+
			"to the oldest ticket; there are no batches, and the other rules hold whatever the size of the match")
		if players <= 40 {
			x.Say(a.At, a.Balanced, t.Note, "the match has at most 40 players, and FlexMatch may search it otherwise")
		}
	}
	for _, name := range a.SortBy {
		if x.attributes[name].Type != "number" {
			x.Say(at("sortByAttributes"), name, t.Note, "only numbers order candidates")
			continue
		}
		value := x.orderValue(&Rule{Attribute: name, Aggregation: string(rules.Average)})
		x.Rules.Order = append(x.Rules.Order, rules.Order{Value: value, Near: true})
		x.Say(at("sortByAttributes"), name, t.Note, "candidates nearer to the oldest ticket are tried first; "+
			"there are no batches")
	}
	n := at("backfillPriority")
	switch {
	case a.Backfill == "high":
		x.Rules.Backfill.First = rules.GamesFirst
		x.Say(n, a.Backfill, t.Exact, "running games are filled first")
	case a.Backfill == "low":
		x.Rules.Backfill.First = rules.MatchesFirst
		x.Say(n, a.Backfill, t.Exact, "running games are filled after new matches")
	case n != nil:
		x.Say(n, a.Backfill, t.Note, "full matches are first, then running games, then other matches")
	}
}
