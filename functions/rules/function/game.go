package function

import (
	"math"
	"slices"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

const (
	// region is the property of a backfill ticket that says where its game runs.
	region = "region"
	// maxProperties is the most bytes of match properties.
	maxProperties = 64 << 10
)

// roster is the players in running games, each a ticket of one player. What the backfill ticket says goes for all of
// them, as what a ticket says goes for its players.
type roster struct {
	source
	members matchfn.RunRoster
	game    []uint32 // of each member
}

// newGames returns the running games, or nil if there are none whose server says who is in them. The log says how many
// cannot be filled, and why.
func newGames(r *matchfn.Run, rules *rules.Rules, s source) *search.Games {
	if r.Backfills() == 0 {
		return nil
	}
	from := roster{source: s, members: r.BackfillPlayers()}
	games := &search.Games{Turn: r.Rand().Uint64()}
	created, open, places := r.BackfillCreated(), r.BackfillAttribute(waiting.Open), r.BackfillProperty(region)
	known := teams(rules)
	var unknown, nowhere, strange int
	for i := range uint32(r.Backfills()) {
		g := search.Running{
			Age: max(0, float64(r.Now().UnixMilli())-created[i]) / 1000, Room: -1, Barred: from.members.Barred(i),
		}
		if open[i] == open[i] {
			g.Room = int(max(0, min(open[i], math.MaxInt32)))
		}
		if text, ok := places.Of(i); ok {
			if n, err := document.Parse(text); err == nil && n.Kind == document.String {
				g.Region = n.Text
			}
		}
		first, end := from.members.Of(i)
		for p := first; p < end; p++ {
			m := search.Member{Team: from.members.Team(p), Role: from.members.Role(p)}
			g.Members, from.game = append(g.Members, m), append(from.game, i)
		}
		switch {
		case first == end:
			unknown++
		case g.Region == "" && rules.RegionValue != "":
			nowhere++
		case slices.ContainsFunc(g.Members, func(m search.Member) bool { return m.Team != "" && !known[m.Team] }):
			strange++
		}
		games.Running = append(games.Running, g)
	}
	if unknown+nowhere+strange > 0 {
		r.Log("of", r.Backfills(), "running games these get nobody:", unknown, "do not say who is in them,", nowhere,
			"have no region,", strange, "have a player in a team that the rules do not have")
	}
	games.Roster = from
	return games
}

// teams are the names of all teams that a match may have.
func teams(r *rules.Rules) map[string]bool {
	names := map[string]bool{}
	for i := range r.Teams {
		_, most, _ := r.Teams[i].Copies.Max.Over(0, math.Inf(1))
		for number := 1; number <= int(min(most, rules.MaxTeams)); number++ {
			names[r.Teams[i].Called(number)] = true
		}
	}
	return names
}

// Ages has an age for each member, which says nothing.
func (s roster) Ages() []float64                         { return make([]float64, len(s.game)) }
func (s roster) Players(int) ([]byte, bool)              { return nil, false }
func (s roster) PlayersOf(member int) (from, end uint32) { return uint32(member), uint32(member) + 1 }
func (s roster) PlayerValue(string) search.Values        { return nil }

func (s roster) PlayerID(member uint32) string { return s.members.ID(member) }

func (s roster) PlayerNumber(name string) []float64 {
	if !slices.Contains(s.attributes, name) {
		return nil
	}
	return s.members.Attribute(name)
}

// Number is an attribute of the backfill tickets, if the settings name it.
func (s roster) Number(name string) []float64 {
	numbers := make([]float64, len(s.game))
	values := s.run.BackfillAttribute
	if !slices.Contains(s.numbers, name) {
		values = func(string) []float64 { return nil }
	}
	of := values(name)
	for member, game := range s.game {
		if numbers[member] = math.NaN(); of != nil {
			numbers[member] = of[game]
		}
	}
	return numbers
}

func (s roster) TicketValue(name string) search.Values {
	if !slices.Contains(s.properties, name) || name == players {
		return nil
	}
	of := s.run.BackfillProperty(name).Of
	return func(member uint32) ([]byte, bool) { return of(s.game[member]) }
}

// join gives the tickets of a match to a running game. The match properties tell its server who they are, as it may say
// itself who is in its game.
func join(r *matchfn.Run, p matchfn.Proposal, rules *rules.Rules, m *search.Match, names names) {
	text, joining := []byte(`{"joining":[`), 0
	party := r.Players()
	for i, team := range m.Teams {
		at := 0
		for j, t := range team.Tickets {
			first, end := party.Of(t)
			for k := range team.Players[j] {
				if joining++; joining > 1 {
					text = append(text, ',')
				}
				text = quote(append(text, `{"team":`...), names.of(rules, m, i))
				if team.Roles != nil {
					text = quote(append(text, `,"role":`...), team.Roles[at])
				}
				if int(end-first) == team.Players[j] {
					if id := party.ID(first + uint32(k)); id != "" { // only if the rules name the value id
						text = quote(append(text, `,"id":`...), id)
					}
				}
				text = append(text, '}')
				at++
			}
		}
	}
	if text = append(text, "]}"...); len(text) <= maxProperties {
		p.MatchProperties(text)
	}
	// The backfill ticket stays as it is: so no run sees the game before its server approves, with those who joined.
	p.UpdateBackfill(uint32(m.Game))
}
