// Package function is the match function that does what a rule set says. The README above it describes its settings.
package function

import (
	"bytes"
	"errors"
	"math"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// effort is how many steps of work the search does for each millisecond of the run's budget. Time stands still in a
// function. As WebAssembly a step takes up to a microsecond: the search takes about half of the budget.
const effort = 400

// explainShare is which part of the work is for explanations, if asked for: one of so many.
const explainShare = 4

// Begin returns a matcher without tickets.
func Begin(*matchfn.Settings) (matchfn.Matcher, error) { return &matcher{}, nil }

// Match proposes the matches of a run that keeps nothing.
func Match(r *matchfn.Run) error { return new(matcher).Match(r) }

// matcher proposes matches of the tickets of one config, which it keeps.
type matcher struct {
	rules *rules.Rules
	kept  *search.Session // nil before the first run
}

// Match proposes the matches of a run.
func (m *matcher) Match(r *matchfn.Run) error {
	if m.kept == nil {
		rules, err := read(r.Config())
		if err != nil {
			return err
		}
		m.rules, m.kept = rules, search.NewSession(rules)
	}
	source := source{run: r, rules: m.rules, party: r.Players(), players: r.Property(players)}
	m.kept.Take(source, r.Created(), r.First(), r.Gone(), float64(r.Now().UnixMilli()), r.Keeps())
	games, work := newGames(r, m.rules, source, m.kept), steady(r.Budget().Milliseconds())*effort
	explained := 0
	if len(r.Asked()) > 0 {
		explained = work / explainShare
	}
	found := m.kept.Search(&games.Games, work-explained)
	p := proposer{run: r, rules: m.rules, kept: m.kept, games: games,
		measures: search.Measures(m.rules), sharing: search.Common(m.rules)}
	p.mostShared = min(maxAllShared, leastShared+sharedOfTicket*m.kept.Waiting())
	for i := range found {
		if p.propose(&found[i]) {
			m.kept.Lose(&found[i])
		}
	}
	p.log()
	if explained > 0 {
		explain(r, search.Explain(m.rules, source, &games.Games, found, r.Asked(), explained))
	}
	return nil
}

// read reads the rule set in settings. Errors have no line and column where the settings are one line, as services keep
// them: the lines of the studio's file are not known.
func read(settings []byte) (*rules.Rules, error) {
	n, err := document.Parse(settings)
	if err != nil {
		return nil, errors.New("settings: " + err.Error())
	}
	if !bytes.ContainsRune(settings, '\n') {
		forgetLines(n)
	}
	r, err := rules.Read(n)
	if err != nil {
		return nil, errors.New("settings: " + err.Error())
	}
	return r, nil
}

// forgetLines takes the line and the column from all values. Their paths stay.
func forgetLines(n *document.Node) {
	n.Line, n.Column = 0, 0
	for _, m := range n.Members {
		forgetLines(m.Node)
	}
	for _, e := range n.Elements {
		forgetLines(e)
	}
}

// steady is a budget of which a run may use all. It is the same for runs that began a little sooner or later before
// their deadline, so that they go equally far: a power of two, or one and a half of it.
func steady(milliseconds int64) int {
	budget := 1
	for int64(2*budget) <= milliseconds && budget < 1<<20 {
		budget *= 2
	}
	if half := budget + budget/2; int64(half) <= milliseconds {
		return half
	}
	return budget
}

// proposer proposes what was found.
type proposer struct {
	run   *matchfn.Run
	rules *rules.Rules
	kept  *search.Session
	games *games
	// measures are the names of what is measured of each match.
	measures  []string
	describer *search.Describer // nil until it is needed
	// large is how many backfill tickets were not created or filled, as they would say too much of their players.
	large int
	// written is how many bytes backfill tickets got. later is how many matches wait, as these are enough.
	written, later int
	// untold is how many matches wait, as enough is said of what players have in common.
	untold int
	// sharing are the names of what the players of a match may have in common, told the bytes that the run says of it,
	// and mostShared how many it may say.
	sharing          []string
	told, mostShared int
	// numbers, text and common are used again and again.
	numbers      []uint32
	text, common []byte
}

// team returns the name of a team of a match.
func (o *proposer) team(m *search.Match, team int) string {
	shape, number := m.Teams[team].Shape, 1
	for _, before := range m.Teams[:team] {
		if before.Shape == shape {
			number++
		}
	}
	return o.rules.Teams[shape].Called(number)
}

// propose proposes a match, or tickets for a running game. The longest wait has the best score, then the least cost. It
// returns false for one that waits.
func (o *proposer) propose(m *search.Match) bool {
	score := m.Age
	if m.Cost > 0 {
		score -= m.Cost / (1 + m.Cost)
	}
	if math.IsInf(score, 0) || score != score {
		score = 0
	}
	shared := o.shared(m)
	if o.told+len(shared) > o.mostShared {
		o.untold++
		return false
	}
	var in *seats
	if o.describes(m) {
		if o.written > maxAllSeats {
			o.later++
			return false
		}
		if in = o.seats(m); in == nil {
			if o.large++; m.Game >= 0 {
				return false
			}
		}
	}
	o.told += len(shared)
	p := o.run.Propose(score)
	for i, team := range m.Teams {
		if m.Game < 0 || len(team.Tickets) > 0 {
			o.numbers = o.numbers[:0]
			for _, t := range team.Tickets {
				o.numbers = append(o.numbers, o.kept.Number(t))
			}
			p.Team(o.team(m, i), o.numbers...)
		}
	}
	for i, value := range m.Measures {
		if value >= 0 {
			p.Measure(o.measures[i], value)
		}
	}
	if m.Game >= 0 {
		o.join(p, m, in, shared)
	} else if m.Region != "" {
		p.Region(m.Region)
	}
	if m.Game < 0 && in != nil {
		o.create(p, m, in, shared)
	} else if m.Game < 0 && len(shared) > 0 {
		p.MatchProperties(append(shared, '}'))
	}
	for _, team := range m.Teams {
		at := 0
		for i, t := range team.Tickets {
			if team.Roles != nil {
				o.text = appendRoles(o.text[:0], team.Roles[at:at+team.Players[i]])
				if len(o.text) <= maxProperties {
					p.TicketProperties(o.kept.Number(t), o.text)
				}
				at += team.Players[i]
			}
		}
	}
	return true
}

// appendRoles appends the roles of a ticket's players, in their order.
func appendRoles(text []byte, names []string) []byte {
	text = append(text, `{"roles":[`...)
	for i, name := range names {
		if i > 0 {
			text = append(text, ',')
		}
		text = document.Quote(text, name)
	}
	return append(text, "]}"...)
}
