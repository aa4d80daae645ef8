package function

import (
	"slices"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rules"
)

// players is the property with what a ticket says of its players.
const players = "players"

// Options are what the function's manifest says. The columns are what rules name. The ids of players say who is in a
// running game already.
func Options() []matchfn.Option {
	return []matchfn.Option{
		matchfn.Attributes(waiting.Open), matchfn.Properties(players, region), matchfn.Players(),
		matchfn.PlayerIDs(), matchfn.BackfillPlayers(), matchfn.ColumnsOf(columns),
	}
}

// source is the tickets of a run.
type source struct {
	run     *matchfn.Run
	rules   *rules.Rules
	party   matchfn.RunPlayers
	players matchfn.Property
}

func (s source) Ages() []float64                   { return s.run.Wait() }
func (s source) Players(ticket int) ([]byte, bool) { return s.players.Of(uint32(ticket)) }

// PlayerIDs are the ids of players, if they travel.
func (s source) PlayerIDs() search.Values { return valuesOf(s.party.IDs()) }

func (s source) PlayersOf(ticket int) (first, end uint32) { return s.party.Of(uint32(ticket)) }

// Number is an attribute of tickets: one of the rules' numbers.
func (s source) Number(name string) []float64 { return s.run.Attribute(name) }

func (s source) PlayerNumber(name string) []float64 {
	numbers := s.party.Attribute(name)
	if !slices.ContainsFunc(numbers, func(n float64) bool { return n == n }) {
		return nil
	}
	return numbers
}

func (s source) PlayerValue(name string) search.Values {
	return valuesOf(s.party.Property(name))
}

func (s source) TicketValue(name string) search.Values {
	if name == players {
		return nil
	}
	return valuesOf(s.run.Property(name))
}

// valuesOf is a property as the search takes it, nil if no player has it.
func valuesOf(p matchfn.Property) search.Values {
	if !p.Any() {
		return nil
	}
	return p.Of
}

// columns are what the rule set in settings reads of tickets and players.
func columns(settings []byte) (matchfn.Columns, error) {
	r, err := read(settings)
	if err != nil {
		return matchfn.Columns{}, err
	}
	var c matchfn.Columns
	add := func(to *[]string, name string) {
		if !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for _, v := range r.Values {
		add(&c.Properties, v.From)
		add(&c.PlayerProperties, v.From)
		if v.Kind == rules.Number {
			add(&c.PlayerAttributes, v.From)
		}
	}
	c.Attributes = slices.Clone(r.Numbers)
	return c, nil
}
