package recording

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Writer writes a recording. It keeps one block in memory.
type Writer struct {
	out     *bufio.Writer
	id      ID
	encoder *zstd.Encoder
	columns columns
	events  int
	texts   map[string]uint64
	lists   map[string]uint64

	// what the numbers of the block are relative to
	time                  int64
	ticket, match, player uint64
	written               int64
	all                   uint64
}

// blockSize is when a block is written: far below what readers allow.
const blockSize = 4 << 20

// NewWriter begins a recording with an id of its own.
func NewWriter(out io.Writer) (*Writer, error) {
	var id ID
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	return newWriter(out, id)
}

func newWriter(out io.Writer, id ID) (*Writer, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	w := &Writer{out: bufio.NewWriter(out), id: id, encoder: encoder}
	w.begin()
	return w, w.write(append(binary.AppendUvarint([]byte(magic), version), id[:]...))
}

// ID is the ID of the recording.
func (w *Writer) ID() ID { return w.id }

// begin begins a block. Nothing in it refers to an earlier one.
func (w *Writer) begin() {
	for _, column := range w.columns.all() {
		*column = (*column)[:0]
	}
	w.events, w.texts, w.lists = 0, map[string]uint64{}, map[string]uint64{}
	w.time, w.ticket, w.match, w.player = 0, 0, 0, 0
}

// Size is how many bytes the file has so far, but for the events that are still in memory.
func (w *Writer) Size() int64 { return w.written }

func (w *Writer) write(bytes []byte) error {
	n, err := w.out.Write(bytes)
	w.written += int64(n)
	return err
}

// Add adds an event. One that exceeds a limit of the format is an error, and is not added.
func (w *Writer) Add(e *Event) error {
	if err := check(e); err != nil {
		return err
	}
	if w.events == maxEvents || w.columns.size() >= blockSize || len(w.texts)+mostTexts(e) > maxTexts ||
		len(w.lists)+mostLists(e) > maxLists {
		if err := w.flush(); err != nil {
			return err
		}
	}
	c := &w.columns
	w.events++
	c.kinds = append(c.kinds, byte(e.Kind))
	c.times, w.time = binary.AppendVarint(c.times, e.Time-w.time), e.Time
	c.counts = binary.AppendUvarint(c.counts, uint64(len(e.Tickets)))
	for _, ticket := range e.Tickets {
		c.tickets, w.ticket = difference(c.tickets, ticket, w.ticket), ticket
	}
	c.matches, w.match = difference(c.matches, e.Match, w.match), e.Match
	c.configs = binary.AppendUvarint(c.configs, w.text(e.Config))
	if e.Kind == Arrived {
		w.arrive(e.Arrival)
	}
	return nil
}

// arrive adds what came.
func (w *Writer) arrive(a *Arrival) {
	c := &w.columns
	known := byte(0)
	if a.Known {
		known = 1
	}
	c.known = append(c.known, known)
	c.queues = binary.AppendUvarint(c.queues, w.list(a.Queues))
	c.attributes = binary.AppendUvarint(c.attributes, w.list(a.Attributes.Names))
	w.values(a.Attributes.Values)
	w.properties(&a.Properties)
	c.players = binary.AppendUvarint(c.players, uint64(len(a.Players)))
	for i := range a.Players {
		p := &a.Players[i]
		c.numbers, w.player = difference(c.numbers, p.Number, w.player), p.Number
		c.shapes = binary.AppendUvarint(c.shapes, w.list(p.Attributes.Names))
		w.values(p.Attributes.Values)
		w.properties(&p.Properties)
	}
}

func (w *Writer) properties(p *Properties) {
	c := &w.columns
	c.properties = binary.AppendUvarint(c.properties, w.list(p.Names))
	for _, value := range p.Values {
		c.contents = append(binary.AppendUvarint(c.contents, uint64(len(value))), value...)
	}
}

// difference appends how much more a number is than another.
func difference(to []byte, number, than uint64) []byte {
	return binary.AppendVarint(to, int64(number-than))
}

// text is the number of a text in the block's table, 0 for "".
func (w *Writer) text(text string) uint64 {
	if text == "" {
		return 0
	}
	n, known := w.texts[text]
	if !known {
		n = uint64(len(w.texts) + 1)
		w.texts[text] = n
		w.columns.texts = append(binary.AppendUvarint(w.columns.texts, uint64(len(text))), text...)
	}
	return n
}

