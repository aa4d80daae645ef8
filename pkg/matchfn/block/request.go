package block

import (
	"errors"
	"iter"
	"math"
	"unicode/utf8"

	"matchmaker.dev/pkg/matchfn/internal/message"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Request is a view of the request of one run. It is valid as long as the block it was parsed from.
type Request struct {
	Meta
	// Config is the config's settings, a JSON object, or empty if it has none.
	Config []byte
	// Created is the tickets' creation times in Unix milliseconds.
	Created []float64
	// Wait is how long the tickets have waited, in seconds.
	Wait []float64
	// BackfillCreated is the backfill tickets' creation times in Unix milliseconds.
	BackfillCreated []float64
	// BackfillVersion is the backfill tickets' record versions.
	BackfillVersion []int64

	// Base says that the function is to keep the tickets, or keeps some already; nil if it keeps nothing of this request.
	Base *Base
	// Gone are the numbers of tickets that the function keeps and that wait no more.
	Gone []uint32
	// Ended are the numbers of bases that are not needed any more.
	Ended []uint32

	// PlayerStarts has for each ticket the number of its first player, and then the number of all players. It is nil if
	// every ticket has one player: see [Request.Players].
	PlayerStarts []uint32
	// PlayerHandles are the handles of the players, if the function declares that it reads them.
	PlayerHandles []uint64

	// BackfillPlayerStarts has for each backfill ticket the number of its first player, and then the number of all players
	// in games. It is nil if none is known: see [Request.BackfillPlayers].
	BackfillPlayerStarts []uint32
	// BackfillPlayerHandles are the handles of the players in games, if the function declares that it reads handles.
	BackfillPlayerHandles []uint64
	// BackfillBarred are pairs of numbers, of a backfill ticket and of a ticket that must not join it, since one of its
	// players is in the game. They ascend.
	BackfillBarred []uint32

	// Asked are the numbers of the tickets that the function is asked about: why they are in no match. They ascend.
	Asked []uint32

	// Naming is set if the function is asked only which columns it reads with the settings.
	Naming bool

	connected bool // whether there is a column of connections
	sections  []section
	// playerColumns is set if there were columns of players.
	playerColumns bool
}

// ParseRequest views a block as a request. It checks that every column has its length and lies within the block. It
// does not check the values in columns, such as ticket numbers: see [Request.Check].
func ParseRequest(block []byte) (*Request, error) {
	sections, err := parseTable(realign(block), requestMagic, nil)
	if err != nil {
		return nil, err
	}
	if len(sections) == 0 || sections[0].kind != kindMeta || len(sections[0].data) < metaSize {
		return nil, errors.New("block: the first section is not a complete meta section")
	}
	meta := sections[0].data
	r := &Request{sections: sections, Meta: Meta{
		Now:       int64(le.Uint64(meta)),
		Seed:      le.Uint64(meta[8:]),
		Budget:    le.Uint32(meta[16:]),
		Tickets:   int(le.Uint32(meta[20:])),
		Backfills: int(le.Uint32(meta[24:])),
	}}
	if len(meta) >= metaSize+leftOutSize {
		r.LeftOutAttributes = int(le.Uint32(meta[metaSize:]))
		r.LeftOutProperties = int(le.Uint32(meta[metaSize+4:]))
	}
	for i, s := range sections[1:] {
		if !r.hasValidLength(s) {
			return nil, message.Errorf("block: section %d, kind %d %q, has %d bytes for %d tickets and %d backfill tickets",
				i+1, s.kind, s.name, len(s.data), r.Tickets, r.Backfills)
		}
		r.setColumn(s)
	}
	if len(r.Created) != r.Tickets || len(r.Wait) != r.Tickets {
		return nil, errors.New("block: without the columns created and wait")
	}
	if err := r.checkBase(); err != nil {
		return nil, err
	}
	if len(r.BackfillCreated) != r.Backfills || len(r.BackfillVersion) != r.Backfills ||
		r.Backfills > 0 && !r.connected {
		return nil, errors.New("block: without the backfill tickets' created, version and connection")
	}
	return r, nil
}

// count is how many tickets, backfill tickets or players a column of a kind is about.
func (r *Request) count(kind uint32) int {
	return countOf(kind, r.Tickets, r.Backfills, r.Players(), r.BackfillPlayers())
}

// countOf is how many of these a column of a kind is about. The roster is all players in games.
func countOf(kind uint32, tickets, backfills, players, roster int) int {
	switch {
	case kind >= KindBackfillCreated && kind <= KindBackfillPool:
		return backfills
	case kind >= kindPlayers && kind <= KindPlayerProperty:
		return players
	case kind >= kindBackfillPlayers && kind <= KindBackfillPlayerAttribute:
		return roster
	}
	return tickets
}

// hasValidLength reports whether a section has the length of its kind. The sections that say which players the tickets
// and the games have come before the others about players.
func (r *Request) hasValidLength(s section) bool {
	if s.kind > kindBackfillPlayers && s.kind <= KindBackfillPlayerAttribute && r.BackfillPlayerStarts == nil {
		return false
	}
	switch s.kind {
	case kindCreated, kindWait, KindAttribute, KindBackfillCreated, kindBackfillVersion, KindBackfillAttribute,
		KindPlayerHandle, KindPlayerAttribute, KindBackfillPlayerHandle, KindBackfillPlayerAttribute:
		return len(s.data) == r.count(s.kind)*8
	case KindProperty, KindBackfillProperty, KindBackfillConnection, KindPlayerID, KindPlayerProperty,
		KindBackfillPlayerID, KindBackfillPlayerTeam, KindBackfillPlayerRole:
		return len(s.data) >= r.count(s.kind)*8
	case KindPool, KindBackfillPool, kindGone, kindEnded, kindAsked:
		return len(s.data)%4 == 0
	case kindBackfillBarred:
		return len(s.data)%8 == 0
	case kindPlayers:
		return len(s.data) == (r.Tickets+1)*4 && !r.playerColumns
	case kindBackfillPlayers:
		return len(s.data) == (r.Backfills+1)*4
	case kindBase:
		return len(s.data) >= baseSize
	}
	return true
}

func (r *Request) setColumn(s section) {
	switch s.kind {
	case kindConfig:
		r.Config = s.data
	case kindCreated:
		r.Created = column[float64](s.data)
	case kindWait:
		r.Wait = column[float64](s.data)
	case KindBackfillCreated:
		r.BackfillCreated = column[float64](s.data)
	case kindBackfillVersion:
		r.BackfillVersion = column[int64](s.data)
	case KindBackfillConnection:
		r.connected = true
	case kindBase:
		flags := le.Uint32(s.data[4:])
		r.Base = &Base{Number: le.Uint32(s.data), Continues: flags&continues != 0, First: int(le.Uint32(s.data[8:]))}
	case kindGone:
		r.Gone = column[uint32](s.data)
	case kindEnded:
		r.Ended = column[uint32](s.data)
	case kindAsked:
		r.Asked = column[uint32](s.data)
	case kindNaming:
		r.Naming = true
	case kindPlayers:
		r.PlayerStarts = column[uint32](s.data)
	case KindPlayerHandle:
		r.PlayerHandles = column[uint64](s.data)
		r.playerColumns = true
	case KindPlayerID, KindPlayerAttribute, KindPlayerProperty:
		r.playerColumns = true
	case kindBackfillPlayers:
		r.BackfillPlayerStarts = column[uint32](s.data)
	case KindBackfillPlayerHandle:
		r.BackfillPlayerHandles = column[uint64](s.data)
	case kindBackfillBarred:
		r.BackfillBarred = column[uint32](s.data)
	}
}

// Names yields the names of the columns of a kind, or of the pools.
func (r *Request) Names(kind uint32) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range r.sections {
			if s.kind == kind && !yield(string(s.name)) {
				return
			}
		}
	}
}

