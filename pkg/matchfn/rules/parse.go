package rules

import (
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Parse reads a rule set in our own language, and checks it as Check does. An error names the place.
func Parse(text []byte) (*Rules, error) {
	n, err := document.Parse(text)
	if err != nil {
		return nil, err
	}
	return Read(n)
}

// Read is Parse for a document, which may be a part of another.
func Read(n *document.Node) (*Rules, error) {
	rules, err := Unchecked(n)
	if err != nil {
		return nil, err
	}
	for _, problem := range Check(rules) {
		return nil, at(n, problem)
	}
	return rules, nil
}

// Unchecked reads a rule set as Read does and leaves Check to the caller, which wants all that is wrong with it.
func Unchecked(n *document.Node) (*Rules, error) {
	r := &reader{clock: Oldest}
	rules := r.rules(n)
	if r.err != nil {
		return nil, r.err
	}
	return rules, nil
}

// at is a problem with the line and the column of its place.
func at(n *document.Node, p Problem) error {
	e := &document.Error{Path: p.Path, Text: p.Text}
	var look func(n *document.Node)
	look = func(n *document.Node) {
		if len(n.Path) > len(p.Path) || p.Path[:len(n.Path)] != n.Path {
			return
		}
		e.Line, e.Column = n.Line, n.Column
		for _, m := range n.Members {
			look(m.Node)
		}
		for _, m := range n.Elements {
			look(m)
		}
	}
	look(n)
	return e
}

func (r *reader) rules(n *document.Node) *Rules {
	if n.Kind != document.Object {
		r.fail(n, "must be an object, not %s", n.Kind)
		return nil
	}
	r.foreign(n)
	r.only(n, "$schema", "source", "name", "description", "clock", "numbers", "values", "teams", "players", "roles",
		"regions", "priority", "rules", "prefer", "order", "patience", "backfill")
	r.is(n.Get("$schema"), document.String) // for editors
	rules := &Rules{Choose: ByWorst, Source: r.source(n.Get("source"))}
	rules.Name, rules.Description = r.text(n.Get("name"), ""), r.text(n.Get("description"), "")
	r.clock = Clock(r.word(n.Get("clock"), string(Oldest), clocks...))
	rules.Numbers = r.texts(n.Get("numbers"))
	r.values(n, rules)
	r.teams(n.Get("teams"), rules)
	if n.Get("teams") == nil {
		r.fail(n, "has no teams")
	}
	rules.Players = r.span(n.Get("players"))
	rules.Priority = r.text(n.Get("priority"), "")
	for _, e := range r.elements(n.Get("rules"), MaxRules) {
		rules.Rules = append(rules.Rules, r.rule(e))
	}
	if regions := n.Get("regions"); regions != nil {
		r.regions(regions, rules)
	}
	for _, e := range r.elements(n.Get("prefer"), MaxRules) {
		rules.Prefer = append(rules.Prefer, r.preference(e))
	}
	for _, e := range r.elements(n.Get("order"), MaxRules) {
		rules.Order = append(rules.Order, r.order(e))
	}
	rules.Patience = r.patience(n.Get("patience"))
	r.backfill(n.Get("backfill"), rules)
	return rules
}

// values reads numbers, values, and the values that roles and regions mean without saying so.
func (r *reader) values(n *document.Node, rules *Rules) {
	values := n.Get("values")
	if r.is(values, document.Object) {
		if len(values.Members) > MaxValues {
			r.fail(values, "has %d values, and at most %d are allowed", len(values.Members), MaxValues)
			return
		}
		for _, m := range values.Members {
			rules.Values = append(rules.Values, r.value(m))
		}
	}
	imply := func(name string, kind Kind) {
		if rules.ValueOf(name) == nil {
			rules.Values = append(rules.Values, Value{Name: name, From: name, Kind: kind, Party: Each, Missing: Reject})
		}
	}
	for _, name := range rules.Numbers {
		imply(name, Number)
	}
	if len(rules.Values) > MaxValues {
		r.fail(n, "has %d values, and at most %d are allowed", len(rules.Values), MaxValues)
	}
	if regions := n.Get("regions"); regions != nil && regions.Kind == document.Object {
		rules.RegionValue = r.text(regions.Get("from"), "latency")
		imply(rules.RegionValue, Map)
	}
	if roles := n.Get("roles"); roles != nil && roles.Kind == document.Object {
		r.roles(roles, rules)
		imply(rules.RoleValue, Map)
	} else if name := r.text(roles, ""); name != "" {
		rules.RoleValue = name
		imply(name, Set)
	} else if teams := n.Get("teams"); teams != nil && teams.Kind == document.List {
		for _, team := range teams.Elements {
			if team.Get("roles") != nil {
				rules.RoleValue = "roles"
				imply("roles", Set)
			}
		}
	}
}

// roles reads how players take roles.
func (r *reader) roles(n *document.Node, rules *Rules) {
	r.only(n, "from", "max", "weight")
	rules.RoleValue = r.text(n.Get("from"), "roles")
	if most := n.Get("max"); most != nil {
		if clock := most.Get("clock"); clock != nil && clock.Text != string(Own) {
			r.fail(clock, "the number goes by the age of each ticket: it has no other clock")
		}
		if rules.RoleMax = r.bound(most, true); rules.RoleMax != nil {
			rules.RoleMax.Clock = Own
		}
	}
	rules.RoleWeight = r.text(n.Get("weight"), "")
}

var merges = map[Kind][]string{
	Number: {string(Each), string(Average), string(Least), string(Greatest), string(Sum)},
	String: {string(Each)},
	Set:    {string(Each), string(Union), string(Intersection)},
	Map:    {string(Each), string(Average), string(Least), string(Greatest)},
}

func (r *reader) value(m document.Member) Value {
	n := m.Node
	if m.Name == "" || len(m.Name) > 256 {
		r.fail(n, "a name must have 1 to 256 bytes")
	}
	if n.Kind == document.String { // "mode": "string"
		kind := Kind(r.word(n, "", string(Number), string(String), string(Set), string(Map)))
		return Value{Name: m.Name, From: m.Name, Kind: kind, Party: Each, Missing: Reject}
	}
	r.only(n, "type", "from", "party", "once", "missing", "default")
	v := Value{Name: m.Name, From: r.text(n.Get("from"), m.Name), Once: r.bool(n.Get("once"))}
	if !r.is(n, document.Object) {
		if r.err == nil {
			r.fail(n, "must be an object or a type")
		}
		return v
	}
	v.Kind = Kind(r.word(n.Get("type"), string(Number), string(Number), string(String), string(Set), string(Map)))
	v.Party = Merge(r.word(n.Get("party"), string(Each), merges[v.Kind]...))
	v.Missing = Missing(r.word(n.Get("missing"), string(Reject), string(Reject), string(Any)))
	if d := n.Get("default"); d != nil && d.Kind != document.Null {
		if m := n.Get("missing"); m != nil {
			r.fail(m, "a value has a default or missing, not both")
		}
		v.Missing, v.Default = UseDefault, r.datum(d, v.Kind)
	}
	if v.Once && v.Party == Each {
		r.fail(n.Get("once"), "is only for values that parties merge")
	}
	return v
}

func (r *reader) datum(n *document.Node, kind Kind) (d Datum) {
	switch kind {
	case Number:
		d.Number = r.number(n, 0)
	case String:
		d.String = r.text(n, "")
	case Set:
		d.Set = r.texts(n)
	case Map:
		if r.is(n, document.Object) {
			d.Map = map[string]float64{}
			for _, m := range n.Members {
				d.Map[m.Name] = r.number(m.Node, 0)
			}
		}
	}
	return d
}

func (r *reader) teams(n *document.Node, rules *Rules) {
	for _, e := range r.elements(n, MaxTeams) {
		r.only(e, "name", "copies", "size", "roles")
		team := Team{Name: r.text(e.Get("name"), ""), Copies: Exactly(1), Size: r.span(e.Get("size"))}
		if team.Name == "" {
			r.fail(e, "a team needs a name")
		}
		if e.Get("size") == nil {
			r.fail(e, "a team needs a size")
		}
		if copies := e.Get("copies"); copies != nil {
			team.Copies = r.span(copies)
		}
		if roles := e.Get("roles"); r.is(roles, document.Object) {
			for _, m := range roles.Members {
				team.Roles = append(team.Roles, Role{m.Name, r.span(m.Node)})
			}
			if len(team.Roles) == 0 || len(team.Roles) > 32 {
				r.fail(roles, "must have 1 to 32 roles")
			}
		}
		rules.Teams = append(rules.Teams, team)
	}
}

// regions reads the limits of latency as a rule of that name.
func (r *reader) regions(n *document.Node, rules *Rules) {
	r.only(n, "from", "names", "choose", "max", "over", "apart", "apartFrom")
	if !r.is(n, document.Object) {
		return
	}
	if names := n.Get("names"); r.is(names, document.List) {
		if count := len(names.Elements); count == 0 || count > MaxRegions {
			r.fail(names, "must have 1 to %d names", MaxRegions)
			return
		}
		rules.RegionNames = r.texts(names)
	}
	rules.Choose = Choose(r.word(n.Get("choose"), string(ByWorst), string(ByWorst), string(ByMean)))
	need := r.latency(n, rules.RegionValue)
	if need.Max != nil || need.Over != nil || need.Apart != nil {
		rules.Rules = append(rules.Rules, Rule{Name: "regions", Need: need})
	}
}

func (r *reader) latency(n *document.Node, value string) *Latency {
	return &Latency{
		Value: value, Max: r.bound(n.Get("max"), true), Over: r.bound(n.Get("over"), true),
		Apart: r.bound(n.Get("apart"), false),
		From:  Merge(r.word(n.Get("apartFrom"), string(Least), string(Least), string(Average))),
	}
}

func (r *reader) rule(n *document.Node) Rule {
	rule := Rule{Name: r.text(n.Get("name"), ""), Active: r.bound(n.Get("active"), false)}
	rule.Need = r.condition(n, "name", "active")
	return rule
}

func (r *reader) preference(n *document.Node) Preference {
	p := Preference{Name: r.text(n.Get("name"), ""), Weight: r.number(n.Get("weight"), 1),
		Scale: r.number(n.Get("scale"), 1)}
	if p.Weight <= 0 {
		r.fail(n.Get("weight"), "must be greater than 0")
	}
	if p.Scale <= 0 {
		r.fail(n.Get("scale"), "must be greater than 0")
	}
	low, high, need := n.Get("low"), n.Get("high"), n.Get("need")
	r.only(n, "name", "weight", "scale", "low", "high", "need")
	switch {
	case low != nil && high == nil && need == nil:
		p.Amount = r.expression(low)
	case high != nil && low == nil && need == nil:
		p.Amount = &Arithmetic{'-', &Literal{Fixed(0)}, r.expression(high)}
	case need != nil && low == nil && high == nil:
		p.Need = r.condition(need)
	default:
		r.fail(n, "must have one of low, high, need")
	}
	return p
}

func (r *reader) order(n *document.Node) Order {
	r.only(n, "by", "near", "key", "keyOf", "descending")
	o := Order{Value: r.text(n.Get("by"), ""), Key: r.text(n.Get("key"), ""), Descending: r.bool(n.Get("descending")),
		KeyOf: Merge(r.word(n.Get("keyOf"), "", string(Least), string(Greatest)))}
	if near := r.text(n.Get("near"), ""); near != "" {
		if o.Value != "" {
			r.fail(n, "must have one of by, near")
		}
		o.Value, o.Near = near, true
	}
	if o.Value == "" {
		r.fail(n, "must have one of by, near")
	}
	if o.Key != "" && o.KeyOf != "" {
		r.fail(n, "must have at most one of key, keyOf")
	}
	return o
}
