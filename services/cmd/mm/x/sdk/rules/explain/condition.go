package explain

import (
	"strings"

	"matchmaker.dev/pkg/matchfn/rules"
)

// condition explains a condition behind the beginning of its line.
func condition(begin string, need rules.Condition) []string {
	several := func(what string, of []rules.Condition) []string {
		lines := []string{begin + what}
		for _, c := range of {
			for _, l := range condition("", c) {
				lines = append(lines, "  "+l)
			}
		}
		return lines
	}
	switch c := need.(type) {
	case *rules.All:
		return several("all of these hold:", c.Of)
	case *rules.AnyOf:
		return several("at least one of these holds:", c.Of)
	case *rules.One:
		return several("exactly one of these holds:", c.Of)
	case *rules.Not:
		return several("this does not hold:", []rules.Condition{c.Of})
	}
	return []string{begin + single(need)}
}

// single is a condition without others inside.
func single(need rules.Condition) string {
	switch c := need.(type) {
	case *rules.Same:
		return same(c)
	case *rules.Spread:
		if c.Scope.Of == rules.BesideAnchor {
			return quoted(c.Value) + " of each player differs from the anchor's by at most " + bound(c.Max)
		}
		return quoted(c.Value) + " of any two players" + of(c.Scope) + " differs by at most " + bound(c.Max)
	case *rules.Share:
		if c.Scope.Of == rules.BesideAnchor {
			return quoted(c.Value) + " of each ticket has at least " + bound(c.Min) + " in common with the anchor's"
		}
		return quoted(c.Value) + " of all players" + of(c.Scope) + " has at least " + bound(c.Min) + " in common"
	case *rules.Overlap:
		return overlap(c)
	case *rules.Holders:
		return span(c.Count) + " of the players" + of(c.Scope) + " have " + quoted(c.Element) + " in " + quoted(c.Value)
	case *rules.Total:
		return "the sum of " + quoted(c.Value) + " over the players" + of(c.Scope) + " is " + span(c.Sum)
	case *rules.Gap:
		teams := ""
		if c.Teams != nil {
			teams = " " + list(quotedAll(c.Teams), "and")
		}
		return statistic(c.Stat, c.Value) + " of any two teams" + teams + " differs by at most " + bound(c.Max)
	case *rules.Compare:
		return expression(c.Left) + " is " + operators[c.Op] + " " + expression(c.Right)
	case *rules.Latency:
		return latency(c)
	case *rules.Avoid:
		return "no player" + of(c.Scope) + " has the " + quoted(c.ID) + " of another one in " + quoted(c.Value)
	case *rules.Premade:
		return "every team has a party of at least " + bound(c.Players) + " players, or none has"
	}
	return ""
}

func same(c *rules.Same) string {
	switch {
	case c.Different:
		return "no two players" + of(c.Scope) + " have the same " + quoted(c.Value)
	case c.Scope.Of == rules.BesideAnchor:
		return "each player has the same " + quoted(c.Value) + " as the anchor"
	}
	return "all players" + of(c.Scope) + " have the same " + quoted(c.Value)
}

func overlap(c *rules.Overlap) string {
	with := list(quotedAll(c.With), "and")
	if c.Other != "" {
		with = "what any player" + of(c.Scope) + " has in " + quoted(c.Other)
		if c.Merge == rules.Intersection {
			with = "what all players" + of(c.Scope) + " have in " + quoted(c.Other)
		}
		return quoted(c.Value) + " of each of them has " + span(c.Count) + " in common with " + with
	}
	return quoted(c.Value) + " of each player" + of(c.Scope) + " has " + span(c.Count) + " in common with " + with
}

func latency(c *rules.Latency) string {
	var parts []string
	if c.Max != nil {
		parts = append(parts, "at most "+bound(c.Max))
	}
	if c.Over != nil {
		parts = append(parts, "at most "+bound(c.Over)+" more than to the player's best region")
	}
	if c.Apart != nil {
		from := "the least of all players"
		if c.From == rules.Average {
			from = "the mean of all players"
		}
		parts = append(parts, "at most "+bound(c.Apart)+" more than "+from)
	}
	return "each player's " + quoted(c.Value) + " to the region is " + list(parts, "and")
}

// of says over which players a condition is looked at.
func of(s rules.Scope) string {
	switch s.Of {
	case rules.InTeam:
		return " of a team"
	case rules.InTeams:
		return " of a team " + list(quotedAll(s.Teams), "or")
	}
	return " of the match"
}

// ofEach is of where there is a number for each team.
func ofEach(s rules.Scope) string { return strings.Replace(of(s), " of a team", " of each team", 1) }

var operators = map[rules.Operator]string{
	rules.Less: "less than", rules.LessEqual: "at most", rules.Equal: "the same as", rules.NotEqual: "another one than",
	rules.GreaterEqual: "at least", rules.Greater: "greater than",
}

var statistics = map[rules.Stat]string{
	rules.StatAverage: "the average", rules.StatSum: "the sum", rules.StatMin: "the least", rules.StatMax: "the greatest",
	rules.StatMedian: "the median", rules.StatDev: "the standard deviation", rules.StatCount: "the number",
	rules.StatEach: "each",
}

func statistic(stat rules.Stat, value string) string {
	switch {
	case stat == rules.StatTickets:
		return "the number of tickets"
	case stat == rules.StatParty:
		return "the number of players of the largest ticket"
	case stat == rules.StatCount && value == "":
		return "the number of players"
	case stat == rules.StatCount:
		return "the number of players with " + quoted(value)
	}
	return statistics[stat] + " " + quoted(value)
}

func expression(e rules.Expression) string {
	switch e := e.(type) {
	case *rules.Literal:
		return bound(e.Bound)
	case *rules.StatOf:
		return statistic(e.Stat, e.Value) + ofEach(e.Scope)
	case *rules.Reduce:
		return statistics[e.Stat] + " of [" + expression(e.Of) + "]"
	case *rules.Arithmetic:
		words := map[rune]string{'+': "plus", '-': "minus", '*': "times", '/': "divided by"}
		return "(" + expression(e.Left) + " " + words[e.Op] + " " + expression(e.Right) + ")"
	case *rules.Abs:
		return "the distance to 0 of " + expression(e.Of)
	case *rules.LatencyOf:
		return "the players' " + quoted(e.Value) + " to the region"
	case *rules.Reluctance:
		return "how reluctantly the players" + ofEach(e.Scope) + " take their roles"
	case *rules.OddsOf:
		return odds(e)
	}
	return ""
}

func odds(e *rules.OddsOf) string {
	what := "the favoured team's probability of winning"
	if e.Odds == rules.Quality {
		what = "the quality of the match"
	}
	by := quoted(e.Value)
	if e.Deviation != "" {
		by += " and its uncertainty " + quoted(e.Deviation)
	}
	return what + " by " + by + " (a player's performance varies by " + number(e.Beta) + ")"
}
