// This match function makes matches of several teams, of players with similar skill. The allowed difference grows while
// they wait.
package main

import (
	"strconv"

	"matchmaker.dev/pkg/matchfn"
)

// The function, and the attributes and properties that it reads. It gets no others.
var function = matchfn.Register(match, matchfn.Attributes("skill"), matchfn.Properties())

// main is not run: the service calls the function.
func main() {}

// match is one run: it reads all waiting tickets and proposes matches. Tickets are numbers from 0; skill[7] is the skill
// of ticket 7.
func match(r *matchfn.Run) error {
	rules, err := parse(r.Settings())
	if err != nil {
		return err
	}
	skill, wait := r.Attribute("skill"), r.Wait()
	order := matchfn.SortBy(skill)
	n := rules.teams * rules.size
	for i := 0; i+n <= len(order); {
		group := order[i : i+n] // n tickets with neighbouring skills
		score := rules.allowed(group, wait) - (skill[group[n-1]] - skill[group[0]])
		if score >= 0 { // false for tickets without a skill: they have NaN and come last
			rules.propose(r, score, group)
			i += n // all of them are matched
		} else {
			i++
		}
	}
	return nil
}

// allowed is the allowed difference of a group: that of the ticket that has waited least, so that all tickets allow it.
func (u rules) allowed(group []uint32, wait []float64) float64 {
	least := wait[group[0]]
	for _, ticket := range group {
		least = min(least, wait[ticket])
	}
	return u.spread + u.widen*least
}

// propose proposes a match of a group, which is sorted by skill. It gives one ticket to each team, first to last, then
// one to each, last to first, and so on, so that the teams are similar. Each player gets the number of the team. Of
// proposals with common tickets, the one with the highest score becomes a match.
func (u rules) propose(r *matchfn.Run, score float64, group []uint32) {
	teams := make([][]uint32, u.teams)
	for i, ticket := range group {
		round, at := i/u.teams, i%u.teams
		if round%2 == 1 {
			at = u.teams - 1 - at
		}
		teams[at] = append(teams[at], ticket)
	}
	proposal := r.Propose(score)
	for number, team := range teams {
		proposal.Team("", team...)
		properties := strconv.AppendInt([]byte(`{"team":`), int64(number), 10)
		properties = append(properties, '}')
		for _, ticket := range team {
			proposal.TicketProperties(ticket, properties)
		}
	}
}
