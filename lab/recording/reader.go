package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
)

// Reader reads a recording. It keeps one block in memory.
type Reader struct {
	in      *bufio.Reader
	decoder *zstd.Decoder
	version uint64
	id      ID
	raw     []byte
	block   block
	left    int // events of the block
	all     uint64
	ended   bool
}

// block is a block that is being read.
type block struct {
	columns
	version   uint64
	textTable []string
	listTable [][]string
	err       error

	time                  int64
	ticket, match, player uint64
}

// NewReader begins to read. The error says that it is no recording, or one of a later version.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: bufio.NewReader(in)}
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(r.in, begin); err != nil || string(begin) != magic {
		return nil, corrupt("it does not begin as one")
	}
	var err error
	if r.version, err = binary.ReadUvarint(r.in); err != nil || r.version < bare || r.version > version {
		return nil, corrupt("it has the version %d of the format, and this program reads %d to %d", r.version, bare, version)
	}
	if r.version > bare {
		if _, err := io.ReadFull(r.in, r.id[:]); err != nil {
			return nil, ErrIncomplete
		}
	}
	r.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRaw))
	return r, err
}

// Close gives memory back.
func (r *Reader) Close() { r.decoder.Close() }

// ID is the ID of the recording; zero for a file of version 1.
func (r *Reader) ID() ID { return r.id }

