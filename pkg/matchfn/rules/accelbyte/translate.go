package accelbyte

import (
	"cmp"
	"fmt"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
	t "matchmaker.dev/pkg/matchfn/rules/translation"
)

// Names of values that the file does not name.
const (
	LatencyValue = "latency"
	RoleValue    = "role"
	BlockedValue = "blocked"
	IDValue      = "id"
)

// none is the value of an option that a ticket does not have.
const none = "(none)"

var whole, beside = rules.Scope{Of: rules.InMatch}, rules.Scope{Of: rules.BesideAnchor}

// Translate makes our rules of a ruleset.
func Translate(set *RuleSet) (*t.Translation, error) {
	x := &translator{t.New(set.Name), set}
	x.teams()
	for i, rule := range set.Rules {
		x.rule(rule, i)
	}
	for _, o := range set.Options {
		x.option(o)
	}
	x.regions()
	x.blocked()
	x.others()
	return x.Done()
}

type translator struct {
	*t.Builder
	set *RuleSet
}

// teams translates the alliances. Flexing rules count by the oldest ticket, and replace all four numbers.
func (x *translator) teams() {
	flexing := slices.Clone(x.set.Flexing)
	slices.SortStableFunc(flexing, func(a, b Alliance) int { return cmp.Compare(a.After, b.After) })
	bound := func(of func(*Alliance) int) *rules.Bound {
		b := &rules.Bound{Clock: rules.Anchor, Start: float64(of(&x.set.Alliance))}
		for i := range flexing {
			b.Step(float64(flexing[i].After), float64(of(&flexing[i])))
		}
		return fixed(b)
	}
	size := rules.Range{
		Min: bound(func(a *Alliance) int { return a.MinPlayers }), Max: bound(func(a *Alliance) int { return a.MaxPlayers }),
	}
	copies := rules.Range{
		Min: bound(func(a *Alliance) int { return a.MinTeams }), Max: bound(func(a *Alliance) int { return a.MaxTeams }),
	}
	verdict, why := t.Exact, ""
	for i := range flexing {
		if flexing[i].Roles != nil {
			verdict, why = t.Stricter, "the roles stay as they are at first"
		}
	}
	switch roles := x.set.Alliance.Roles; {
	case len(roles) == 0:
		x.Rules.Teams = []rules.Team{{Name: "alliance", Copies: copies, Size: size}}
	case equal(roles):
		x.Rules.Teams = []rules.Team{{Name: "alliance", Copies: copies, Size: size, Roles: rolesOf(roles[0])}}
	case len(roles) == x.set.Alliance.MaxTeams && copies.Max.Constant() && copies.Min.Constant() &&
		x.set.Alliance.MinTeams == x.set.Alliance.MaxTeams:
		for i, one := range roles {
			x.Rules.Teams = append(x.Rules.Teams, rules.Team{
				Name: fmt.Sprintf("alliance %d", i+1), Copies: rules.Exactly(1), Size: size, Roles: rolesOf(one),
			})
		}
	default:
		x.Say(x.set.Alliance.At, "", t.Refused, "there are %d combinations of roles for %d to %d teams",
			len(roles), x.set.Alliance.MinTeams, x.set.Alliance.MaxTeams)
		x.Rules.Teams = []rules.Team{{Name: "alliance", Copies: copies, Size: size}}
		return
	}
	if x.Rules.Teams[0].Roles != nil {
		x.Rules.RoleValue = x.Value(rules.Value{From: RoleValue, Kind: rules.Set, Party: rules.Each, Missing: rules.Reject})
	}
	x.Say(x.set.Alliance.At, "", verdict, "%s", why)
}

func equal(all [][]Role) bool {
	for _, roles := range all {
		if !slices.Equal(roles, all[0]) {
			return false
		}
	}
	return true
}

func rolesOf(all []Role) []rules.Role {
	var roles []rules.Role
	for _, r := range all {
		roles = append(roles, rules.Role{Name: r.Name, Count: rules.Range{
			Min: rules.Fixed(float64(r.Min)), Max: rules.Fixed(float64(r.Max)),
		}})
	}
	return roles
}

