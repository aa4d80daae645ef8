// Package unity reads queues of Unity Matchmaker: .mmq files, and the JSON of the dashboard.
package unity

import (
	"cmp"
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

const maxPools = 100

// Queue is a queue with one of its pools.
type Queue struct {
	Name      string
	MaxTicket int // 0 is no limit
	Pool      *Pool
	Pools     []string // the names of all pools, the default pool first
	At        *document.Node
}

// Pool is a pool of a queue, or match logic by itself.
type Pool struct {
	Name     string
	Filters  []Filter
	Variants int
	Timeout  float64
	Backfill bool
	Closed   bool // whether it says that matches get no backfill tickets
	Teams    []Team
	Rules    []*Rule
	At       *document.Node
}

// Filter says which tickets a pool takes.
type Filter struct{ Attribute, Operator, Value string }

// Team is the shape of teams.
type Team struct {
	Name           string
	Count, Players Range
	Rules          []*Rule
	At             *document.Node
}

// Range is a least and a greatest number. The least changes with time.
type Range struct {
	Min, Max    int
	Relaxations []Relaxation
}

// kept are members of queues and pools that say nothing about matches. The service adds some to what it keeps.
var kept = []string{"enabled", "id", "$comment", "projectId", "environmentId", "createdAt", "updatedAt"}

// wholeMatch is the scope of ages that rules have, if they name no other one.
const wholeMatch = "Match"

// Relaxation is what changes at an age.
type Relaxation struct {
	Type  string // RangeControl.ReplaceMin, RuleControl.Enable, RuleControl.Disable or ReferenceControl.Replace
	Age   string // Youngest, Oldest or Average
	Scope string // whose age: Match, Team or Ticket
	After float64
	Value *document.Node
	At    *document.Node
}

// Rule is a rule of a match, or of a team.
type Rule struct {
	Name, Type, Source string
	Reference          *document.Node
	Overlap            *float64
	Not, Enabled       bool
	Relaxations        []Relaxation
	Default            *document.Node // of cloud save
	At                 *document.Node
}

// Marks are members that only queues, pools and match logic have.
func Marks() []string { return []string{"matchDefinition", "defaultPool", "filteredPools"} }

// Parse reads a queue and one of its pools, by its name. Without a name it is the default pool, or the first. A pool or
// match logic may be by itself, and an answer of the API may be around a queue. What is wrong in other pools does not
// matter.
func Parse(node *document.Node, pool string) (*Queue, error) {
	r := &reader{lenient.Reader{Fold: true}}
	node, _ = r.Open(node, lenient.Envelope{Name: "name", Marks: append(Marks(), "matchLogic", "maxPlayersPerTicket"),
		Around: []string{"queueConfig", "queues", "results", "result"}, Members: Marks()})
	q := r.queue(node, pool)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return q, nil
}

type reader struct{ lenient.Reader }

func (r *reader) queue(node *document.Node, pool string) *Queue {
	q := &Queue{At: node}
	if lenient.Member(node, "defaultPool", "filteredPools", "maxPlayersPerTicket") == nil {
		q.Pool = &Pool{At: node}
		if lenient.Member(node, "matchLogic") != nil {
			q.Pool = r.pool(node)
		} else {
			r.logic(node, q.Pool)
		}
		q.Name, q.Pools = q.Pool.Name, []string{q.Pool.Name}
		r.asked(q, pool)
		return q
	}
	o := r.Object(node)
	q.Name = o.Text("", "name")
	q.MaxTicket = o.Whole("maxPlayersPerTicket", 0, 0, rules.MaxPlayers)
	pools := o.List(maxPools, "filteredPools")
	if n := o.Get("defaultPool"); n != nil {
		pools = append([]*document.Node{n}, pools...)
	}
	if len(pools) == 0 {
		r.Fail(node, "the queue has no pool")
	}
	for _, n := range pools {
		name := cmp.Or(lenient.Member(n, "name"), lenient.Member(lenient.Member(n, "matchLogic"), "name"))
		text := ""
		if name != nil {
			text = name.Text
		}
		q.Pools = append(q.Pools, text)
		if q.Pool == nil && (pool == "" || pool == text) {
			q.Pool = r.pool(n)
		}
	}
	r.asked(q, pool)
	o.Done(slices.Concat(kept, []string{"$schema", "matchmakerId"})...)
	return q
}

// asked refuses the name of a pool that there is not.
func (r *reader) asked(q *Queue, pool string) {
	if pool != "" && !slices.Contains(q.Pools, pool) {
		r.Fail(nil, "the queue has no pool %q, only %s", pool, strings.Join(q.Pools, ", "))
	}
}

func (r *reader) pool(n *document.Node) *Pool {
	o := r.Object(n)
	p := &Pool{Name: o.Text("", "name"), At: n}
	for _, f := range o.List(rules.MaxRules, "filters") {
		filter := r.Object(f)
		one := Filter{Attribute: filter.Name("attribute")}
		one.Operator = filter.Word("operator", "Equal", "Equal", "NotEqual", "LessThan", "GreaterThan")
		if value := filter.Need("value"); value != nil {
			one.Value = value.Text
		}
		filter.Done()
		p.Filters = append(p.Filters, one)
	}
	p.Variants = len(o.List(maxPools, "variants"))
	p.Timeout = o.NumberOr(0, "timeoutSeconds")
	if logic := o.Need("matchLogic"); logic != nil {
		name := p.Name
		r.logic(logic, p)
		if name != "" {
			p.Name = name
		}
	}
	o.Done(slices.Concat(kept, []string{"matchHosting"})...)
	return p
}

func (r *reader) logic(n *document.Node, p *Pool) {
	o := r.Object(n)
	p.Name = o.Text("", "name")
	p.Backfill = o.Bool(false, "backfillEnabled")
	p.Closed = !p.Backfill && lenient.Member(n, "backfillEnabled") != nil
	definition := o.Need("matchDefinition")
	o.Done("$schema", "$comment")
	if definition == nil {
		return
	}
	o = r.Object(definition)
	for _, team := range o.List(rules.MaxTeams, "teams") {
		p.Teams = append(p.Teams, r.team(team))
	}
	if len(p.Teams) == 0 {
		r.Fail(definition, "%q is missing", "teams")
	}
	for _, rule := range o.List(rules.MaxRules, "matchRules") {
		p.Rules = append(p.Rules, r.rule(rule))
	}
	o.Done()
}

func (r *reader) team(n *document.Node) Team {
	o := r.Object(n)
	t := Team{Name: o.Name("name"), At: n, Count: Range{Min: 1, Max: 1}}
	if count := o.Get("teamCount"); count != nil {
		t.Count = r.span(count, rules.MaxTeams)
	}
	if players := o.Need("playerCount"); players != nil {
		t.Players = r.span(players, rules.MaxPlayers)
	}
	for _, rule := range o.List(rules.MaxRules, "teamRules") {
		t.Rules = append(t.Rules, r.rule(rule))
	}
	o.Done()
	return t
}

func (r *reader) span(n *document.Node, most int) Range {
	o := r.Object(n)
	var s Range
	s.Min, s.Max = o.Range("min", "max", 0, most)
	s.Relaxations = r.relaxations(o, "RangeControl.ReplaceMin")
	for _, relaxed := range s.Relaxations {
		if first := s.Relaxations[0]; relaxed.Age != first.Age {
			r.Fail(relaxed.At, "has the ageType %s, and the first relaxation %s: those of a range must have the same",
				relaxed.Age, first.Age)
		}
		if relaxed.Scope != wholeMatch {
			r.Fail(relaxed.At, "has the ageScope %s, and a range follows that of the match", relaxed.Scope)
		}
		if v := r.Number(relaxed.Value); v < 0 || v > float64(most) || v != float64(int(v)) {
			r.Fail(relaxed.At, "value must be a whole number from 0 to %d", most)
		}
	}
	o.Done()
	return s
}

// relaxations reads the relaxations of some types. The first type needs a value.
func (r *reader) relaxations(o *lenient.Object, types ...string) []Relaxation {
	var all []Relaxation
	for _, n := range o.List(rules.MaxSteps, "relaxations") {
		step := r.Object(n)
		x := Relaxation{Type: step.Word("type", "", types...), At: n}
		x.Age = step.Word("ageType", "Oldest", "Youngest", "Oldest", "Average")
		x.Scope = step.Word("ageScope", wholeMatch, wholeMatch, "Team", "Ticket")
		after := step.Need("atSeconds")
		if x.After = r.Number(after); x.After < 0 || x.After > lenient.MaxSeconds {
			r.Fail(after, "must be from 0 to %d", lenient.MaxSeconds)
		}
		if x.Value = step.Get("value"); x.Value == nil && x.Type == types[0] {
			r.Fail(n, "%q is missing", "value")
		}
		step.Done()
		all = append(all, x)
	}
	return all
}

func (r *reader) rule(n *document.Node) *Rule {
	o := r.Object(n)
	rule := &Rule{Source: o.Name("source"), At: n}
	rule.Type = o.Word("type", "", "Difference", "DoubleDifference", "Equality", "LessThan", "LessThanEqual",
		"GreaterThan", "GreaterThanEqual", "InList", "Intersection")
	if rule.Name = rule.Type; lenient.Member(n, "name") != nil { // the documentation shows rules without
		rule.Name = o.Name("name")
	}
	rule.Reference, rule.Overlap = o.Get("reference"), o.Number("overlap")
	r.List(rule.Reference, rules.MaxElements)
	rule.Not, rule.Enabled = o.Bool(false, "not"), o.Bool(true, "enableRule")
	rule.Relaxations = r.relaxations(o, "ReferenceControl.Replace", "RuleControl.Enable", "RuleControl.Disable")
	if external := o.Get("externalData"); external != nil {
		e := r.Object(external)
		if save := e.Get("cloudSave"); save != nil {
			s := r.Object(save)
			rule.Default = s.Get("default")
			s.Done("accessClass")
		}
		e.Done("leaderboard")
	}
	o.Done()
	return rule
}
