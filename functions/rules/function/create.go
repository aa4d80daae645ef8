package function

import (
	"slices"
	"strconv"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

const (
	// maxSeats is the most bytes of the property players: a backfill ticket may have 48 KiB in all.
	maxSeats = 40 << 10
	// maxAllSeats is the most bytes of these properties that a run writes, and maxRead that it reads, in all. What is
	// beyond waits for another run: the answer of a run is bounded, and so is its time.
	maxAllSeats = 4 << 20
	maxRead     = 8 << 20
	// mostMeans is how many attributes a backfill ticket is created with, and longestMean the longest name of one. Its
	// server must be able to send them back.
	mostMeans   = 16
	longestMean = 128
)

// seats is the property players of a backfill ticket when the players of a match are in its game.
type seats struct {
	text []byte
	told []search.Description // of the players of the match
}

// describes reports whether a backfill ticket names the players in the game of a match.
func (o *proposer) describes(m *search.Match) bool {
	if m.Game >= 0 {
		return o.games.seated[m.Game].kept
	}
	create := o.rules.Backfill.Create
	return create == rules.CreateAll || create == rules.CreateShort && m.More.Room > 0
}

// seats names the players in the game of a match, nil if that would be too large.
func (o *proposer) seats(m *search.Match) *seats {
	var all []search.Seat
	version := int64(1) // of a backfill ticket that is created
	if m.Game >= 0 {
		in := &o.games.seated[m.Game]
		all, version = slices.Clone(in.seats), in.version
	}
	if o.describer == nil {
		o.describer = o.kept.Describer()
	}
	s := &seats{}
	for i, team := range m.Teams {
		at := 0
		for _, t := range team.Tickets {
			told := o.describer.Players(t)
			for k, one := range told {
				seat := search.Seat{Team: o.team(m, i), Version: version, Values: one.Values}
				if team.Roles != nil {
					seat.Role = team.Roles[at]
				}
				seat.ID = o.kept.ID(t, k)
				all = append(all, seat)
				at++
			}
			s.told = append(s.told, told...)
		}
	}
	if s.text = search.AppendSeats(nil, all); len(s.text) > maxSeats {
		return nil
	}
	o.written += len(s.text)
	return s
}

// create creates a backfill ticket with the server of a match. It names the players in the game and where it runs. Its
// attributes are the means of the players' numbers, so that pools that select the players select it too. The match
// properties say which places are open.
func (o *proposer) create(p matchfn.Proposal, m *search.Match, s *seats, shared []byte) {
	text := strconv.AppendInt(append(begin(shared), `"places":`...), int64(len(s.told)+m.More.Room), 10)
	short := len(text)
	for i, place := range m.More.Open {
		if i == 0 {
			text = append(text, `,"open":[`...)
		} else {
			text = append(text, ',')
		}
		text = document.Quote(append(text, `{"team":`...), o.team(m, place.Team))
		if place.Role != "" {
			text = document.Quote(append(text, `,"role":`...), place.Role)
		}
		text = append(strconv.AppendInt(append(text, `,"places":`...), int64(place.Count), 10), '}')
	}
	if len(m.More.Open) > 0 {
		text = append(text, ']')
	}
	if len(text) >= maxProperties {
		text = text[:short]
	}
	p.MatchProperties(append(text, '}'))
	ticket := p.CreateBackfill().Property(players, s.text)
	if m.Region != "" {
		ticket.Property(region, document.Quote(nil, m.Region))
	}
	named := 0
	for i, mean := range o.describer.Means(s.told) {
		name := o.describer.Numbers()[i]
		if mean != mean || named == mostMeans || len(name) > longestMean || name == waiting.Open || name == "created" {
			continue
		}
		ticket.Attribute(name, mean)
		named++
	}
}

// log says which backfill tickets are missing, and which matches and tickets wait for what they say.
func (o *proposer) log() {
	if o.large > 0 {
		o.run.Log(o.large, "matches get no backfill ticket or join no game: what it says of its players would have more than",
			maxSeats, "bytes")
	}
	if n := o.kept.Large(); n > 0 {
		o.run.Log(n, "tickets are in no match: a set or a map of a player has more than", search.MaxElements, "elements")
	}
	if o.later > 0 {
		o.run.Log(o.later, "matches wait for the next run: the backfill tickets of this one have", o.written, "bytes")
	}
	if o.untold > 0 {
		o.run.Log(o.untold, "matches wait for the next run: what players have in common has", o.told, "bytes in this one")
	}
}