// fixed removes the steps of a number that never changes.
func fixed(b *rules.Bound) *rules.Bound {
	for _, s := range b.Steps {
		if s.Value != b.Start {
			return b
		}
	}
	return rules.Fixed(b.Start)
}

// rule translates the distance to the oldest ticket.
func (x *translator) rule(rule *Rule, i int) {
	b := &rules.Bound{Clock: rules.Own, Start: rule.Reference}
	steps := slices.Clone(rule.Steps)
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.After, b.After) })
	greatest := rule.Reference
	for _, s := range steps {
		b.Step(s.After, s.Reference)
		greatest = max(greatest, s.Reference)
	}
	value := x.Value(rules.Value{From: rule.Attribute, Kind: rules.Number, Party: rules.Average, Missing: rules.Reject})
	x.Rule("distance of "+rule.Attribute, nil, &rules.Spread{Value: value, Max: fixed(b), Scope: beside})
	scale := rule.Scale
	if scale == 0 {
		scale = max(greatest, 1)
	}
	if rule.Weight > 0 {
		x.Rules.Prefer = append(x.Rules.Prefer, rules.Preference{
			Name: "near in " + rule.Attribute, Weight: rule.Weight, Scale: scale, Amount: t.Breadth(value),
		})
	}
	if x.set.Balance && (rule.Balancing != nil && *rule.Balancing || rule.Balancing == nil && i == 0) {
		x.Rules.Prefer = append(x.Rules.Prefer, rules.Preference{
			Name: "balanced " + rule.Attribute, Weight: 1, Scale: scale, Amount: t.TeamGap(value),
		})
	}
	x.Say(rule.At, rule.Attribute, t.Stricter, "a ticket without the attribute is in no match; AccelByte leaves the "+
		"rule out when the oldest ticket has none")
}

func (x *translator) option(o Option) {
	switch o.Type {
	case "disable":
		x.Say(o.At, o.Name, t.Exact, "it is disabled, so it is left out")
	case "all":
		value := x.Value(rules.Value{From: o.Name, Kind: rules.String, Party: rules.Each, Missing: rules.UseDefault,
			Default: rules.Datum{String: none}})
		x.Rule("same "+o.Name, nil, &rules.Same{Value: value, Scope: whole})
		x.Say(o.At, o.Name, t.Stricter, "it has one value; tickets without it match only each other, and AccelByte lets "+
			"them match any when the oldest ticket has none")
	case "any":
		value := x.Value(rules.Value{From: o.Name, Kind: rules.Set, Party: rules.Each, Missing: rules.UseDefault,
			Default: rules.Datum{Set: []string{none}}})
		x.Rule("shared "+o.Name, nil, &rules.Share{Value: value, Min: rules.Fixed(1), Scope: beside})
		x.Say(o.At, o.Name, t.Stricter, "each ticket shares a value with the oldest; tickets without the option match "+
			"only each other, and AccelByte lets them match any when the oldest ticket has none")
	default:
		x.Say(o.At, o.Name, t.Refused, "our rules have no values that differ between tickets and not within one")
	}
}

