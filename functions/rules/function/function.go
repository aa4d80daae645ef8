// Package function is the match function that does what a rule set says. The README above it describes its settings.
package function

import (
	"math"
	"strconv"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/origin"
)

// effort is how many steps of work the search does for each millisecond of the run's budget. Time stands still in a
// function. As WebAssembly a step takes up to a microsecond: the search takes about half of the budget.
const effort = 600

// Match proposes the matches of a run.
func Match(r *matchfn.Run) error {
	rules, err := origin.Read(r.Config())
	if err != nil {
		return err
	}
	names := names{}
	for _, m := range search.Search(rules, newSource(r, rules), int(r.Budget().Milliseconds())*effort) {
		propose(r, rules, &m, names)
	}
	return nil
}

// names are the names of teams, by shape and copy.
type names map[[2]int]string

func (n names) of(shape *rules.Team, number, copied int) string {
	if most, _ := shape.Copies.Max.At(0); most == 1 {
		return shape.Name
	}
	key := [2]int{number, copied}
	name, known := n[key]
	if !known {
		name = shape.Name + "_" + strconv.Itoa(copied)
		n[key] = name
	}
	return name
}

// propose proposes a match. The longest wait has the best score, then the least cost.
func propose(r *matchfn.Run, rules *rules.Rules, m *search.Match, names names) {
	score := m.Age
	if m.Cost > 0 {
		score -= m.Cost / (1 + m.Cost)
	}
	if math.IsInf(score, 0) || score != score {
		score = 0
	}
	p := r.Propose(score)
	for i, team := range m.Teams {
		copied := 1
		for _, before := range m.Teams[:i] {
			if before.Shape == team.Shape {
				copied++
			}
		}
		p.Team(names.of(&rules.Teams[team.Shape], team.Shape, copied), team.Tickets...)
	}
	if m.Region != "" {
		p.Region(m.Region)
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
		text = quote(text, name)
	}
	return append(text, "]}"...)
}

// quote appends a JSON string.
func quote(text []byte, s string) []byte {
	text = append(text, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			text = append(text, '\\', c)
		case c < ' ':
			text = append(text, `\u00`...)
			text = append(text, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			text = append(text, c)
		}
	}
	return append(text, '"')
}
