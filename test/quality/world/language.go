package world

import (
	"encoding/json"
	"fmt"
	"strings"

	"matchmaker.dev/services/lab/population"
)

// Language is one of the languages in which a game's demands are said.
type Language string

// The languages. Own is ours.
const (
	Own       Language = "rules"
	FlexMatch Language = "flexmatch"
	Unity     Language = "unity"
	PlayFab   Language = "playfab"
	AccelByte Language = "accelbyte"
	// Patient is ours without steps: the last bounds hold at once, and tickets wait for nearer matches where players come.
	Patient Language = "rules, patient"
	// Hasty is Patient without patience: tickets take the first match that the last bounds allow.
	Hasty Language = "rules, hasty"
	// Tuned is Patient with a patience that is tuned to the world.
	Tuned Language = "rules, tuned"
)

type object = map[string]any

// Says reports whether a language can say all that a game demands. Unity has no roles.
func (l Language) Says(g *Game) bool { return l != Unity || len(g.Roles) == 0 }

// File is the file of a game in a language.
func (l Language) File(g *Game) string {
	switch l {
	case FlexMatch:
		return g.flexMatch()
	case Unity:
		return g.unity()
	case PlayFab:
		return g.playFab()
	case AccelByte:
		return g.accelByte()
	case Patient:
		return g.patient()
	case Hasty:
		return g.withPatience(relativeStart, nil)
	case Tuned:
		return g.tuned()
	}
	return write(g.own(relativeStart))
}

// IsOwn reports whether it is ours.
func (l Language) IsOwn() bool { return l == Own || l.IsWide() }

// IsWide reports whether the last bounds hold at once.
func (l Language) IsWide() bool { return l == Hasty || l == Patient || l == Tuned }

// Settings are the settings of a config of the function rules.
func (l Language) Settings(g *Game) string {
	if l.IsOwn() {
		return l.File(g)
	}
	return write(object{string(l): l.File(g)})
}

