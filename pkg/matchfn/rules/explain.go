package rules

import (
	"cmp"
	"fmt"
	"strings"
)

// Section is a part of what is to say.
type Section struct {
	Title string `json:"title"`
	// Lines are facts. Lines that belong to the one before are indented by two spaces more than it.
	Lines []string `json:"lines"`
}

// Explanation says in words what a rule set means.
type Explanation []Section

// Explain explains a rule set that [Check] finds nothing wrong with. Sections without lines are left out.
func Explain(r *Rules) (all Explanation) {
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

// String has an empty line between sections.
func (all Explanation) String() string {
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

func match(r *Rules) (lines []string) {
	for _, t := range r.Teams {
		lines = append(lines, team(t))
	}
	if r.Players.Min != nil || r.Players.Max != nil {
		lines = append(lines, "in all "+players(r.Players))
	}
	if r.RegionValue != "" {
		least := "worst"
		if r.Choose == ByMean {
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
func roles(r *Rules) (lines []string) {
	v := r.ValueOf(r.RoleValue)
	if v == nil || v.Kind != Map {
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

func team(t Team) string {
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

var merged = map[Merge]string{
	Average: "the average of its players", Least: "the least of its players",
	Greatest: "the greatest of its players", Sum: "the sum of its players",
	Union: "what any of its players has", Intersection: "what all of its players have",
}

func values(r *Rules) (lines []string) {
	attributes, used := map[string]bool{}, Used(r)
	for _, name := range r.Numbers {
		attributes[name] = true
	}
	for _, v := range r.Values {
		line := quoted(v.Name) + ": a " + string(v.Kind)
		if v.Kind == Map {
			line = quoted(v.Name) + ": a map of numbers by name"
		}
		if v.From != v.Name {
			line += ", which clients send as " + quoted(v.From)
		}
		if attributes[v.From] {
			line += "; where a player has none, the attribute of the ticket"
		}
		if v.Party != Each {
			line += "; a party has " + merged[v.Party]
			if v.Once {
				line += ", once for the party and not once for each player"
			}
		}
		switch {
		case v.Missing == UseDefault:
			line += "; without it " + datum(v)
		case v.Missing == Any:
			line += "; conditions do not look at players without it"
		case used[v.Name]:
			line += "; without it a ticket is in no match"
		}
		lines = append(lines, line)
	}
	return lines
}

func datum(v Value) string {
	switch v.Kind {
	case String:
		return quoted(v.Default.String)
	case Set:
		if len(v.Default.Set) == 0 {
			return "an empty set"
		}
		return list(quotedAll(v.Default.Set), "and")
	case Map:
		if len(v.Default.Map) == 0 {
			return "an empty map"
		}
		return fmt.Sprint(v.Default.Map)
	}
	return decimal(v.Default.Number)
}

func needs(r *Rules) (lines []string) {
	for i, rule := range r.Rules {
		name := cmp.Or(rule.Name, fmt.Sprintf("rules[%d]", i))
		if rule.Active != nil {
			name += " (" + active(rule.Active, "it holds", "it does not hold") + ")"
		}
		lines = append(lines, explained(name+": ", rule.Need)...)
	}
	return lines
}

// explained explains a condition behind the beginning of its line.
func explained(begin string, need Condition) []string {
	lines := []string{begin + need.words()}
	for _, c := range need.parts().conditions {
		for _, l := range explained("", c) {
			lines = append(lines, "  "+l)
		}
	}
	return lines
}

func preferences(r *Rules) (lines []string) {
	for _, p := range r.Prefer {
		name := ""
		if p.Name != "" {
			name = p.Name + ": "
		}
		if p.Need != nil {
			lines = append(lines, explained(fmt.Sprintf("%sit costs %s if this does not hold: ", name, decimal(p.Weight)),
				p.Need)...)
			continue
		}
		per := ""
		if p.Scale != 1 {
			per = " for each " + decimal(p.Scale)
		}
		what := p.Amount.words()
		if a, ok := p.Amount.(*Arithmetic); ok && a.Op == '-' && isZero(a.Left) {
			lines = append(lines, fmt.Sprintf("%sgains %s%s of %s", name, decimal(p.Weight), per, a.Right.words()))
			continue
		}
		lines = append(lines, fmt.Sprintf("%sit costs %s%s of %s", name, decimal(p.Weight), per, what))
	}
	return lines
}

func isZero(e Expression) bool {
	l, ok := e.(*Literal)
	return ok && l.Bound.Constant() && !l.Bound.Off && l.Bound.Start == 0
}

func order(r *Rules) (lines []string) {
	anchor := "the anchor of a match is the oldest of its tickets"
	if r.Priority != "" {
		anchor = "the anchor of a match is the ticket with the greatest " + quoted(r.Priority) + ", or else the oldest"
	}
	for _, o := range r.Order {
		what := quoted(o.Value)
		switch {
		case o.Key != "":
			what += " of " + quoted(o.Key)
		case o.KeyOf == Least:
			what += " of the name of which the anchor has the least"
		case o.KeyOf == Greatest:
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

func patience(p *Patience) []string {
	if p == nil {
		return nil
	}
	return []string{
		"where players come who may be in it, a match must be nearer than the spreads, gaps and odds above say: " +
			"the more of them come, the nearer",
		fmt.Sprintf("a match of equals is worth a wait of %s s, instead of one at the bounds", decimal(p.Worth)),
		fmt.Sprintf("with at most %s of its bounds, a match is near enough at once", decimal(p.Enough)),
		fmt.Sprintf("from %s s on a ticket takes any match that the rules allow", decimal(p.Until)),
	}
}

var firsts = map[First]string{
	FullFirst:    "full matches go before games, and games before other matches",
	GamesFirst:   "games go before new matches",
	MatchesFirst: "new matches go before games",
}

var creates = map[Create]string{
	CreateShort: "a new match that is not full gets a backfill ticket, for the places that are open",
	CreateAll:   "each new match gets a backfill ticket, for places that are open and those of players who leave",
}

func games(r *Rules) (lines []string) {
	b := r.Backfill
	if b.Open == nil && b.Active == nil && b.Create == "" && (b.First == "" || b.First == FullFirst) {
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