// Numbers returns the column of an attribute, with NaN for those without it; nil and false if the request has no such
// column.
func (r *Request) Numbers(kind uint32, name string) ([]float64, bool) {
	data, ok := r.find(kind, name)
	return column[float64](data), ok
}

// Members returns the numbers of a pool's tickets or backfill tickets, ascending.
func (r *Request) Members(kind uint32, name string) ([]uint32, bool) {
	data, ok := r.find(kind, name)
	return column[uint32](data), ok
}

// Values returns the column of a property, or of ids, connections, teams or roles, which have no name. A connection is
// absent while the server is being allocated.
func (r *Request) Values(kind uint32, name string) (Values, bool) {
	data, ok := r.find(kind, name)
	if !ok {
		return Values{}, false
	}
	n := r.count(kind)
	return Values{data[:n*8], data[n*8:]}, true
}

func (r *Request) find(kind uint32, name string) ([]byte, bool) {
	for _, s := range r.sections {
		if s.kind == kind && string(s.name) == name {
			return s.data, true
		}
	}
	return nil, false
}

// Values is a column of values of different lengths.
type Values struct {
	spans []byte
	data  []byte
}

// Len returns the number of values, including absent ones.
func (v Values) Len() int { return len(v.spans) / 8 }

// At returns value i, or false if it is absent. The value is a view of the request: copy it to keep it.
func (v Values) At(i int) ([]byte, bool) {
	if i < 0 || i >= v.Len() {
		return nil, false
	}
	start, size := uint64(le.Uint32(v.spans[i*8:])), uint64(le.Uint32(v.spans[i*8+4:]))
	if start == absent || start+size > uint64(len(v.data)) {
		return nil, false
	}
	return v.data[start : start+size : start+size], true
}

