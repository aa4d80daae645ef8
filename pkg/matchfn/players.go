package matchfn

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/internal/message"
)

// Players says that the function reads the players of tickets: how many each has, and these attributes of them, at most
// 256; there may be none. Without it every ticket has one player, and [Run.Players] fails the run.
func Players(attributes ...string) Option {
	return func(f *Function) { players(f).Attributes = attributes }
}

// PlayerAttributesNamedBy is [AttributesNamedBy] for attributes of players.
func PlayerAttributesNamedBy(settings ...string) Option {
	return func(f *Function) { players(f).AttributeSettings = settings }
}

// PlayerProperties names the properties of players that the function reads, at most 256.
func PlayerProperties(names ...string) Option {
	return func(f *Function) { players(f).Properties = names }
}

// PlayerPropertiesNamedBy is [PropertiesNamedBy] for properties of players.
func PlayerPropertiesNamedBy(settings ...string) Option {
	return func(f *Function) { players(f).PropertySettings = settings }
}

// PlayerHandles says that the function reads [RunPlayers.Handles].
func PlayerHandles() Option { return func(f *Function) { players(f).Handles = true } }

// PlayerIDs says that the function reads [RunPlayers.ID]. Handles tell players apart as well, and are smaller.
func PlayerIDs() Option { return func(f *Function) { players(f).IDs = true } }

// PlayerIDsWith is PlayerIDs for configs that have one of some settings. Of others, [RunPlayers.ID] is empty.
func PlayerIDsWith(settings ...string) Option {
	return func(f *Function) { players(f).IDSettings = settings }
}

func players(f *Function) *block.PlayerManifest {
	m := &f.manifest
	if m.Players == nil {
		m.Players = &block.PlayerManifest{}
	}
	return m.Players
}

// RunPlayers is the players of a run's tickets. They are numbered from 0, in the order of their tickets, so that the
// players of a ticket follow each other:
//
//	players := r.Players()
//	role := players.Attribute("role")
//	for ticket := range uint32(r.Tickets()) {
//		first, end := players.Of(ticket)
//		for p := first; p < end; p++ {
//			… role[p] …
//		}
//	}
//
// Columns have one element for each player. In a run of a [Matcher] that keeps tickets, they have the players of the
// new tickets alone, and Of has the place of a ticket in the run's columns, not its number.
type RunPlayers struct{ run *Run }

// Players returns the players of the run's tickets. The function must declare them with the option [Players] or another
// one about players.
func (r *Run) Players() RunPlayers {
	if r.manifest.Players == nil {
		r.fail(message.Errorf("the players of tickets are read but were not declared: use Players in Register"))
	}
	return RunPlayers{r}
}

// Len returns how many players the tickets have in all.
func (p RunPlayers) Len() int { return p.run.in.Players() }

// Of returns the numbers of a ticket's players: from first to before end. Every ticket has at least one.
func (p RunPlayers) Of(ticket uint32) (first, end uint32) {
	if starts := p.run.in.PlayerStarts; starts != nil {
		return starts[ticket], starts[ticket+1]
	}
	return ticket, ticket + 1
}

// Count returns how many players a ticket has.
func (p RunPlayers) Count(ticket uint32) int {
	first, end := p.Of(ticket)
	return int(end - first)
}

// Alone reports whether every ticket of the run has one player. Then the player of a ticket has the ticket's place.
func (p RunPlayers) Alone() bool { return p.run.in.PlayerStarts == nil }

// Attribute returns the column of an attribute of players, with NaN for those without it.
func (p RunPlayers) Attribute(name string) []float64 {
	return p.run.playerAttribute(block.KindPlayerAttribute, name, p.Len())
}

// playerAttribute is an attribute of n players.
func (r *Run) playerAttribute(kind uint32, name string, n int) []float64 {
	if m := r.manifest.Players; m != nil {
		r.declared("player attribute", name, m.Attributes, m.AttributeSettings)
	}
	return r.numbers(kind, name, n)
}

// Property returns the column of a property of players.
func (p RunPlayers) Property(name string) Property {
	if m := p.run.manifest.Players; m != nil {
		p.run.declared("player property", name, m.Properties, m.PropertySettings)
	}
	return p.run.values(block.KindPlayerProperty, name)
}

// Handles returns a number for each player. No two players of a run have the same. A player has the same handle in all
// runs of a [Matcher] that keeps its tickets; in runs of others it may change, and it means nothing outside.
func (p RunPlayers) Handles() []uint64 {
	handles := p.run.playerHandles(p.run.in.PlayerHandles)
	for len(handles) < p.Len() { // of a runner that does not know players
		handles = append(handles, uint64(p.run.First())+uint64(len(handles)))
	}
	return handles
}

func (r *Run) playerHandles(handles []uint64) []uint64 {
	if m := r.manifest.Players; m != nil && !m.Handles {
		r.fail(message.Errorf("handles of players are read but were not declared: use PlayerHandles in Register"))
	}
	return slices.Clip(handles)
}

// ID returns the id of a player.
func (p RunPlayers) ID(player uint32) string { return p.IDs().text(player) }

// IDs returns the column of the players' ids.
func (p RunPlayers) IDs() Property { return p.run.playerIDs(block.KindPlayerID) }

func (r *Run) playerIDs(kind uint32) Property {
	if m := r.manifest.Players; m != nil && !m.IDs && len(m.IDSettings) == 0 {
		r.fail(message.Errorf("ids of players are read but were not declared: use PlayerIDs in Register"))
	}
	return r.values(kind, "")
}