// list is the number of a list of texts in the block's table, 0 for an empty one.
func (w *Writer) list(texts []string) uint64 {
	if len(texts) == 0 {
		return 0
	}
	key := strings.Join(texts, "\x00")
	n, known := w.lists[key]
	if !known {
		n = uint64(len(w.lists) + 1)
		w.lists[key] = n
		numbers := make([]uint64, len(texts))
		for i, text := range texts {
			numbers[i] = w.text(text)
		}
		w.columns.lists = binary.AppendUvarint(w.columns.lists, uint64(len(texts)))
		for _, number := range numbers {
			w.columns.lists = binary.AppendUvarint(w.columns.lists, number)
		}
	}
	return n
}

// exactBelow is below which integers are written as such.
const exactBelow = 1 << 40

// values appends numbers: an integer as twice its zigzag form, any other number as a 1 and its bits.
func (w *Writer) values(values []float64) {
	for _, v := range values {
		if v == math.Trunc(v) && math.Abs(v) < exactBelow && !(v == 0 && math.Signbit(v)) {
			n := int64(v)
			w.columns.values = binary.AppendUvarint(w.columns.values, uint64(n<<1^n>>63)<<1)
			continue
		}
		w.columns.values = append(w.columns.values, 1)
		w.columns.values = binary.LittleEndian.AppendUint64(w.columns.values, math.Float64bits(v))
	}
}

// flush writes the block.
func (w *Writer) flush() error {
	if w.events == 0 {
		return nil
	}
	var raw []byte
	for _, column := range w.columns.all() {
		raw = append(binary.AppendUvarint(raw, uint64(len(*column))), *column...)
	}
	block := w.encoder.EncodeAll(raw, nil)
	w.all += uint64(w.events)
	head := binary.AppendUvarint(nil, uint64(w.events))
	head = binary.AppendUvarint(head, uint64(len(raw)))
	head = binary.AppendUvarint(head, uint64(len(block)))
	w.begin()
	return errors.Join(w.write(head), w.write(block))
}

// Close writes the end of the recording: a block without events, and how many there are in all.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.write(binary.AppendUvarint([]byte{0}, w.all)); err != nil {
		return err
	}
	return errors.Join(w.out.Flush(), w.encoder.Close())
}

// check is an error for an event that no reader takes.
func check(e *Event) error {
	switch a := e.Arrival; {
	case (e.Kind == Arrived) != (a != nil), a != nil && len(e.Tickets) != 1:
		return errors.New("recording: an arrival has one ticket, and other events have none that arrives")
	case len(e.Tickets) > maxTickets || a != nil && len(a.Players) > maxPlayers:
		return fmt.Errorf("recording: an event has %d tickets, at most %d are allowed, or too many players",
			len(e.Tickets), maxTickets)
	case len(e.Config) > maxText:
		return errors.New("recording: the id of a config is too long")
	case a == nil:
		return nil
	}
	if err := checkNames(e.Arrival.Queues); err != nil {
		return err
	}
	size := 0
	if err := errors.Join(e.Arrival.Attributes.check(), e.Arrival.Properties.check(&size)); err != nil {
		return err
	}
	for i := range e.Arrival.Players {
		p := &e.Arrival.Players[i]
		if err := errors.Join(p.Attributes.check(), p.Properties.check(&size)); err != nil {
			return err
		}
	}
	if mostTexts(e) > maxTexts || mostLists(e) > maxLists {
		return errors.New("recording: a ticket has too many names")
	}
	return nil
}

func (a *Attributes) check() error {
	if len(a.Names) != len(a.Values) {
		return errors.New("recording: attributes have as many names as values")
	}
	return checkNames(a.Names)
}

// check adds how many bytes the values have.
func (p *Properties) check(size *int) error {
	if len(p.Names) != len(p.Values) {
		return errors.New("recording: properties have as many names as values")
	}
	for _, value := range p.Values {
		*size += len(value)
	}
	if *size > maxValues {
		return fmt.Errorf("recording: the properties of a ticket have more than %d bytes", maxValues)
	}
	return checkNames(p.Names)
}

func checkNames(names []string) error {
	if len(names) > maxNames {
		return errors.New("recording: a list has too many names")
	}
	for _, name := range names {
		if name == "" || len(name) > maxText || strings.ContainsRune(name, 0) {
			return fmt.Errorf("recording: %.40q is no name of 1 to %d bytes", name, maxText)
		}
	}
	return nil
}

// mostTexts is how many texts an event adds to the table at most, and mostLists how many lists.
func mostTexts(e *Event) int {
	n := 1
	if a := e.Arrival; a != nil {
		n += len(a.Queues) + len(a.Attributes.Names) + len(a.Properties.Names)
		for i := range a.Players {
			n += len(a.Players[i].Attributes.Names) + len(a.Players[i].Properties.Names)
		}
	}
	return n
}

func mostLists(e *Event) int {
	if e.Arrival == nil {
		return 0
	}
	return 3 + 2*len(e.Arrival.Players)
}
