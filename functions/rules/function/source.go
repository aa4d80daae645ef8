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

// values are the settings that name values. They are for runners that do not ask for columns.
var values = []string{"values.@", "values.*.from", "numbers", "roles", "roles.from", "regions.from"}

// implied are properties that rules mean which name nothing.
var implied = []string{"roles", "latency"}

// Options are what the function's manifest says: it reads what the settings name, and what rules mean that name
// nothing. The ids of players say who is in a running game already.
func Options() []matchfn.Option {
	return []matchfn.Option{
		matchfn.Attributes(waiting.Open), matchfn.AttributesNamedBy("numbers"),
		matchfn.Properties(append([]string{players, region}, implied...)...), matchfn.PropertiesNamedBy(values...),
		matchfn.Players(), matchfn.PlayerAttributesNamedBy(values...),
		matchfn.PlayerProperties(implied...), matchfn.PlayerPropertiesNamedBy(values...),
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

func newSource(r *matchfn.Run, rules *rules.Rules) source {
	return source{run: r, rules: rules, party: r.Players(), players: r.Property(players)}
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

// valuesOf is a property as the search takes it, nil if nobody has it.
func valuesOf(p matchfn.Property) search.Values {
	if !p.Any() {
		return nil
	}
	return p.Of
}
