package block

import (
	"errors"
	"iter"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

// The kinds of sections of a request about the players in running games, which are backfill tickets.
const (
	kindBackfillPlayers = iota + 19
	kindBackfillPlayerHandle
	kindBackfillPlayerID
	kindBackfillPlayerTeam
	kindBackfillPlayerRole
	kindBackfillPlayerAttribute
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

// BackfillPlayerIDs returns the ids of the players in games, if the function declares that it reads ids.
func (r *Request) BackfillPlayerIDs() (Values, bool) {
	return r.values(kindBackfillPlayerID, "", r.BackfillPlayers())
}

// BackfillPlayerTeams returns the names of the teams of the players in games. A player whose server names none has no
// value.
func (r *Request) BackfillPlayerTeams() (Values, bool) {
	return r.values(kindBackfillPlayerTeam, "", r.BackfillPlayers())
}

// BackfillPlayerRoles is BackfillPlayerTeams for roles.
func (r *Request) BackfillPlayerRoles() (Values, bool) {
	return r.values(kindBackfillPlayerRole, "", r.BackfillPlayers())
}

// BackfillPlayerAttributes yields the names of the attributes of players in games.
func (r *Request) BackfillPlayerAttributes() iter.Seq[string] {
	return r.names(kindBackfillPlayerAttribute)
}

// BackfillPlayerAttribute is Attribute for players in games.
func (r *Request) BackfillPlayerAttribute(name string) ([]float64, bool) {
	data, ok := r.find(kindBackfillPlayerAttribute, name)
	return column[float64](data), ok
}

// hasValidRoster reports whether a section about players in games has the length of its kind. The section that says
// which players the games have comes before the others.
func (r *Request) hasValidRoster(s section) bool {
	switch s.kind {
	case kindBackfillPlayers:
		return len(s.data) == (r.Backfills+1)*4
	case kindBackfillPlayerHandle, kindBackfillPlayerAttribute:
		return r.BackfillPlayerStarts != nil && len(s.data) == r.BackfillPlayers()*8
	case kindBackfillPlayerID, kindBackfillPlayerTeam, kindBackfillPlayerRole:
		return r.BackfillPlayerStarts != nil && len(s.data) >= r.BackfillPlayers()*8
	}
	if s.kind == kindBackfillBarred {
		return len(s.data)%8 == 0
	}
	return true
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
		if e.kind > kindBackfillPlayers && e.kind <= kindBackfillPlayerAttribute {
			b.fail(errors.New("block: the columns of players in games before the players"))
		}
	}
	b.backfillPlayers = n
	return column[uint32](b.column(kindBackfillPlayers, "", (b.meta.Backfills+1)*4))
}

// BackfillPlayerHandles adds the handles of the players in games.
func (b *RequestBuilder) BackfillPlayerHandles() []uint64 {
	return column[uint64](b.column(kindBackfillPlayerHandle, "", b.backfillPlayers*8))
}

// BackfillPlayerIDs adds the ids of the players in games, which have so many bytes in all.
func (b *RequestBuilder) BackfillPlayerIDs(bytes int) *ValueColumn {
	return &b.valueColumns(kindBackfillPlayerID, b.backfillPlayers, []string{""}, []int{bytes})[0]
}

// BackfillPlayerTeams adds the teams of the players in games.
func (b *RequestBuilder) BackfillPlayerTeams(bytes int) *ValueColumn {
	return &b.valueColumns(kindBackfillPlayerTeam, b.backfillPlayers, []string{""}, []int{bytes})[0]
}

// BackfillPlayerRoles adds the roles of the players in games.
func (b *RequestBuilder) BackfillPlayerRoles(bytes int) *ValueColumn {
	return &b.valueColumns(kindBackfillPlayerRole, b.backfillPlayers, []string{""}, []int{bytes})[0]
}

// BackfillPlayerAttribute adds the column of an attribute of players in games. It must be NaN for players without it.
func (b *RequestBuilder) BackfillPlayerAttribute(name string) []float64 {
	return column[float64](b.column(kindBackfillPlayerAttribute, name, b.backfillPlayers*8))
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
