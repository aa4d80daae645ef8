package block

import (
	"errors"
	"math"
	"unicode/utf8"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

// Meta describes the run of a request.
type Meta struct {
	// Now is the time of the run in Unix milliseconds.
	Now int64
	// Seed is the seed of the function's random numbers.
	Seed uint64
	// Budget is how long the run may take, in milliseconds.
	Budget uint32
	// Tickets and Backfills are the numbers of tickets and backfill tickets. The request numbers them from 0.
	Tickets, Backfills int
	// LeftOutAttributes and LeftOutProperties are how many names the tickets and backfill tickets have, at least, that
	// are not in the request although the function declares no names.
	LeftOutAttributes, LeftOutProperties int
}

// size is the length of the meta section. What is left out is written only if there is some, so that other requests are
// as they were before it existed.
func (m Meta) size() int {
	if m.LeftOutAttributes > 0 || m.LeftOutProperties > 0 {
		return metaSize + leftOutSize
	}
	return metaSize
}

// RequestBuilder writes requests into a buffer that it reuses. Its zero value is ready to use: call Start, then add the
// columns in any order, then call Finish. It does not allocate once the buffer is large enough.
//
// Fill a slice that a method returns completely before the next call, which may move the buffer. The slice is zeroed,
// except for columns after StartIn. Errors (a duplicate name, a request longer than MaxRequest) are reported by Finish.
type RequestBuilder struct {
	buf     []byte
	own     []byte // the reused buffer
	given   bool   // buf is the buffer of StartIn, not own
	meta    Meta
	entries []entry
	names   map[entryKey]struct{}
	created entry
	wait    entry
	columns []ValueColumn
	players int // of all tickets
	// backfillPlayers are the players in games.
	backfillPlayers int
	err             error
}

type entry struct {
	kind        uint32
	name        string
	start, size int
}

type entryKey struct {
	kind uint32
	name string
}

// Start begins a new request and discards the one before.
func (b *RequestBuilder) Start(m Meta) { b.StartIn(nil, m) }

// StartIn is Start for a request that is written into a given buffer, at an address that is a multiple of eight. The
// request moves to the builder's own buffer if it is longer than that. The builder reads back only the creation times.
func (b *RequestBuilder) StartIn(given []byte, m Meta) {
	b.buf, b.given = given[:0:len(given)], len(given) > 0
	if !b.given {
		b.buf = b.own[:0]
	}
	b.entries, b.err = b.entries[:0], nil
	if b.names == nil {
		b.names = map[entryKey]struct{}{}
	}
	clear(b.names)
	b.created, b.wait = entry{}, entry{}
	b.meta = m
	if m.Tickets < 0 || m.Backfills < 0 {
		b.fail(message.Errorf("block: %d tickets, %d backfill tickets", m.Tickets, m.Backfills))
		b.meta.Tickets, b.meta.Backfills = max(m.Tickets, 0), max(m.Backfills, 0)
	}
	b.players, b.backfillPlayers = b.meta.Tickets, 0
	b.extend(headerSize)
	meta := b.section(kindMeta, "", m.size())
	le.PutUint64(meta, uint64(m.Now))
	le.PutUint64(meta[8:], m.Seed)
	le.PutUint32(meta[16:], m.Budget)
	le.PutUint32(meta[20:], uint32(b.meta.Tickets))
	le.PutUint32(meta[24:], uint32(b.meta.Backfills))
	if len(meta) > metaSize {
		le.PutUint32(meta[metaSize:], uint32(m.LeftOutAttributes))
		le.PutUint32(meta[metaSize+4:], uint32(m.LeftOutProperties))
	}
	b.column(kindCreated, "", b.meta.Tickets*8)
	b.created = b.last()
	b.column(kindWait, "", b.meta.Tickets*8)
	b.wait = b.last()
}

// Config sets the config's settings, a JSON object. By default they are empty.
func (b *RequestBuilder) Config(json []byte) {
	copy(b.section(kindConfig, "", len(json)), json)
}

// Created returns the column of the tickets' creation times in Unix milliseconds. Finish computes the waits from it.
func (b *RequestBuilder) Created() []float64 {
	return column[float64](b.bytes(b.created))
}

// count is how many tickets, backfill tickets or players a column of a kind is about.
func (b *RequestBuilder) count(kind uint32) int {
	return countOf(kind, b.meta.Tickets, b.meta.Backfills, b.players, b.backfillPlayers)
}

// Numbers adds the column of an attribute, which must be NaN for those without it, or of when backfill tickets were
// created, which has no name.
func (b *RequestBuilder) Numbers(kind uint32, name string) []float64 {
	return column[float64](b.column(kind, name, b.count(kind)*8))
}

// Handles adds the handles of players.
func (b *RequestBuilder) Handles(kind uint32) []uint64 {
	return column[uint64](b.column(kind, "", b.count(kind)*8))
}

// Members adds a pool of n tickets or backfill tickets. Their numbers must be ascending and unique.
func (b *RequestBuilder) Members(kind uint32, name string, n int) []uint32 {
	return column[uint32](b.column(kind, name, max(n, 0)*4))
}

// Texts adds a column without a name whose values have so many bytes in all, such as ids: see Columns.
func (b *RequestBuilder) Texts(kind uint32, bytes int) *ValueColumn {
	return &b.Columns(kind, []string{""}, []int{bytes})[0]
}

// ValueColumn is a column of values of different lengths that is being filled.
type ValueColumn struct {
	spans, data []byte
	used        int
}

// Set copies a value. It returns false if there is no room for it, or no such number.
func (c *ValueColumn) Set(number int, value string) bool {
	if number < 0 || number >= len(c.spans)/8 || len(value) > len(c.data)-c.used {
		return false
	}
	le.PutUint32(c.spans[number*8:], uint32(c.used))
	le.PutUint32(c.spans[number*8+4:], uint32(len(value)))
	c.used += copy(c.data[c.used:], value)
	return true
}

// Columns adds the columns of several properties whose values have these lengths in all. They are filled together, in
// any order; a ticket or player whose value is not set has none. They are valid until the next call of the builder.
func (b *RequestBuilder) Columns(kind uint32, names []string, lengths []int) []ValueColumn {
	first, n := len(b.entries), b.count(kind)
	for i, name := range names {
		b.add(kind, name, n*8+lengths[i])
	}
	b.columns = b.columns[:0]
	for i := range names {
		var section []byte
		if b.err == nil {
			e := b.entries[first+i] // the buffer may have moved
			section = b.buf[e.start : e.start+e.size]
		} else {
			section = aligned(n*8 + lengths[i])
		}
		c := ValueColumn{spans: section[:n*8], data: section[n*8:]}
		for i := range n {
			le.PutUint32(c.spans[i*8:], absent)
			le.PutUint32(c.spans[i*8+4:], 0)
		}
		b.columns = append(b.columns, c)
	}
	return b.columns
}

// Reserve makes room for a request of n bytes, so that the buffer does not move while the request is written. A buffer
// that is much longer, because an earlier request was, is given back. Call it before Start.
func (b *RequestBuilder) Reserve(n int) {
	const keep = 1 << 20
	if most := max(4*n, keep); cap(b.own) < n || cap(b.own) > most {
		b.own = aligned(n)
	}
}

// BackfillVersion adds the backfill tickets' record versions.
func (b *RequestBuilder) BackfillVersion() []int64 {
	return column[int64](b.column(kindBackfillVersion, "", b.meta.Backfills*8))
}

// Finish returns the request. It is valid until the next Start.
func (b *RequestBuilder) Finish() ([]byte, error) {
	if b.err != nil {
		return nil, b.err
	}
	if b.meta.Backfills > 0 {
		for _, kind := range []uint32{KindBackfillCreated, kindBackfillVersion, KindBackfillConnection} {
			if _, ok := b.names[entryKey{kind: kind}]; !ok {
				return nil, message.Errorf("block: %d backfill tickets without section %d", b.meta.Backfills, kind)
			}
		}
	}
	created, wait := b.Created(), column[float64](b.bytes(b.wait))
	for i, c := range created[:len(wait)] {
		if c = (float64(b.meta.Now) - c) / 1000; c > 0 { // faster than max, which handles NaN and -0
			wait[i] = c
		} else {
			wait[i] = 0
		}
	}
	nameBytes := 0
	for _, e := range b.entries {
		nameBytes += len(e.name)
	}
	table := align8(len(b.buf))
	name := table + len(b.entries)*entrySize
	clear(b.extend(align8(name + nameBytes - table)))
	if b.err != nil {
		return nil, b.err
	}
	for i, e := range b.entries {
		putEntry(b.buf[table+i*entrySize:], e.kind, name, len(e.name), e.start, e.size)
		copy(b.buf[name:], e.name)
		name += len(e.name)
	}
	putHeader(b.buf, requestMagic, table, len(b.entries))
	return b.buf, nil
}

// Values adds the column of a property, or of connections, which have no name. of returns false where there is no
// value. Each value is copied before of is called again.
func (b *RequestBuilder) Values(kind uint32, name string, of func(number int) ([]byte, bool)) {
	n := b.count(kind)
	b.section(kind, name, n*8)
	if b.err != nil {
		return
	}
	index := len(b.entries) - 1
	e := b.entries[index]
	base := e.start + e.size
	for i := range n {
		start, size := uint32(absent), 0
		if value, ok := of(i); ok {
			if len(b.buf)+len(value) > MaxRequest {
				b.fail(errTooLong)
				return
			}
			start, size = uint32(len(b.buf)-base), len(value)
			b.reserve(len(b.buf) + size)
			b.buf = append(b.buf, value...)
		}
		le.PutUint32(b.buf[e.start+i*8:], start)
		le.PutUint32(b.buf[e.start+i*8+4:], uint32(size))
	}
	b.entries[index].size = len(b.buf) - e.start
}

var errTooLong = message.Errorf("block: a request of more than %d bytes", MaxRequest)

// section appends a section of zero bytes.
func (b *RequestBuilder) section(kind uint32, name string, size int) []byte {
	data := b.add(kind, name, size)
	clear(data)
	return data
}

// column appends a section of zero bytes. In a given buffer it is not cleared.
func (b *RequestBuilder) column(kind uint32, name string, size int) []byte {
	data := b.add(kind, name, size)
	if !b.given {
		clear(data)
	}
	return data
}

// add appends a section of arbitrary bytes.
func (b *RequestBuilder) add(kind uint32, name string, size int) []byte {
	key := entryKey{kind, name}
	if _, ok := b.names[key]; ok {
		b.fail(message.Errorf("block: section %d %q twice", kind, name))
	}
	if b.names == nil {
		b.fail(errors.New("block: a section before Start"))
		return make([]byte, size)
	}
	if len(name) > math.MaxUint16 || !utf8.ValidString(name) {
		b.fail(message.Errorf("block: the name %q is too long or not UTF-8", name))
	}
	b.names[key] = struct{}{}
	data := b.extend(size)
	b.entries = append(b.entries, entry{kind, name, len(b.buf) - len(data), len(data)})
	return data
}

func (b *RequestBuilder) last() entry {
	return b.entries[len(b.entries)-1]
}

func (b *RequestBuilder) bytes(e entry) []byte {
	if b.err != nil {
		return aligned(e.size)
	}
	return b.buf[e.start : e.start+e.size]
}

// extend appends size arbitrary bytes at the next multiple of eight. After an error it returns unused bytes, so that
// the caller can continue.
func (b *RequestBuilder) extend(size int) []byte {
	start := align8(len(b.buf))
	if b.err == nil && start+size > MaxRequest {
		b.fail(errTooLong)
	}
	if b.err != nil {
		return aligned(size)
	}
	b.reserve(start + size)
	end := len(b.buf)
	b.buf = b.buf[:start+size]
	clear(b.buf[end:start])
	return b.buf[start:]
}

// reserve grows the buffer to at least n bytes. It begins at a multiple of eight.
func (b *RequestBuilder) reserve(n int) {
	if n <= cap(b.buf) {
		return
	}
	before := b.buf
	if n > cap(b.own) {
		b.own = aligned(max(n, 2*cap(b.own)))
	}
	b.buf, b.given = b.own[:copy(b.own[:cap(b.own)], before)], false
}

func (b *RequestBuilder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// RequestSize computes the length of a request before it is written. Its zero value is a request without sections; add
// what the request will have, in any order.
type RequestSize struct {
	sections, names, bytes int64
	columns                int64
}

// Meta adds what every request has: the meta section, the config's settings, and the columns created and wait.
func (s *RequestSize) Meta(m Meta, settings int) {
	s.section("", m.size())
	s.section("", settings)
	for range 2 {
		s.section("", 8*m.Tickets)
	}
}

// Backfills adds the columns that backfill tickets always have; connections is how many bytes they have in all.
func (s *RequestSize) Backfills(n, connections int) {
	s.section("", 8*n)
	s.section("", 8*n)
	s.section("", 8*n+connections)
}

// Numbers adds n numbers of tickets or players: a pool, tickets that are barred, or where players start.
func (s *RequestSize) Numbers(name string, n int) { s.section(name, 4*n) }

// Column adds a column of n tickets or players: attributes, handles, or values that have so many bytes in all.
func (s *RequestSize) Column(name string, n, bytes int) {
	s.section(name, 8*n+bytes)
	s.columns++
}

// Bytes is the length of the request.
func (s *RequestSize) Bytes() int64 {
	return headerSize + s.bytes + align8(s.sections*entrySize+s.names)
}

// Columns is the number of attributes and properties.
func (s *RequestSize) Columns() int64 { return s.columns }

func (s *RequestSize) section(name string, bytes int) {
	s.sections++
	s.names += int64(len(name))
	s.bytes += align8(int64(bytes))
}