// Next returns the next event. It is valid until the next call. The error is io.EOF at the end, and ErrIncomplete where
// the end is missing.
func (r *Reader) Next() (*Event, error) {
	if r.left == 0 {
		if r.ended {
			return nil, io.EOF
		}
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	r.left--
	e := r.block.event()
	if r.block.err != nil {
		return nil, r.block.err
	}
	if r.left == 0 && r.block.size() > 0 {
		return nil, corrupt("a block has more than its events")
	}
	return e, nil
}

// next reads the next block.
func (r *Reader) next() error {
	number := func() uint64 {
		n, err := binary.ReadUvarint(r.in)
		if err != nil {
			return math.MaxUint64
		}
		return n
	}
	if _, err := r.in.Peek(1); errors.Is(err, io.EOF) {
		return ErrIncomplete
	}
	events := number()
	if events == 0 {
		switch n, err := binary.ReadUvarint(r.in); {
		case err != nil:
			return ErrIncomplete
		case n != r.all:
			return corrupt("it has %d events, and says %d", r.all, n)
		}
		r.ended = true
		return io.EOF
	}
	size, packed := number(), number()
	if events > maxEvents || size > maxRaw || packed > maxRaw {
		return r.broken("a block is too large")
	}
	text := make([]byte, packed)
	if _, err := io.ReadFull(r.in, text); err != nil {
		return ErrIncomplete
	}
	raw, err := r.decoder.DecodeAll(text, r.raw[:0])
	if err != nil || uint64(len(raw)) != size {
		return corrupt("a block cannot be decompressed")
	}
	r.raw = raw
	r.block = block{version: r.version}
	if err := r.block.open(raw); err != nil {
		return err
	}
	if uint64(len(r.block.kinds)) != events {
		return corrupt("a block has %d events, and says %d", len(r.block.kinds), events)
	}
	r.left = int(events)
	r.all += events
	return nil
}

// broken is an error, or ErrIncomplete if the file ends.
func (r *Reader) broken(why string) error {
	if _, err := r.in.Peek(1); errors.Is(err, io.EOF) {
		return ErrIncomplete
	}
	return corrupt("%s", why)
}

// open divides a block into its columns, and reads its tables.
func (b *block) open(raw []byte) error {
	all := b.all()
	if b.version == bare {
		all = all[:len(all)-2]
	}
	for _, column := range all {
		n, used := binary.Uvarint(raw)
		if used <= 0 || n > uint64(len(raw)-used) {
			return corrupt("a column is too short")
		}
		*column, raw = raw[used:used+int(n)], raw[used+int(n):]
	}
	if len(raw) > 0 {
		return corrupt("a block has more than its columns")
	}
	for len(b.texts) > 0 && b.err == nil {
		n := b.count(&b.texts, maxText)
		if n > len(b.texts) || len(b.textTable) == maxTexts {
			return corrupt("the table of texts is too short, or too long")
		}
		b.textTable, b.texts = append(b.textTable, string(b.texts[:n])), b.texts[n:]
	}
	for len(b.lists) > 0 && b.err == nil {
		n := b.count(&b.lists, maxNames)
		if len(b.listTable) == maxLists {
			return corrupt("the table of lists is too long")
		}
		list := make([]string, n)
		for i := range list {
			list[i] = b.text(&b.lists)
		}
		b.listTable = append(b.listTable, list)
	}
	return b.err
}

// fail notes what is wrong first.
func (b *block) fail(format string, args ...any) {
	if b.err == nil {
		b.err = corrupt(format, args...)
	}
}

// number reads a number of a column.
func (b *block) number(column *[]byte) uint64 {
	n, used := binary.Uvarint(*column)
	if used <= 0 {
		b.fail("a column ends too early")
		return 0
	}
	*column = (*column)[used:]
	return n
}

// count reads how many there are of something, of which each takes at least a byte of some column.
func (b *block) count(column *[]byte, most int) int {
	n := b.number(column)
	if n > uint64(most) {
		b.fail("it has %d of what at most %d are allowed", n, most)
		return 0
	}
	return int(n)
}

// difference reads a number that is relative to another.
func (b *block) difference(column *[]byte, than uint64) uint64 {
	n, used := binary.Varint(*column)
	if used <= 0 {
		b.fail("a column ends too early")
		return 0
	}
	*column = (*column)[used:]
	return than + uint64(n)
}

// byte reads a byte.
func (b *block) byte(column *[]byte) byte {
	if len(*column) == 0 {
		b.fail("a column ends too early")
		return 0
	}
	first := (*column)[0]
	*column = (*column)[1:]
	return first
}

// text reads a text of the table.
func (b *block) text(column *[]byte) string {
	n := b.number(column)
	if n > uint64(len(b.textTable)) {
		b.fail("a text is not in the table")
		return ""
	}
	if n == 0 {
		return ""
	}
	return b.textTable[n-1]
}

// list reads a list of the table, which must not be changed.
func (b *block) list(column *[]byte) []string {
	n := b.number(column)
	if n > uint64(len(b.listTable)) {
		b.fail("a list is not in the table")
		return nil
	}
	if n == 0 {
		return nil
	}
	return b.listTable[n-1]
}

// event reads an event.
func (b *block) event() *Event {
	e := &Event{Kind: Kind(b.byte(&b.kinds))}
	b.time = int64(b.difference(&b.times, uint64(b.time)))
	e.Time = b.time
	for range b.count(&b.counts, maxTickets) {
		b.ticket = b.difference(&b.tickets, b.ticket)
		e.Tickets = append(e.Tickets, b.ticket)
		if b.err != nil {
			return nil
		}
	}
	b.match = b.difference(&b.matches, b.match)
	e.Match, e.Config = b.match, b.text(&b.configs)
	if e.Kind == Arrived {
		if len(e.Tickets) != 1 {
			b.fail("an arrival has %d tickets", len(e.Tickets))
		}
		e.Arrival = b.arrival()
	}
	return e
}

func (b *block) arrival() *Arrival {
	a := &Arrival{Known: b.byte(&b.known) != 0, Queues: b.list(&b.queues)}
	a.Attributes, a.Properties = b.attributesOf(&b.attributes), b.propertiesOf()
	for range b.count(&b.players, maxPlayers) {
		b.player = b.difference(&b.numbers, b.player)
		a.Players = append(a.Players,
			Player{Number: b.player, Attributes: b.attributesOf(&b.shapes), Properties: b.propertiesOf()})
		if b.err != nil {
			return nil
		}
	}
	return a
}

// attributesOf reads attributes, of which the names are in the table.
func (b *block) attributesOf(column *[]byte) (a Attributes) {
	a.Names = b.list(column)
	for range a.Names {
		a.Values = append(a.Values, b.value())
		if b.err != nil {
			return a
		}
	}
	return a
}

// propertiesOf reads properties, of which the names are in the table.
func (b *block) propertiesOf() (p Properties) {
	if b.version == bare {
		return p
	}
	p.Names = b.list(&b.properties)
	for range p.Names {
		n := b.count(&b.contents, maxValues)
		if n > len(b.contents) {
			b.fail("a property is longer than its column")
		}
		if b.err != nil {
			return p
		}
		p.Values, b.contents = append(p.Values, b.contents[:n:n]), b.contents[n:]
	}
	return p
}

// value reads a number.
func (b *block) value() float64 {
	n := b.number(&b.values)
	switch {
	case n&1 == 0:
		n >>= 1
		return float64(int64(n>>1) ^ -int64(n&1))
	case n != 1 || len(b.values) < 8:
		b.fail("a value is damaged")
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(b.values))
	b.values = b.values[8:]
	return v
}
