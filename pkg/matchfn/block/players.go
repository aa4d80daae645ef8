package block

import (
	"errors"
	"iter"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

// The kinds of sections of a request about the tickets' players.
const (
	kindPlayers = iota + 14
	kindPlayerHandle
	kindPlayerID
	kindPlayerAttribute
	kindPlayerProperty
)

// Players is how many players the tickets have in all. They are numbered from 0, in the order of their tickets.
func (r *Request) Players() int {
	if r.PlayerStarts == nil {
		return r.Tickets
	}
	return int(r.PlayerStarts[r.Tickets])
}

// PlayerIDs returns the ids of the players, if the function declares that it reads them.
func (r *Request) PlayerIDs() (Values, bool) { return r.values(kindPlayerID, "", r.Players()) }

// PlayerAttributes yields the names of the players' attributes.
func (r *Request) PlayerAttributes() iter.Seq[string] { return r.names(kindPlayerAttribute) }

// PlayerAttribute is Attribute for players.
func (r *Request) PlayerAttribute(name string) ([]float64, bool) {
	data, ok := r.find(kindPlayerAttribute, name)
	return column[float64](data), ok
}

// PlayerProperties yields the names of the players' properties.
func (r *Request) PlayerProperties() iter.Seq[string] { return r.names(kindPlayerProperty) }

// PlayerProperty is Property for players.
func (r *Request) PlayerProperty(name string) (Values, bool) {
	return r.values(kindPlayerProperty, name, r.Players())
}

// hasValidPlayers reports whether a section about players has the length of its kind. The section that says which
// players the tickets have comes before the others.
func (r *Request) hasValidPlayers(s section) bool {
	switch s.kind {
	case kindPlayers:
		return len(s.data) == (r.Tickets+1)*4 && !r.playerColumns
	case kindPlayerHandle, kindPlayerAttribute:
		return len(s.data) == r.Players()*8
	case kindPlayerID, kindPlayerProperty:
		return len(s.data) >= r.Players()*8
	}
	return true
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
		if e.kind > kindPlayers && e.kind <= kindPlayerProperty {
			b.fail(errors.New("block: the players' columns before the players"))
		}
	}
	b.players = n
	return starts
}

// PlayerHandles adds the handles of the players.
func (b *RequestBuilder) PlayerHandles() []uint64 {
	return column[uint64](b.column(kindPlayerHandle, "", b.players*8))
}

// PlayerIDs adds the ids of the players, which have so many bytes in all. The column is filled as Properties' are.
func (b *RequestBuilder) PlayerIDs(bytes int) *ValueColumn {
	return &b.valueColumns(kindPlayerID, b.players, []string{""}, []int{bytes})[0]
}

// PlayerAttributes adds the columns of several attributes of players, which are filled together. They are valid until
// the next call of the builder.
func (b *RequestBuilder) PlayerAttributes(names []string) [][]float64 {
	first := len(b.entries)
	for _, name := range names {
		b.column(kindPlayerAttribute, name, b.players*8)
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

// PlayerProperties is Properties for players.
func (b *RequestBuilder) PlayerProperties(names []string, lengths []int) []ValueColumn {
	return b.valueColumns(kindPlayerProperty, b.players, names, lengths)
}