// Check verifies what ParseRequest does not: that names are UTF-8 and unique within their kind, numbers are in range
// and ascending, values lie within their data, attributes and waits are not infinite, and the config is an object. It
// is for tests and tools: runners write valid requests.
func (r *Request) Check() error {
	if len(r.Config) > 0 {
		if n, err := document.Parse(r.Config); err != nil {
			return message.Errorf("block: config: %s", err)
		} else if n.Kind != document.Object {
			return errors.New("block: config is not an object")
		}
	}
	seen := map[entryKey]bool{}
	for i, s := range r.sections {
		key := entryKey{s.kind, string(s.name)}
		if s.kind <= KindPlayerProperty && seen[key] {
			return message.Errorf("block: section %d, kind %d %q, is there twice", i, s.kind, s.name)
		}
		seen[key] = true
		if !utf8.Valid(s.name) {
			return message.Errorf("block: the name of section %d is not UTF-8", i)
		}
		if err := r.check(s); err != nil {
			return message.Errorf("block: section %d, kind %d %q: %s", i, s.kind, s.name, err)
		}
	}
	return nil
}

func (r *Request) check(s section) error {
	switch s.kind {
	case kindCreated, kindWait, KindBackfillCreated:
		return checkColumn(column[float64](s.data), false)
	case KindAttribute, KindBackfillAttribute, KindPlayerAttribute, KindBackfillPlayerAttribute:
		return checkColumn(column[float64](s.data), true)
	case KindPool, KindBackfillPool:
		return checkPool(column[uint32](s.data), r.count(s.kind))
	case kindAsked:
		return checkPool(r.Asked, r.Tickets)
	case kindGone:
		return checkPool(r.Gone, r.First())
	case KindProperty, KindBackfillProperty, KindBackfillConnection, KindPlayerID, KindPlayerProperty,
		KindBackfillPlayerID, KindBackfillPlayerTeam, KindBackfillPlayerRole:
		return checkValues(s.data, r.count(s.kind))
	case kindPlayers:
		return checkPlayers(r.PlayerStarts)
	case kindBackfillPlayers:
		return checkRoster(r.BackfillPlayerStarts)
	case kindBackfillBarred:
		return r.checkBarred()
	}
	return nil
}

func checkColumn(values []float64, missing bool) error {
	for i, v := range values {
		if math.IsInf(v, 0) || math.IsNaN(v) && !missing {
			return message.Errorf("number %d is %v", i, v)
		}
	}
	return nil
}

func checkPool(pool []uint32, n int) error {
	for i, ticket := range pool {
		if uint64(ticket) >= uint64(n) {
			return message.Errorf("has number %d of %d", ticket, n)
		}
		if i > 0 && ticket <= pool[i-1] {
			return message.Errorf("has number %d after %d", ticket, pool[i-1])
		}
	}
	return nil
}

func checkValues(data []byte, n int) error {
	v := Values{data[:n*8], data[n*8:]}
	for i := range n {
		start, size := le.Uint32(v.spans[i*8:]), le.Uint32(v.spans[i*8+4:])
		if _, ok := v.At(i); !ok && (start != absent || size != 0) {
			return message.Errorf("value %d, %d bytes at %d, lies outside", i, size, start)
		}
	}
	return nil
}