// write writes JSON. What it gets can be written.
func write(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// pairs are the steps as lists of two numbers.
func (b Bound) pairs() (all [][2]float64) { return append(all, b.Steps...) }

// own says the same bounds, of which each ticket keeps its own as in PlayFab, latencies relative to the best region as
// in AccelByte, so much above it at first, and what is better within them.
func (g *Game) own(over float64) object {
	bound := func(b Bound) any {
		if b.Steps == nil {
			return b.Start
		}
		return object{"start": b.Start, "steps": b.pairs(), "clock": "each"}
	}
	gap := func(b Bound) any {
		if b.Steps == nil {
			return b.Start
		}
		return object{"start": b.Start, "steps": b.pairs()}
	}
	team := object{"name": "team", "copies": g.Teams, "size": g.Size}
	values := object{"skill": object{"type": "number", "party": "avg"}, "latency": "map"}
	rules := []any{object{"name": "similar", "spread": "skill", "max": bound(g.Spread)}}
	var prefer []any
	if g.Size > 1 {
		rules = append(rules, object{"name": "fair", "gap": "skill", "max": gap(g.Gap)})
		prefer = append(prefer,
			object{"low": object{"minus": []any{
				object{"max": object{"avg": "skill", "in": "team"}}, object{"min": object{"avg": "skill", "in": "team"}},
			}}, "scale": 50},
			object{"low": object{"minus": []any{
				object{"max": object{"party": "players", "in": "team"}}, object{"min": object{"party": "players", "in": "team"}},
			}}})
	}
	all := object{"values": values, "teams": []any{team}, "rules": rules,
		"regions": object{"max": g.Ping.Last(), "over": object{"start": over, "grow": relativeGrow,
			"every": relativeEvery, "until": g.Ping.Last(), "clock": "each"}}}
	if len(prefer) > 0 {
		all["prefer"] = prefer
	}
	if g.Roles != nil {
		counts := object{}
		for _, role := range g.Roles {
			counts[role.Name] = role.Count
		}
		team["roles"], values["role"], all["roles"] = counts, "set", "role"
	}
	return all
}

// patient is own without the steps of skill. Tickets take any match after twice the time of the last of these steps: a
// match takes the bounds of its oldest ticket then, and not, as in own, the bounds of each ticket.
func (g *Game) patient() string {
	return g.withPatience(relativeStart, object{"until": 2 * g.Spread.Steps[len(g.Spread.Steps)-1][0]})
}

func (g *Game) tuned() string {
	return g.withPatience(g.Tuned.Over, object{"until": g.Tuned.Until, "worth": g.Tuned.Worth})
}

// withPatience is own with the last bounds of skill, and a patience or none.
func (g *Game) withPatience(over float64, patience object) string {
	wide := *g
	wide.Spread, wide.Gap = Bound{Start: g.Spread.Last()}, Bound{Start: g.Gap.Last()}
	all := wide.own(over)
	if patience != nil {
		all["patience"] = patience
	}
	return write(all)
}

func (g *Game) flexMatch() string {
	var teams, rules, expansions []any
	attributes := []any{object{"name": "skill", "type": "number"}}
	widen := func(rule, property string, b Bound, by float64) {
		var steps []any
		for _, s := range b.Steps {
			steps = append(steps, object{"waitTimeSeconds": s[0], "value": s[1] * by})
		}
		expansions = append(expansions, object{"target": fmt.Sprintf("rules[%s].%s", rule, property), "steps": steps})
	}
	for i := range g.Teams {
		name := teamName(i)
		teams = append(teams, object{"name": name, "minPlayers": g.Size, "maxPlayers": g.Size})
		for _, role := range g.Roles {
			// Parties have one value, the mean of their players, so that the sum of all is right and "contains" is not.
			rules = append(rules, object{"name": role.Name + " of " + name, "type": "distance",
				"measurements":   []any{"sum(teams[" + name + "].players.attributes[" + role.Name + "])"},
				"referenceValue": role.Count, "maxDistance": 0.01})
		}
	}
	for _, role := range g.Roles {
		attributes = append(attributes, object{"name": role.Name, "type": "number"})
	}
	rules = append(rules, object{"name": "similar", "type": "batchDistance", "batchAttribute": "skill",
		"maxDistance": g.Spread.Start}, object{"name": "fast", "type": "latency", "maxLatency": g.Ping.Start})
	widen("similar", "maxDistance", g.Spread, 1)
	widen("fast", "maxLatency", g.Ping, 1)
	if g.Size > 1 {
		// Of two teams, each is half as far from the mean of all as from the other.
		rules = append(rules, object{"name": "fair", "type": "distance",
			"measurements":   []any{"avg(teams[*].players.attributes[skill])"},
			"referenceValue": "avg(flatten(teams[*].players.attributes[skill]))", "maxDistance": g.Gap.Start / 2})
		widen("fair", "maxDistance", g.Gap, 0.5)
	}
	return write(object{
		"name": "game", "ruleLanguageVersion": "1.0", "playerAttributes": attributes, "teams": teams, "rules": rules,
		"expansions": expansions, "algorithm": object{"expansionAgeSelection": "oldest"},
	})
}

func teamName(i int) string { return []string{"red", "blue", "green", "gold"}[i] }

func (g *Game) unity() string {
	relax := func(b Bound) (all []any) {
		for _, s := range b.Steps {
			all = append(all, object{"type": "ReferenceControl.Replace", "ageType": "Oldest", "atSeconds": s[0], "value": s[1]})
		}
		return all
	}
	return write(object{"name": "game", "enabled": true, "maxPlayersPerTicket": g.Size, "defaultPool": object{
		"name": "all", "enabled": true, "timeoutSeconds": MaxPatience, "variants": []any{},
		"matchHosting": object{"type": "MatchId"},
		"matchLogic": object{"name": "game", "backfillEnabled": false, "matchDefinition": object{
			"teams": []any{object{"name": "team", "teamCount": object{"min": g.Teams, "max": g.Teams},
				"playerCount": object{"min": g.Size, "max": g.Size}, "teamRules": []any{}}},
			"matchRules": []any{
				object{"name": "similar", "type": "Difference", "source": "Players.CustomData.skill",
					"reference": g.Spread.Start, "relaxations": relax(g.Spread)},
				object{"name": "fast", "type": "LessThanEqual", "source": "Players.QosResults.Latency",
					"reference": g.Ping.Start, "relaxations": relax(g.Ping)},
			},
		}},
	}})
}

// expansionSeconds is between PlayFab's expansions: the steps of all bounds are at multiples of it.
const expansionSeconds = 5

func (g *Game) playFab() string {
	custom := func(member string, b Bound) object {
		var overrides []any
		for at := 0.0; at <= b.Steps[len(b.Steps)-1][0]; at += expansionSeconds {
			overrides = append(overrides, b.At(at))
		}
		return object{"Type": "Custom", "SecondsBetweenExpansions": expansionSeconds, member: overrides}
	}
	user := func(path string) object { return object{"Path": path, "Source": "User"} }
	rules := []any{
		object{"Type": "DifferenceRule", "Name": "similar", "Attribute": user("skill"), "Difference": g.Spread.Start,
			"MergeFunction": "Average", "Weight": 1, "Expansion": custom("DifferenceOverrides", g.Spread)},
		object{"Type": "RegionSelectionRule", "Name": "fast", "Path": "latency", "MaxLatency": g.Ping.Start, "Weight": 1,
			"Expansion": custom("MaxLatencyOverrides", g.Ping)},
	}
	var teams []any
	for i := range g.Teams {
		teams = append(teams, object{"Name": teamName(i), "MinTeamSize": g.Size, "MaxTeamSize": g.Size})
	}
	all := object{"Name": "game", "MinMatchSize": g.Players(), "MaxMatchSize": g.Players(), "Teams": teams}
	if g.Size > 1 {
		rules = append(rules, object{"Type": "TeamDifferenceRule", "Name": "fair", "Attribute": user("skill"),
			"Difference": g.Gap.Start, "DefaultAttributeValue": meanSkill, "Expansion": custom("DifferenceOverrides", g.Gap)})
	}
	for _, role := range g.Roles {
		n := role.Count * g.Teams
		rules = append(rules, object{"Type": "MatchTotalRule", "Name": role.Name, "Attribute": user(role.Name), "Min": n,
			"Max": n, "Weight": 1})
	}
	all["Rules"] = rules
	return write(object{"MatchmakingQueue": all})
}

func (g *Game) accelByte() string {
	alliance := object{"min_number": g.Teams, "max_number": g.Teams, "player_min_number": g.Size,
		"player_max_number": g.Size}
	if g.Roles != nil {
		var roles []any
		for _, role := range g.Roles {
			roles = append(roles, object{"name": role.Name, "min": role.Count, "max": role.Count})
		}
		var combinations []any
		for range g.Teams {
			combinations = append(combinations, roles)
		}
		alliance["combination"] = object{"has_combination": true, "alliances": combinations}
	}
	var flexing []any
	for _, s := range g.Spread.Steps {
		flexing = append(flexing, object{"attribute": "skill", "criteria": "distance", "duration": s[0], "reference": s[1]})
	}
	return write(object{"alliance": alliance,
		"matching_rule": []any{object{"attribute": "skill", "criteria": "distance", "reference": g.Spread.Start, "weight": 1,
			"isForBalancing": true}},
		"flexing_rule": flexing, "rebalance_enable": true, "region_latency_initial_range_ms": relativeStart,
		"region_expansion_rate_ms": relativeEvery * 1000, "region_expansion_range_ms": relativeGrow,
		"region_latency_max_ms": g.Ping.Last(), "blocked_player_option": "blockedPlayerCanMatch"})
}

// AccelByte's latencies are relative to the best of a ticket: so much above it at first, in ms, and more every so many
// seconds.
const (
	relativeStart = 40.0
	relativeEvery = 5.0
	relativeGrow  = 10.0
)

// RelativePing is how much above its best a ticket's latency may be in AccelByte's words.
func RelativePing(age float64) float64 {
	return relativeStart + relativeGrow*float64(int(age/relativeEvery))
}

// Property is what a ticket says of its players.
func (g *Game) Property(t *Ticket) []byte {
	var b strings.Builder
	for i := range t.Players {
		p := &t.Players[i]
		b.WriteString([]string{"[", ","}[min(i, 1)] + `{"skill":` + text(p.Skill))
		for i, role := range g.Roles {
			if i == p.Role {
				b.WriteString(`,"role":["` + role.Name + `"],"` + role.Name + `":1`)
			} else {
				b.WriteString(`,"` + role.Name + `":0`)
			}
		}
		for region, name := range population.RegionNames() {
			b.WriteString([]string{`,"latency":{`, ","}[min(region, 1)])
			b.WriteString(`"` + name + `":` + text(p.Ping[region]))
		}
		b.WriteString("}}")
	}
	return []byte(b.String() + "]")
}