func (x *translator) regions() {
	g := x.set.Regions
	if g.Initial == nil && g.Max == nil {
		if g.Rate != nil || g.Range != nil || g.Weight != nil || g.OneSided != nil {
			x.Say(g.At, "regions", t.Refused, "the file says how the latency expands, and not from where: "+
				"region_latency_initial_range_ms is missing")
		}
		return
	}
	value := x.Regions(LatencyValue, rules.Average)
	need := &rules.Latency{Value: value, From: rules.Least}
	verdict, why := t.Exact, "tickets bring the latencies as a map by region"
	most := float64(maxMillis)
	if g.Max != nil {
		most = *g.Max
		need.Max = rules.Fixed(most)
	}
	if g.Initial != nil {
		need.Over = rules.Fixed(*g.Initial)
		reach := 50.0
		if g.Range != nil {
			reach = *g.Range
		}
		if g.Rate != nil && *g.Rate > 0 && reach > 0 {
			need.Over = &rules.Bound{Clock: rules.Own, Start: *g.Initial, Linear: &rules.Linear{
				Delta: reach, Every: *g.Rate / 1000, Limit: max(most, *g.Initial),
			}}
		} else if reach > 0 {
			verdict = t.Stricter
			why += "; it does not expand: AccelByte expands it with each attempt when region_expansion_rate_ms is missing"
		}
	}
	if g.OneSided != nil {
		verdict = t.Stricter
		why += "; all tickets keep to their own limit, also when the oldest has waited long"
	}
	x.Rule("latency", nil, need)
	if g.Weight != nil && *g.Weight > 0 {
		x.Rules.Prefer = append(x.Rules.Prefer, rules.Preference{
			Name: "near region", Weight: *g.Weight, Scale: max(min(most, 1000), 1), Amount: &rules.LatencyOf{Value: value},
		})
	}
	x.Say(g.At, "regions", verdict, "%s", why)
}

func (x *translator) blocked() {
	at := x.set.At.Get("blocked_player_option")
	const why = "tickets bring the ids that a player blocks"
	scope := whole
	switch x.set.Blocked {
	case "":
		x.Say(x.set.At, "blocked_player_option", t.Looser, "players that block each other may match; AccelByte keeps them "+
			"apart if nothing is said: say blockedPlayerCannotMatch to have that")
		return
	case "blockedPlayerCanMatch":
		x.Say(at, "", t.Exact, "")
		return
	case "blockedPlayerCanMatchOnDifferentTeam":
		scope.Of = rules.InTeam
	}
	blocked := x.Value(rules.Value{From: BlockedValue, Kind: rules.Set, Party: rules.Each, Missing: rules.Any})
	id := x.Value(rules.Value{From: IDValue, Kind: rules.String, Party: rules.Each, Missing: rules.Any})
	x.Rule("blocked players", nil, &rules.Avoid{Value: blocked, ID: id, Scope: scope})
	x.Say(at, "", t.Exact, why)
}

// others tells of what is no rule, and refuses what changes the matches.
func (x *translator) others() {
	x.Say(x.set.At, "attributes", t.Looser, "AccelByte asks that all other attributes of parties are equal, such as "+
		"server_name: name those as match options of the type all")
	x.Rules.Backfill.First = rules.GamesFirst
	flexing := false
	for _, m := range x.set.Others {
		switch m.Name {
		case "role_flexing_enable":
			flexing = m.True
		case "role_flexing_second", "role_flexing_player":
		case "sub_game_modes":
			if len(m.Members) > 0 || len(m.Elements) > 0 {
				x.Say(m.Node, m.Name, t.Refused, "each mode is a config of its own")
			}
		case "sort_ticket", "sort_tickets", "bucket_mmr_rule", "ticket_flexing_selection", "ticket_flexing_selections",
			"use_newest_ticket_for_flexing":
			if m.Kind != document.Bool || m.True {
				x.Say(m.Node, m.Name, t.Refused, "it is of an older version of the language")
			}
		case "auto_backfill":
			if m.True {
				x.Rules.Backfill.Create = rules.CreateShort
				x.Say(m.Node, m.Name, t.Exact, "running games are filled first, and a match that is not full gets a "+
					"backfill ticket")
			} else {
				x.Say(m.Node, m.Name, t.Exact, "running games are filled first, if their servers make backfill tickets; "+
					"new matches get none")
			}
		default:
			x.Say(m.Node, m.Name, t.Note, "it says nothing about which matches are allowed")
		}
	}
	if flexing || combined(x.set.At.Get("alliance")) {
		x.Say(x.set.At, "role_flexing_enable", t.Stricter, "players keep to their roles however long they wait")
	}
}

// combined returns whether roles flex as the alliance says.
func combined(alliance *document.Node) bool {
	n := alliance.Get("combination").Get("role_flexing_enable")
	return n != nil && n.True
}
