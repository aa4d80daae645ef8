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

// games are the running games.
type games struct {
	search.Games
	seated []seated // of each game
}

// seated is what the property players of a backfill ticket says of the players in its game.
type seated struct {
	seats []search.Seat
	// kept is set if the property goes on to say it: it has to name the players that join.
	kept bool
	// version is the record version of the backfill ticket, open its attribute.
	version int64
	open    float64
}

// roster is the players in running games, each a ticket of one player. What the backfill ticket says goes for all of
// them, as what a ticket says goes for its players.
type roster struct {
	source
	members matchfn.RunRoster
	game    []uint32 // of each member
	player  []int    // his number among the players that servers named, -1 for none
	id      []string
	told    [][]byte // what the property players says of him, as the list of a ticket; nil for nothing
}

// newGames returns the running games. The log says how many cannot be filled, and why, when that changes.
func newGames(r *matchfn.Run, rules *rules.Rules, s source, kept *search.Session) *games {
	if r.Backfills() == 0 {
		return &games{}
	}
	from := roster{source: s, members: r.BackfillPlayers()}
	all := &games{Games: search.Games{Turn: r.Rand().Uint64()}}
	created, versions := r.BackfillCreated(), r.BackfillVersion()
	open, places, told := r.BackfillAttribute(waiting.Open), r.BackfillProperty(region), r.BackfillProperty(players)
	known, read := teams(rules), readable(told, r.Backfills(), int(all.Turn%uint64(r.Backfills())))
	var lack lacks
	for i := range uint32(r.Backfills()) {
		g := search.Running{
			Age: max(0, float64(r.Now().UnixMilli())-created[i]) / 1000, Room: -1,
		}
		for _, number := range from.members.Barred(i) {
			if t, ok := kept.Ticket(number); ok {
				g.Barred = append(g.Barred, t)
			}
		}
		if open[i] == open[i] {
			g.Room = int(max(0, min(open[i], math.MaxInt32)))
		}
		if text, ok := places.Of(i); ok {
			if n, err := document.Parse(text); err == nil && n.Kind == document.String && rules.MayBeIn(n.Text) {
				g.Region = n.Text
			}
		}
		in := seated{version: versions[i], open: open[i]}
		if read == nil || read[i] {
			text, _ := told.Of(i)
			g.Members = from.add(i, text, &in)
		}
		switch {
		case read != nil && !read[i]: // in another run
		case len(g.Members) == 0:
			lack.unknown++
		case g.Region == "" && rules.RegionValue != "":
			lack.nowhere++
		case slices.ContainsFunc(g.Members, func(m search.Member) bool { return m.Team != "" && !known[m.Team] }):
			lack.strange++
		}
		all.Running, all.seated = append(all.Running, g), append(all.seated, in)
	}
	if lack.news(r.Config()) {
		r.Log("of", r.Backfills(), "running games these get no players:", lack.unknown, "do not name their players,",
			lack.nowhere, "have no region,", lack.strange, "have a player in a team that the rules do not have")
	}
	from.bar(all, kept)
	all.Roster = from
	return all
}

// readable returns of which games the property is read, beginning with one of them; nil for all.
func readable(told matchfn.Property, games, first int) (read []bool) {
	bytes := 0
	for i := range games {
		game := (first + i) % games
		text, _ := told.Of(uint32(game))
		if bytes += len(text); bytes > maxRead && read == nil {
			read = make([]bool, games)
			for j := range i {
				read[(first+j)%games] = true
			}
		}
	}
	return read
}

// add adds the players in a game. The players count that its server named, and the ones that were sent there since it
// said so. If it never named any, those in the property count.
func (s *roster) add(game uint32, text []byte, in *seated) (members []search.Member) {
	seats, good := search.ReadSeats(text)
	first, end := s.members.Of(game)
	if first == end {
		if in.kept = good && len(seats) > 0; in.kept {
			in.seats = seats
		}
		for i := range in.seats {
			members = append(members, s.seat(game, &in.seats[i]))
		}
		return members
	}
	in.kept = good && s.members.ID(first) != "" &&
		!slices.ContainsFunc(seats, func(one search.Seat) bool { return one.ID == "" })
	known := map[string]int{}
	if in.kept {
		for i := range seats {
			known[seats[i].ID] = i
		}
	}
	for p := first; p < end; p++ {
		m, id := search.Member{Team: s.members.Team(p), Role: s.members.Role(p)}, s.members.ID(p)
		var told []byte
		if at, ok := known[id]; ok {
			delete(known, id)
			one := &seats[at]
			if in.seats, told = append(in.seats, *one), listOf(one); m.Team == "" && m.Role == "" {
				m.Team, m.Role = one.Team, one.Role
			}
		}
		s.game, s.player = append(s.game, game), append(s.player, int(p))
		s.id, s.told = append(s.id, id), append(s.told, told)
		members = append(members, m)
	}
	for i := range seats {
		if at, ok := known[seats[i].ID]; ok && at == i && seats[i].Version == in.version {
			in.seats, members = append(in.seats, seats[i]), append(members, s.seat(game, &seats[i]))
		}
	}
	return members
}

