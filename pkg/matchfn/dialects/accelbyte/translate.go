package accelbyte

import (
	"cmp"
	"fmt"
	"slices"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Names of values that the file does not name.
const (
	LatencyValue = "latency"
	RoleValue    = "role"
	BlockedValue = "blocked"
	IDValue      = "id"
)

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
	case !slices.ContainsFunc(roles, func(one []Role) bool { return !slices.Equal(one, roles[0]) }):
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
	if slices.ContainsFunc(b.Steps, func(s rules.Step) bool { return s.Value != b.Start }) {
		return b
	}
	return rules.Fixed(b.Start)
}

// rule translates the distance to the oldest ticket.
func (x *translator) rule(rule *Rule, i int) {
	if rule.Within {
		x.Say(rule.At, rule.Attribute, t.Note, "it is within the alliance, and is taken as if it were beside it")
	}
	if rule.Criteria != distance {
		x.Say(rule.At, rule.Attribute, t.Exact, "it is left out: AccelByte compares by the criteria distance alone, "+
			"and %s refuses nobody", rule.Criteria)
		return
	}
	b := &rules.Bound{Clock: rules.Own, Start: rule.Reference}
	steps := slices.Clone(rule.Steps)
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.After, b.After) })
	greatest := rule.Reference
	for _, s := range steps {
		b.Step(s.After, s.Reference)
	}
	for _, other := range x.set.Rules { // AccelByte takes the flexing rules of all attributes
		for _, s := range other.Steps {
			greatest = max(greatest, s.Reference)
		}
	}
	value := x.Value(rules.Value{
		From: rule.Attribute, Kind: rules.Number, Party: rules.Average, Missing: rules.UseDefault,
	})
	x.Rule("distance of "+rule.Attribute, nil, &rules.Spread{Value: value, Max: fixed(b), Scope: beside})
	scale := cmp.Or(rule.Scale, max(greatest, 1))
	if rule.Weight > 0 {
		x.Rules.Prefer = append(x.Rules.Prefer, rules.Preference{
			Name: "near in " + rule.Attribute, Weight: rule.Weight, Scale: scale, Amount: t.Breadth(value),
		})
	}
	if x.set.Balance && x.set.balancing(i) {
		x.Rules.Prefer = append(x.Rules.Prefer, rules.Preference{
			Name: "balanced " + rule.Attribute, Weight: 1, Scale: scale, Amount: t.TeamGap(rules.StatAverage, value),
		})
	}
	verdict, why := t.Exact, "a player without the attribute counts as 0, as in AccelByte's published code"
	if rule.Max > 0 {
		verdict, why = t.Stricter, why+"; values above max are compared as they are, and AccelByte may take max for them"
	}
	x.Say(rule.At, rule.Attribute, verdict, "%s", why)
}

// balancing reports whether teams are balanced by a rule: if none says so, by the first of a distance.
func (set *RuleSet) balancing(i int) bool {
	distances := slices.DeleteFunc(slices.Clone(set.Rules), func(r *Rule) bool { return r.Criteria != distance })
	if slices.ContainsFunc(distances, func(r *Rule) bool { return r.Balancing != nil }) {
		return set.Rules[i].Balancing != nil && *set.Rules[i].Balancing
	}
	return set.Rules[i] == distances[0]
}

func (x *translator) blocked() {
	at, name := lenient.Member(x.set.At, "blocked_player_option"), ""
	const why = "tickets bring the ids that a player blocks"
	verdict, also := t.Stricter, "; players of one ticket who block each other are in no match, and AccelByte matches them"
	scope := whole
	switch x.set.Blocked {
	case "":
		at, name = x.set.At, "blocked_player_option"
	case "blockedPlayerCanMatch":
		x.Say(at, "", t.Exact, "")
		return
	case "blockedPlayerCanMatchOnDifferentTeam":
		scope.Of, verdict, also = rules.InTeam, t.Exact, "" // AccelByte looks within tickets, too
	}
	blocked := x.Value(rules.Value{From: BlockedValue, Kind: rules.Set, Party: rules.Each, Missing: rules.Any})
	id := x.Value(rules.Value{From: IDValue, Kind: rules.String, Party: rules.Each, Missing: rules.Any})
	x.Rule("blocked players", nil, &rules.Avoid{Value: blocked, ID: id, Scope: scope})
	x.Say(at, name, verdict, why+"%s", also)
}

// referred is the member with which only few attributes are compared.
const referred = "match_options_referred_for_backfill"

// others tells of what is no rule, and refuses what changes the matches.
func (x *translator) others() {
	compared := "all other attributes of parties are equal, such as server_name"
	if x.set.On[referred] {
		compared = "server_name and client_version of parties are equal"
	}
	x.Say(x.set.At, "attributes", t.Looser, "AccelByte asks that %s: name those as match options of the type all",
		compared)
	x.Rules.Backfill.First = rules.GamesFirst
	flexing := false
	for _, m := range x.set.Others {
		switch m.Name {
		case "role_flexing_enable":
			flexing = x.set.On[m.Name]
		case "role_flexing_second", "role_flexing_player":
		case "sub_game_modes":
			if !empty(m.Node) {
				x.Say(m.Node, m.Name, t.Refused, "each mode is a config of its own")
			}
		case "sort_ticket", "sort_tickets", "bucket_mmr_rule", "ticket_flexing_selection", "ticket_flexing_selections",
			"use_newest_ticket_for_flexing":
			if !empty(m.Node) {
				x.Say(m.Node, m.Name, t.Refused, "it is of an older version of the language")
			}
		case "auto_backfill":
			if x.set.On[m.Name] {
				x.Rules.Backfill.Create = rules.CreateShort
				x.Say(m.Node, m.Name, t.Exact, "running games are filled first, and a match that is not full gets a "+
					"backfill ticket")
			} else {
				x.Say(m.Node, m.Name, t.Exact, "running games are filled first, if their servers make backfill tickets; "+
					"new matches get none")
			}
		case referred:
			why := "AccelByte compares all other attributes, too: see attributes"
			if x.set.On[m.Name] {
				why = "AccelByte compares no other attributes than server_name and client_version: see attributes"
			}
			x.Say(m.Node, m.Name, t.Note, "%s", why)
		default:
			x.Say(m.Node, m.Name, t.Note, "it says nothing about which matches are allowed")
		}
	}
	if flexing || x.set.Alliance.Flexing {
		x.Say(x.set.At, "role_flexing_enable", t.Stricter, "players keep to their roles however long they wait")
	}
}

// empty reports whether a member says no more than one that is missing: answers of the API have all members.
func empty(n *document.Node) bool {
	full := func(n *document.Node) bool { return !empty(n) }
	return !n.True && (n.Kind == document.Number && n.Number == 0 || n.Kind != document.Number && n.Text == "") &&
		!slices.ContainsFunc(n.Elements, full) &&
		!slices.ContainsFunc(n.Members, func(m document.Member) bool { return full(m.Node) })
}
