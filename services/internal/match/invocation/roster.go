package invocation

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// roster is the columns of the players in the running games of a run.
type roster struct {
	players           []*pb.RosterPlayer
	starts            []uint32
	ids, teams, roles int      // bytes of these in all
	named             []string // the declared attributes that a player has
	barred            []barred
}

// barred is a ticket that must not join a game.
type barred struct{ game, ticket uint32 }

// bar finds the tickets that must not join the games, since a player of theirs is in it. v is the index of tickets, s
// what is selected of it, and k what the function keeps; nil if it keeps nothing.
func (r *roster) bar(v pool.View, s *pool.Selection, k *pool.IncrementalSelection) {
	r.barred = r.barred[:0]
	if len(r.players) == 0 {
		return
	}
	handles, games := make(map[uint64]bool, len(r.players)), map[uint64][]uint32{}
	for game := range r.starts[:len(r.starts)-1] {
		for _, one := range r.players[r.starts[game]:r.starts[game+1]] {
			handle := v.Handle(one.GetId())
			handles[handle] = true
			games[handle] = append(games[handle], uint32(game))
		}
	}
	v.Waiting(handles, s, k, func(player uint64, number uint32) {
		for _, game := range games[player] {
			r.barred = append(r.barred, barred{game, number})
		}
	})
	slices.SortFunc(r.barred, func(a, b barred) int {
		return cmp.Or(cmp.Compare(a.game, b.game), cmp.Compare(a.ticket, b.ticket))
	})
	r.barred = slices.Compact(r.barred)
}

// choose notes the players of the backfill tickets, if the function reads them.
func (r *roster) choose(list []*pb.Backfill, p *players, w *pool.Work) {
	*r = roster{players: r.players[:0], starts: r.starts[:0], barred: r.barred[:0]}
	if p.needs == nil || !p.needs.Backfills {
		return
	}
	declared := setOf(p.attributes)
	for _, backfill := range list {
		r.starts = append(r.starts, uint32(len(r.players)))
		for _, one := range backfill.GetRoster().GetPlayers() {
			r.players = append(r.players, one)
			r.ids, r.teams, r.roles = r.ids+len(one.GetId()), r.teams+len(one.GetTeam()), r.roles+len(one.GetRole())
			for _, name := range one.GetAttributeNames() {
				if _, ok := declared[name]; ok {
					declared[name] = true
				}
			}
		}
		w.Count(1 + len(backfill.GetRoster().GetPlayers()))
		if w.Late() {
			r.players = r.players[:0]
			return
		}
	}
	r.starts = append(r.starts, uint32(len(r.players)))
	r.named = merge(declared, nil)
}

// add adds what write writes for n backfill tickets.
func (r *roster) add(size *block.RequestSize, p *players, n int) {
	if len(r.players) == 0 {
		return
	}
	size.BackfillPlayers(n, len(r.players), r.teams, r.roles)
	if len(r.barred) > 0 {
		size.Numbers("", 2*len(r.barred))
	}
	if p.needs.Handles {
		size.Column("", len(r.players), 0)
	}
	if p.ids {
		size.Column("", len(r.players), r.ids)
	}
	for _, name := range r.named {
		size.Column(name, len(r.players), 0)
	}
}

// write writes the columns. v is the index of the tickets, whose players have the same handles.
func (r *roster) write(v pool.View, p *players, w *pool.Work, b *block.RequestBuilder) {
	if len(r.players) == 0 || w.Late() {
		return
	}
	w.Count(len(r.players) * (4 + len(r.named)))
	copy(b.BackfillPlayers(len(r.players)), r.starts)
	r.set(b.Texts(block.KindBackfillPlayerTeam, r.teams), (*pb.RosterPlayer).GetTeam)
	r.set(b.Texts(block.KindBackfillPlayerRole, r.roles), (*pb.RosterPlayer).GetRole)
	if len(r.barred) > 0 {
		pairs := b.BackfillBarred(len(r.barred))
		for i, one := range r.barred {
			pairs[2*i], pairs[2*i+1] = one.game, one.ticket
		}
	}
	if p.needs.Handles {
		handles := b.Handles(block.KindBackfillPlayerHandle)
		for i, one := range r.players {
			handles[i] = v.Handle(one.GetId())
		}
	}
	if p.ids {
		r.set(b.Texts(block.KindBackfillPlayerID, r.ids), (*pb.RosterPlayer).GetId)
	}
	for _, name := range r.named {
		if w.Late() {
			return
		}
		values := b.Numbers(block.KindBackfillPlayerAttribute, name)
		for i, one := range r.players {
			values[i] = math.NaN()
			for k, has := range one.GetAttributeNames() {
				if has == name && k < len(one.GetAttributeValues()) {
					values[i] = one.GetAttributeValues()[k]
				}
			}
		}
	}
}

func (r *roster) set(column *block.ValueColumn, of func(*pb.RosterPlayer) string) {
	for i, one := range r.players {
		if text := of(one); text != "" {
			column.Set(i, text)
		}
	}
}
