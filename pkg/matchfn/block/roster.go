package block

import (
	"errors"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

// The kinds of sections of a request about the players in running games, which are backfill tickets.
const (
	kindBackfillPlayers = iota + 19
	KindBackfillPlayerHandle
	KindBackfillPlayerID
	KindBackfillPlayerTeam
	KindBackfillPlayerRole
	KindBackfillPlayerAttribute
	kindBackfillBarred
)

// BackfillPlayers is how many players are in the running games in all, as far as their servers say it. They are
// numbered from 0, in the order of the backfill tickets.
func (r *Request) BackfillPlayers() int {
	if r.BackfillPlayerStarts == nil {
		return 0
	}
	return int(r.BackfillPlayerStarts[r.Backfills])
}

// checkBarred verifies that the pairs ascend, and that there are such tickets.
func (r *Request) checkBarred() error {
	for i := 0; i+1 < len(r.BackfillBarred); i += 2 {
		game, ticket := r.BackfillBarred[i], r.BackfillBarred[i+1]
		if uint64(game) >= uint64(r.Backfills) || uint64(ticket) >= uint64(r.First()+r.Tickets) {
			return message.Errorf("bars ticket %d from backfill ticket %d of %d", ticket, game, r.Backfills)
		}
		if i > 0 && (game < r.BackfillBarred[i-2] || game == r.BackfillBarred[i-2] && ticket <= r.BackfillBarred[i-1]) {
			return message.Errorf("bars tickets in another order than that of their numbers")
		}
	}
	return nil
}

// checkRoster verifies that players are in one game each.
func checkRoster(starts []uint32) error {
	if len(starts) > 0 && starts[0] != 0 {
		return message.Errorf("the first backfill ticket's players start at %d", starts[0])
	}
	for i := 1; i < len(starts); i++ {
		if starts[i] < starts[i-1] {
			return message.Errorf("the players of backfill ticket %d end before they start", i-1)
		}
	}
	return nil
}

// BackfillPlayers adds which players the games have, n in all. Fill the column with where the players of each backfill
// ticket start; its last element is n. Call it before the other methods about players in games.
func (b *RequestBuilder) BackfillPlayers(n int) []uint32 {
	for _, e := range b.entries {
		if e.kind > kindBackfillPlayers && e.kind <= KindBackfillPlayerAttribute {
			b.fail(errors.New("block: the columns of players in games before the players"))
		}
	}
	b.backfillPlayers = n
	return column[uint32](b.column(kindBackfillPlayers, "", (b.meta.Backfills+1)*4))
}

// BackfillBarred adds n pairs of a backfill ticket and a ticket that must not join it.
func (b *RequestBuilder) BackfillBarred(n int) []uint32 {
	return column[uint32](b.column(kindBackfillBarred, "", 8*n))
}

// BackfillPlayers adds what RequestBuilder.BackfillPlayers adds for n backfill tickets, and the teams and roles of so
// many players, which have so many bytes in all.
func (s *RequestSize) BackfillPlayers(n, players, teams, roles int) {
	s.section("", 4*(n+1))
	s.Column("", players, teams)
	s.Column("", players, roles)
}
