package matchfn

import (
	"sort"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/internal/message"
)

// BackfillPlayers says that the function reads the players in the running games: their teams, their roles, and those
// attributes that [Players] names, with handles and ids if [PlayerHandles] and [PlayerIDs] say so. Without it
// [Run.BackfillPlayers] fails the run.
func BackfillPlayers() Option { return func(f *Function) { players(f).Backfills = true } }

// RunRoster is the players in the running games of a run, which are its backfill tickets, as far as their servers say
// who they are. They are numbered from 0, in the order of the backfill tickets. Columns have one element for each.
// Players that joined since their server said it last have no team and no role, but the attributes of their ticket.
type RunRoster struct{ run *Run }

// BackfillPlayers returns the players in the running games. The function must declare them with the option
// [BackfillPlayers].
func (r *Run) BackfillPlayers() RunRoster {
	if m := r.manifest.Players; m == nil || !m.Backfills {
		r.fail(message.Errorf("players in running games are read but were not declared: use BackfillPlayers in Register"))
	}
	return RunRoster{r}
}

// Len returns how many players are in all games.
func (p RunRoster) Len() int { return p.run.in.BackfillPlayers() }

// Of returns the numbers of the players in a game: from first to before end. There are none if its server does not say
// who they are.
func (p RunRoster) Of(backfill uint32) (first, end uint32) {
	if starts := p.run.in.BackfillPlayerStarts; starts != nil {
		return starts[backfill], starts[backfill+1]
	}
	return 0, 0
}

// Barred returns the tickets that must not join a game, since one of their players is in it. The service refuses a
// proposal that sends one there. They have the numbers that proposals have, in ascending order; there are few or none.
func (p RunRoster) Barred(backfill uint32) (tickets []uint32) {
	pairs := p.run.in.BackfillBarred
	from := sort.Search(len(pairs)/2, func(i int) bool { return pairs[2*i] >= backfill })
	for i := 2 * from; i+1 < len(pairs) && pairs[i] == backfill; i += 2 {
		tickets = append(tickets, pairs[i+1])
	}
	return tickets
}

// Team returns the team of a player; "" if there is none.
func (p RunRoster) Team(player uint32) string {
	return p.run.values(block.KindBackfillPlayerTeam, "").text(player)
}

// Role returns the role of a player; "" if there is none.
func (p RunRoster) Role(player uint32) string {
	return p.run.values(block.KindBackfillPlayerRole, "").text(player)
}

// Attribute returns the column of an attribute, with NaN for players without it.
func (p RunRoster) Attribute(name string) []float64 {
	return p.run.playerAttribute(block.KindBackfillPlayerAttribute, name, p.Len())
}

// Handles returns the handles of the players. A player that waits as well has the same handle there: see
// [RunPlayers.Handles].
func (p RunRoster) Handles() []uint64 { return p.run.playerHandles(p.run.in.BackfillPlayerHandles) }

// ID returns the id of a player.
func (p RunRoster) ID(player uint32) string {
	return p.run.playerIDs(block.KindBackfillPlayerID).text(player)
}

// text is the value of a player, or "".
func (p Property) text(number uint32) string {
	value, _ := p.Of(number)
	return string(value)
}
