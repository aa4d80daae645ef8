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

	connections []byte
	sections    []section
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
		len(r.connections) < r.Backfills*8 {
		return nil, errors.New("block: without the backfill tickets' created, version and connection")
	}
	return r, nil
}

// hasValidLength reports whether a section has the length of its kind.
func (r *Request) hasValidLength(s section) bool {
	switch s.kind {
	case kindCreated, kindWait, kindAttribute:
		return len(s.data) == r.Tickets*8
	case kindBackfillCreated, kindBackfillVersion, kindBackfillAttribute:
		return len(s.data) == r.Backfills*8
	case kindProperty:
		return len(s.data) >= r.Tickets*8
	case kindBackfillProperty, kindBackfillConnection:
		return len(s.data) >= r.Backfills*8
	case kindPool, kindBackfillPool, kindGone, kindEnded, kindAsked:
		return len(s.data)%4 == 0
	case kindBase:
		return len(s.data) >= baseSize
	}
	return r.hasValidPlayers(s) && r.hasValidRoster(s)
}

func (r *Request) setColumn(s section) {
	switch s.kind {
	case kindConfig:
		r.Config = s.data
	case kindCreated:
		r.Created = column[float64](s.data)
	case kindWait:
		r.Wait = column[float64](s.data)
	case kindBackfillCreated:
		r.BackfillCreated = column[float64](s.data)
	case kindBackfillVersion:
		r.BackfillVersion = column[int64](s.data)
	case kindBackfillConnection:
		r.connections = s.data
	case kindBase:
		r.Base = readBase(s.data)
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
	case kindPlayerHandle:
		r.PlayerHandles = column[uint64](s.data)
		r.playerColumns = true
	case kindPlayerID, kindPlayerAttribute, kindPlayerProperty:
		r.playerColumns = true
	case kindBackfillPlayers:
		r.BackfillPlayerStarts = column[uint32](s.data)
	case kindBackfillPlayerHandle:
		r.BackfillPlayerHandles = column[uint64](s.data)
	case kindBackfillBarred:
		r.BackfillBarred = column[uint32](s.data)
	}
}

// Attributes yields the names of the tickets' attributes.
func (r *Request) Attributes() iter.Seq[string] { return r.names(kindAttribute) }

// Attribute returns the column of an attribute, with NaN for tickets without it; nil and false if the request has no
// such column.
func (r *Request) Attribute(name string) ([]float64, bool) {
	data, ok := r.find(kindAttribute, name)
	return column[float64](data), ok
}

// Properties yields the names of the tickets' properties.
func (r *Request) Properties() iter.Seq[string] { return r.names(kindProperty) }

// Property returns the column of a property.
func (r *Request) Property(name string) (Values, bool) {
	return r.values(kindProperty, name, r.Tickets)
}

// Pools yields the names of the pools of tickets.
func (r *Request) Pools() iter.Seq[string] { return r.names(kindPool) }

// Pool returns the numbers of a pool's tickets, ascending.
func (r *Request) Pool(name string) ([]uint32, bool) {
	data, ok := r.find(kindPool, name)
	return column[uint32](data), ok
}

// BackfillConnection returns the connections of the backfill tickets. It is absent while the server is being allocated.
func (r *Request) BackfillConnection() Values {
	return Values{r.connections[:r.Backfills*8], r.connections[r.Backfills*8:]}
}

// BackfillAttributes yields the names of the backfill tickets' attributes.
func (r *Request) BackfillAttributes() iter.Seq[string] { return r.names(kindBackfillAttribute) }

// BackfillAttribute is Attribute for the backfill tickets.
func (r *Request) BackfillAttribute(name string) ([]float64, bool) {
	data, ok := r.find(kindBackfillAttribute, name)
	return column[float64](data), ok
}

// BackfillProperties yields the names of the backfill tickets' properties.
func (r *Request) BackfillProperties() iter.Seq[string] { return r.names(kindBackfillProperty) }

// BackfillProperty is Property for the backfill tickets.
func (r *Request) BackfillProperty(name string) (Values, bool) {
	return r.values(kindBackfillProperty, name, r.Backfills)
}

// BackfillPools yields the names of the pools of backfill tickets.
func (r *Request) BackfillPools() iter.Seq[string] { return r.names(kindBackfillPool) }

// BackfillPool is Pool for the backfill tickets.
func (r *Request) BackfillPool(name string) ([]uint32, bool) {
	data, ok := r.find(kindBackfillPool, name)
	return column[uint32](data), ok
}

func (r *Request) names(kind uint32) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range r.sections {
			if s.kind == kind && !yield(string(s.name)) {
				return
			}
		}
	}
}

func (r *Request) find(kind uint32, name string) ([]byte, bool) {
	for _, s := range r.sections {
		if s.kind == kind && string(s.name) == name {
			return s.data, true
		}
	}
	return nil, false
}

func (r *Request) values(kind uint32, name string, n int) (Values, bool) {
	data, ok := r.find(kind, name)
	if !ok {
		return Values{}, false
	}
	return Values{data[:n*8], data[n*8:]}, true
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
		if s.kind <= kindPlayerProperty && seen[key] {
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
	case kindCreated, kindWait, kindBackfillCreated:
		return checkColumn(column[float64](s.data), false)
	case kindAttribute, kindBackfillAttribute:
		return checkColumn(column[float64](s.data), true)
	case kindPool:
		return checkPool(column[uint32](s.data), r.Tickets)
	case kindBackfillPool:
		return checkPool(column[uint32](s.data), r.Backfills)
	case kindAsked:
		return checkPool(r.Asked, r.Tickets)
	case kindGone:
		return checkPool(r.Gone, r.First())
	case kindProperty:
		return checkValues(s.data, r.Tickets)
	case kindBackfillProperty, kindBackfillConnection:
		return checkValues(s.data, r.Backfills)
	case kindPlayers:
		return checkPlayers(r.PlayerStarts)
	case kindPlayerAttribute:
		return checkColumn(column[float64](s.data), true)
	case kindPlayerID, kindPlayerProperty:
		return checkValues(s.data, r.Players())
	case kindBackfillPlayers:
		return checkRoster(r.BackfillPlayerStarts)
	case kindBackfillPlayerAttribute:
		return checkColumn(column[float64](s.data), true)
	case kindBackfillPlayerID, kindBackfillPlayerTeam, kindBackfillPlayerRole:
		return checkValues(s.data, r.BackfillPlayers())
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
