// Package explain says in words what a rule set means.
package explain

import (
	"fmt"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules"
)

// Section is a part of what is to say.
type Section struct {
	Title string `json:"title"`
	// Lines are facts. Those that belong to the one before are indented by two spaces more than it.
	Lines []string `json:"lines"`
}

// Rules explains a rule set that [rules.Check] finds nothing wrong with. Sections without lines are left out.
func Rules(r *rules.Rules) (all []Section) {
	for _, s := range []Section{
		{"A match", match(r)},
		{"What is known of each player", values(r)},
		{"What must hold", needs(r)},
		{"Which match is better", preferences(r)},
		{"Which tickets are tried first", order(r)},
		{"How long tickets wait for a nearer match", patience(r.Patience)},
		{"Running games", games(r)},
	} {
		if len(s.Lines) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// Text is sections as text, with an empty line between them.
func Text(all []Section) string {
	var text strings.Builder
	for i, s := range all {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(s.Title + "\n")
		for _, l := range s.Lines {
			text.WriteString("  " + l + "\n")
		}
	}
	return text.String()
}

func match(r *rules.Rules) (lines []string) {
	for _, t := range r.Teams {
		lines = append(lines, team(t))
	}
	if r.Players.Min != nil || r.Players.Max != nil {
		lines = append(lines, "in all "+players(r.Players))
	}
	if r.RegionValue != "" {
		least := "worst"
		if r.Choose == rules.ByMean {
			least = "mean"
		}
		lines = append(lines,
			fmt.Sprintf("a region that all players know who have %s; of those that the rules allow, the one with the least %s",
				quoted(r.RegionValue), least))
		if len(r.RegionNames) > 0 {
			lines = append(lines, "of the regions that players name, only these count: "+list(quotedAll(r.RegionNames), "and"))
		}
	}
	lines = append(lines, roles(r)...)
	return append(lines, "the players of a ticket are in the same team")
}

// roles says which roles players take where some are taken reluctantly.
func roles(r *rules.Rules) (lines []string) {
	v := r.ValueOf(r.RoleValue)
	if v == nil || v.Kind != rules.Map {
		return nil
	}
	line := "a player takes the roles for which his " + quoted(r.RoleValue) + " has a number"
	if r.RoleMax != nil {
		line += " of at most " + bound(r.RoleMax)
	}
	lines = []string{line, "of all ways to give the roles of a team, the one with the least sum of these numbers"}
	if r.RoleWeight != "" {
		lines[1] += ", each times the player's " + quoted(r.RoleWeight)
	}
	return lines
}

func team(t rules.Team) string {
	line := "a team " + quoted(t.Name) + " of "
	if n, ok := fixed(t.Copies); !ok || n != 1 {
		line = span(t.Copies) + " teams " + quoted(t.Name) + ", each of "
	}
	line += players(t.Size)
	var roles []string
	for _, role := range t.Roles {
		one := span(role.Count) + " " + role.Name
		if role.Count.Min == nil && role.Count.Max == nil {
			one = "any number of " + role.Name
		}
		roles = append(roles, one)
	}
	if len(roles) > 0 {
		line += ": " + list(roles, "and")
	}
	return line
}

var merged = map[rules.Merge]string{
	rules.Average: "the average of its players", rules.Least: "the least of its players",
	rules.Greatest: "the greatest of its players", rules.Sum: "the sum of its players",
	rules.Union: "what any of its players has", rules.Intersection: "what all of its players have",
}

func values(r *rules.Rules) (lines []string) {
	attributes, used := map[string]bool{}, rules.Used(r)
	for _, name := range r.Numbers {
		attributes[name] = true
	}
	for _, v := range r.Values {
		line := quoted(v.Name) + ": a " + string(v.Kind)
		if v.Kind == rules.Map {
			line = quoted(v.Name) + ": a map of numbers by name"
		}
		if v.From != v.Name {
			line += ", which clients send as " + quoted(v.From)
		}
		if attributes[v.From] {
			line += "; where a player has none, the attribute of the ticket"
		}
		if v.Party != rules.Each {
			line += "; a party has " + merged[v.Party]
			if v.Once {
				line += ", once for the party and not once for each player"
			}
		}
		switch {
		case v.Missing == rules.UseDefault:
			line += "; without it " + datum(v)
		case v.Missing == rules.Any:
			line += "; conditions do not look at players without it"
		case used[v.Name]:
			line += "; without it a ticket is in no match"
		}
		lines = append(lines, line)
	}
	return lines
}

func datum(v rules.Value) string {
	switch v.Kind {
	case rules.String:
		return quoted(v.Default.String)
	case rules.Set:
		if len(v.Default.Set) == 0 {
			return "an empty set"
		}
		return list(quotedAll(v.Default.Set), "and")
	case rules.Map:
		if len(v.Default.Map) == 0 {
			return "an empty map"
		}
		return fmt.Sprint(v.Default.Map)
	}
	return number(v.Default.Number)
}

func needs(r *rules.Rules) (lines []string) {
	for i, rule := range r.Rules {
		name := rule.Name
		if name == "" {
			name = fmt.Sprintf("rules[%d]", i)
		}
		if rule.Active != nil {
			name += " (" + active(rule.Active, "it holds", "it does not hold") + ")"
		}
		lines = append(lines, condition(name+": ", rule.Need)...)
	}
	return lines
}

func preferences(r *rules.Rules) (lines []string) {
	for _, p := range r.Prefer {
		name := ""
		if p.Name != "" {
			name = p.Name + ": "
		}
		if p.Need != nil {
			lines = append(lines, condition(fmt.Sprintf("%sit costs %s if this does not hold: ", name, number(p.Weight)),
				p.Need)...)
			continue
		}
		per := ""
		if p.Scale != 1 {
			per = " for each " + number(p.Scale)
		}
		what := expression(p.Amount)
		if a, ok := p.Amount.(*rules.Arithmetic); ok && a.Op == '-' && isZero(a.Left) {
			lines = append(lines, fmt.Sprintf("%sgains %s%s of %s", name, number(p.Weight), per, expression(a.Right)))
			continue
		}
		lines = append(lines, fmt.Sprintf("%sit costs %s%s of %s", name, number(p.Weight), per, what))
	}
	return lines
}

func isZero(e rules.Expression) bool {
	l, ok := e.(*rules.Literal)
	return ok && l.Bound.Constant() && !l.Bound.Off && l.Bound.Start == 0
}

func order(r *rules.Rules) (lines []string) {
	anchor := "the anchor of a match is the oldest of its tickets"
	if r.Priority != "" {
		anchor = "the anchor of a match is the ticket with the greatest " + quoted(r.Priority) + ", or else the oldest"
	}
	for _, o := range r.Order {
		what := quoted(o.Value)
		switch {
		case o.Key != "":
			what += " of " + quoted(o.Key)
		case o.KeyOf == rules.Least:
			what += " of the name of which the anchor has the least"
		case o.KeyOf == rules.Greatest:
			what += " of the name of which the anchor has the greatest"
		}
		if o.Near {
			what = "the distance of " + what + " to the anchor's"
		}
		first := "the least first"
		if o.Descending {
			first = "the greatest first"
		}
		lines = append(lines, "by "+what+", "+first)
	}
	if len(lines) > 0 || r.Priority != "" {
		lines = append([]string{anchor}, lines...)
	}
	return lines
}

func patience(p *rules.Patience) []string {
	if p == nil {
		return nil
	}
	return []string{
		"where players come who may be in it, a match must be nearer than the spreads, gaps and odds above say: " +
			"the more of them come, the nearer",
		fmt.Sprintf("a match of equals is worth a wait of %s s, instead of one at the bounds", number(p.Worth)),
		fmt.Sprintf("with at most %s of its bounds, a match is near enough at once", number(p.Enough)),
		fmt.Sprintf("from %s s on a ticket takes any match that the rules allow", number(p.Until)),
	}
}

var firsts = map[rules.First]string{
	rules.FullFirst:    "full matches go before games, and games before other matches",
	rules.GamesFirst:   "games go before new matches",
	rules.MatchesFirst: "new matches go before games",
}

var creates = map[rules.Create]string{
	rules.CreateShort: "a new match that is not full gets a backfill ticket, for the places that are open",
	rules.CreateAll:   "each new match gets a backfill ticket, for places that are open and those of players who leave",
}

func games(r *rules.Rules) (lines []string) {
	b := r.Backfill
	if b.Open == nil && b.Active == nil && b.Create == "" && (b.First == "" || b.First == rules.FullFirst) {
		return nil
	}
	if first, ok := firsts[b.First]; ok {
		lines = append(lines, first)
	}
	if b.Open != nil {
		lines = append(lines, "when somebody joins, at most this many places stay open: "+bound(b.Open))
	}
	if b.Active != nil {
		lines = append(lines, active(b.Active, "a game gets players", "a game gets nobody")+
			", by the age of its backfill ticket")
	}
	if created, ok := creates[b.Create]; ok {
		lines = append(lines, created)
	}
	return lines
}