// seat adds a player whom only the property names.
func (s *roster) seat(game uint32, one *search.Seat) search.Member {
	s.game, s.player, s.id = append(s.game, game), append(s.player, -1), append(s.id, one.ID)
	s.told = append(s.told, listOf(one))
	return search.Member{Team: one.Team, Role: one.Role}
}

// listOf is what is said of a player as the list of a ticket for him alone.
func listOf(one *search.Seat) []byte {
	if one.Values == nil {
		return []byte("[{}]")
	}
	return append(append([]byte{'['}, one.Values...), ']')
}

// bar finds the tickets with a player whom only the property names. The request bars all others.
func (s *roster) bar(all *games, kept *search.Session) {
	in := map[string][]uint32{}
	for member, player := range s.player {
		if player < 0 && s.id[member] != "" {
			in[s.id[member]] = append(in[s.id[member]], s.game[member])
		}
	}
	if len(in) == 0 {
		return
	}
	kept.EachID(func(t uint32, id string) {
		for _, game := range in[id] {
			all.Running[game].Barred = append(all.Running[game].Barred, t)
		}
	})
	for i := range all.Running {
		slices.Sort(all.Running[i].Barred)
	}
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
func (s roster) PlayersOf(member int) (from, end uint32) { return uint32(member), uint32(member) + 1 }
func (s roster) Players(member int) ([]byte, bool)       { return s.told[member], s.told[member] != nil }

// PlayerIDs are the ids of members.
func (s roster) PlayerIDs() search.Values {
	return func(member uint32) ([]byte, bool) { return []byte(s.id[member]), s.id[member] != "" }
}

func (s roster) PlayerNumber(name string) []float64 {
	of, numbers := s.members.Attribute(name), make([]float64, len(s.game))
	for member, player := range s.player {
		if numbers[member] = math.NaN(); player >= 0 {
			numbers[member] = of[player]
		}
	}
	return numbers
}

// Number is an attribute of the backfill tickets: one of the rules' numbers. A player that only the property names has
// none: it says all of them, and the attribute may be a mean.
func (s roster) Number(name string) []float64 {
	numbers := make([]float64, len(s.game))
	of := s.run.BackfillAttribute(name)
	for member, game := range s.game {
		if numbers[member] = math.NaN(); s.player[member] >= 0 {
			numbers[member] = of[game]
		}
	}
	return numbers
}

// PlayerValue is a property of the backfill tickets. What a server says of its game, such as the map that it took, goes
// before what its players said.
func (s roster) PlayerValue(name string) search.Values {
	if name == players {
		return nil
	}
	of := valuesOf(s.run.BackfillProperty(name))
	if of == nil {
		return nil
	}
	return func(member uint32) ([]byte, bool) { return of(s.game[member]) }
}

// TicketValue is nothing: see PlayerValue.
func (s roster) TicketValue(string) search.Values { return nil }

// join gives the tickets of a match to a running game. The match properties name the players to its server, which may
// say itself which players are in its game.
func (o *proposer) join(p matchfn.Proposal, m *search.Match, in *seats, shared []byte) {
	text, joining := append(begin(shared), `"joining":[`...), 0
	for i, team := range m.Teams {
		at := 0
		for j, t := range team.Tickets {
			for k := range team.Players[j] {
				if joining++; joining > 1 {
					text = append(text, ',')
				}
				text = document.Quote(append(text, `{"team":`...), o.team(m, i))
				if team.Roles != nil {
					text = document.Quote(append(text, `,"role":`...), team.Roles[at])
				}
				if id := o.kept.ID(t, k); id != "" { // only if the rules name the value id
					text = document.Quote(append(text, `,"id":`...), id)
				}
				text = append(text, '}')
				at++
			}
		}
	}
	if text = append(text, "]}"...); len(text) <= maxProperties {
		p.MatchProperties(text)
	} else if len(shared) > 0 {
		p.MatchProperties(append(shared, '}'))
	}
	update := p.UpdateBackfill(uint32(m.Game))
	if in == nil {
		// The backfill ticket stays as it is: so no run sees the game before its server approves, with the players that
		// joined.
		return
	}
	update.Property(players, in.text)
	if open := o.games.seated[m.Game].open; open == open {
		update.Attribute(waiting.Open, open-float64(joining))
	}
}
