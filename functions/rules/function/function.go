// Package function is the match function that does what a rule set says. The README above it describes its settings.
package function

import (
	"errors"
	"math"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/origin"
)

// effort is how many steps of work the search does for each millisecond of the run's budget. Time stands still in a
// function. As WebAssembly a step takes up to a microsecond: the search takes about half of the budget.
const effort = 600

// explainShare is which part of the work is for explanations, if somebody asks: one of so many.
const explainShare = 4

// Match proposes the matches of a run.
func Match(r *matchfn.Run) error {
	rules, err := origin.Read(r.Config())
	if err != nil {
		return errors.New("settings: " + err.Error())
	}
	source := newSource(r, rules)
	games, work := newGames(r, rules, source), int(r.Budget().Milliseconds())*effort
	kept := 0
	if len(r.Asked()) > 0 {
		kept = work / explainShare
	}
	found := search.Search(rules, source, &games.Games, work-kept)
	p := proposer{run: r, rules: rules, source: source, games: games, names: names{},
		measures: search.Measures(rules)}
	for i := range found {
		p.propose(&found[i])
	}
	p.log()
	if kept > 0 {
		explain(r, search.Explain(rules, source, &games.Games, found, r.Asked(), kept))
	}
	return nil
}

// proposer proposes what was found.
type proposer struct {
	run    *matchfn.Run
	rules  *rules.Rules
	source source
	games  *games
	names  names
	// measures are the names of what is measured of each match.
	measures []string
	teller   *search.Teller // nil until it is needed
	// large is how many backfill tickets were not created or filled, as they would say too much of their players.
	large int
	// written is how many bytes backfill tickets got. later is how many matches wait, as these are enough.
	written, later int
}

// names are the names of teams, by shape and copy.
type names map[[2]int]string

// of returns the name of a team of a match.
func (n names) of(rules *rules.Rules, m *search.Match, team int) string {
	shape, copied := m.Teams[team].Shape, 1
	for _, before := range m.Teams[:team] {
		if before.Shape == shape {
			copied++
		}
	}
	key := [2]int{shape, copied}
	name, known := n[key]
	if !known {
		name = rules.Teams[shape].Called(copied)
		n[key] = name
	}
	return name
}

// propose proposes a match, or tickets for a running game. The longest wait has the best score, then the least cost.
func (o *proposer) propose(m *search.Match) {
	score := m.Age
	if m.Cost > 0 {
		score -= m.Cost / (1 + m.Cost)
	}
	if math.IsInf(score, 0) || score != score {
		score = 0
	}
	var in *seats
	if o.describes(m) {
		if o.written > maxAllSeats {
			o.later++
			return
		}
		if in = o.seats(m); in == nil {
			if o.large++; m.Game >= 0 {
				return
			}
		}
	}
	p := o.run.Propose(score)
	for i, team := range m.Teams {
		if m.Game < 0 || len(team.Tickets) > 0 {
			p.Team(o.names.of(o.rules, m, i), team.Tickets...)
		}
	}
	for i, value := range m.Measures {
		if value >= 0 {
			p.Measure(o.measures[i], value)
		}
	}
	if m.Game >= 0 {
		o.join(p, m, in)
	} else if m.Region != "" {
		p.Region(m.Region)
	}
	if m.Game < 0 && in != nil {
		o.create(p, m, in)
	}
	for _, team := range m.Teams {
		at := 0
		for i, t := range team.Tickets {
			if team.Roles != nil {
				p.TicketProperties(t, roles(team.Roles[at:at+team.Players[i]]))
				at += team.Players[i]
			}
		}
	}
}

// roles is the roles of a ticket's players, in their order.
func roles(names []string) []byte {
	text := []byte(`{"roles":[`)
	for i, name := range names {
		if i > 0 {
			text = append(text, ',')
		}
		text = search.Quote(text, name)
	}
	return append(text, "]}"...)
}
