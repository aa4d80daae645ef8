package block

import (
	"errors"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

// The kinds of sections of a request about the tickets' players.
const (
	kindPlayers = iota + 14
	KindPlayerHandle
	KindPlayerID
	KindPlayerAttribute
	KindPlayerProperty
)

// Players is how many players the tickets have in all. They are numbered from 0, in the order of their tickets.
func (r *Request) Players() int {
	if r.PlayerStarts == nil {
		return r.Tickets
	}
	return int(r.PlayerStarts[r.Tickets])
}

// checkPlayers verifies that every ticket has a player.
func checkPlayers(starts []uint32) error {
	if len(starts) > 0 && starts[0] != 0 {
		return message.Errorf("the first ticket's players start at %d", starts[0])
	}
	for i := 1; i < len(starts); i++ {
		if starts[i] <= starts[i-1] {
			return message.Errorf("ticket %d has no player", i-1)
		}
	}
	return nil
}

// Players adds which players the tickets have, n in all. Fill the column with where the players of each ticket start;
// its last element is n. Without it every ticket has one player. Call it before the other methods about players.
func (b *RequestBuilder) Players(n int) []uint32 {
	starts := column[uint32](b.column(kindPlayers, "", (b.meta.Tickets+1)*4))
	for _, e := range b.entries {
		if e.kind > kindPlayers && e.kind <= KindPlayerProperty {
			b.fail(errors.New("block: the players' columns before the players"))
		}
	}
	b.players = n
	return starts
}

// PlayerAttributes adds the columns of several attributes of players, which are filled together. They are valid until
// the next call of the builder.
func (b *RequestBuilder) PlayerAttributes(names []string) [][]float64 {
	first := len(b.entries)
	for _, name := range names {
		b.column(KindPlayerAttribute, name, b.players*8)
	}
	columns := make([][]float64, len(names))
	for i := range names {
		if b.err == nil {
			columns[i] = column[float64](b.bytes(b.entries[first+i])) // the buffer may have moved
		} else {
			columns[i] = make([]float64, b.players)
		}
	}
	return columns
}
