package pool

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A saved index is a byte of flags, the seed, the number of tickets as a varint, and the tickets. Each is its length as
// a varint, and a record: the length of its id as a varint, the id, the handle of an owner whose id is not known in
// eight bytes, and what a pb.Ticket has of it. So Load checks all that Put checks.
const (
	savedOwners = 1 // the flag of an index that keeps the ids of owners

	maxRecord = 256 << 10
	// roomAtOnce is for how many tickets Load makes room before it has read any.
	roomAtOnce = 1 << 20
)

// Save writes all tickets, for Load. It writes about 64 KiB at once.
func (ix *Index) Save(w io.Writer) error {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	var flags byte
	if ix.owners {
		flags |= savedOwners
	}
	out := bufio.NewWriterSize(w, 64<<10)
	head := binary.AppendUvarint(ix.players.seed.appendTo([]byte{flags}), uint64(len(ix.tickets)))
	if _, err := out.Write(head); err != nil {
		return err
	}
	var record, length []byte
	for _, t := range ix.slots {
		if t == nil {
			continue
		}
		if record = ix.appendRecord(record[:0], t); len(record) > maxRecord {
			return fmt.Errorf("the record of a ticket has %d bytes, more than %d", len(record), maxRecord)
		}
		length = binary.AppendUvarint(length[:0], uint64(len(record)))
		if _, err := out.Write(length); err != nil {
			return err
		}
		if _, err := out.Write(record); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (ix *Index) appendRecord(b []byte, t *ticket) []byte {
	b = protowire.AppendString(b, t.id)
	b = binary.LittleEndian.AppendUint64(b, t.player)
	b = protowire.AppendTag(b, fieldCreated, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(createdOf(ix.created.keys[t.slot])))
	for _, c := range t.list.columns {
		b = appendNumber(b, fieldNames, c.name, fieldValues, value(c.keyAt(t.slot)))
	}
	eachRest(t.rest, func(name string, k uint64) {
		b = appendNumber(b, fieldNames, name, fieldValues, value(k))
	})
	b = appendProperties(b, fieldProperties, t.properties)
	if len(ix.traced) > 0 {
		if span, ok := ix.traced[t]; ok {
			b = appendField(b, fieldTrace, span)
		}
	}
	if t.queues != nil {
		for _, q := range t.queues.queues {
			b = appendField(b, fieldQueues, q.name)
		}
	}
	switch {
	case t.group == nil:
	case t.group.implied:
		b = appendField(b, fieldOwner, t.group.members[0].id)
	default:
		for i := range t.group.members {
			b = appendMember(b, &t.group.members[i])
		}
	}
	return b
}

func appendMember(b []byte, m *member) []byte {
	player := appendField(nil, fieldPlayerID, m.id)
	for i, v := range m.values {
		player = appendNumber(player, fieldPlayerNames, m.names.names[i], fieldPlayerValues, v)
	}
	player = appendProperties(player, fieldPlayerProperties, m.properties)
	return protowire.AppendBytes(protowire.AppendTag(b, fieldPlayers, protowire.BytesType), player)
}

func appendProperties(b []byte, field protowire.Number, properties []Property) []byte {
	for _, p := range properties {
		b = protowire.AppendTag(b, field, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(2+protowire.SizeBytes(len(p.Name))+protowire.SizeBytes(len(p.Value))))
		b = appendField(b, 1, p.Name)
		b = appendField(b, 2, p.Value)
	}
	return b
}

func appendField(b []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), text)
}

// appendNumber appends an attribute: its name in one field, its value in another.
func appendNumber(b []byte, names protowire.Number, name string, values protowire.Number, v float64) []byte {
	b = protowire.AppendTag(appendField(b, names, name), values, protowire.Fixed64Type)
	return protowire.AppendFixed64(b, math.Float64bits(v))
}

// keyAt is the key of a slot that has one.
func (c *column) keyAt(slot uint32) uint64 {
	if c.dense {
		return c.keys[slot]
	}
	i, _ := slices.BinarySearch(c.slots, slot)
	return c.keys[i]
}

// Load fills an empty index with what Save wrote. After an error it is empty again. An index that keeps the ids of
// owners takes only what one wrote that kept them; one that does not keeps them from then on if the other did.
func (ix *Index) Load(r io.Reader) error {
	err := ix.load(bufio.NewReaderSize(r, maxRecord))
	if err != nil {
		ix.Reset()
	}
	return err
}

func (ix *Index) load(in *bufio.Reader) error {
	var head [1 + seedSize]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return fmt.Errorf("a saved index: %w", err)
	}
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return fmt.Errorf("a saved index: %w", err)
	}
	if err := ix.prepare(head[0], seedIn(head[1:]), n); err != nil {
		return err
	}
	for range n {
		length, err := binary.ReadUvarint(in)
		if err != nil {
			return fmt.Errorf("a saved index: %w", err)
		}
		if length > maxRecord {
			return fmt.Errorf("a saved index: a ticket of %d bytes, more than %d", length, maxRecord)
		}
		record, err := in.Peek(int(length))
		if err != nil {
			return fmt.Errorf("a saved index: %w", err)
		}
		if err := ix.loadRecord(record); err != nil {
			return err
		}
		_, _ = in.Discard(int(length)) // it was peeked at
	}
	if uint64(ix.Len()) != n {
		return errors.New("a saved index: a ticket twice")
	}
	_, err = in.ReadByte()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return errors.Join(errors.New("a saved index: more than its tickets"), err)
}

// prepare makes room for n tickets.
func (ix *Index) prepare(flags byte, s seed, n uint64) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	kept := flags&savedOwners != 0
	switch {
	case len(ix.slots) > 0:
		return errors.New("a saved index is for an empty one")
	case flags&^savedOwners != 0:
		return fmt.Errorf("a saved index: unknown flags %x", flags)
	case ix.owners && !kept:
		return errors.New("a saved index without the ids of owners")
	}
	ix.owners = kept
	room := int(min(n, roomAtOnce))
	ix.players = players{seed: s, of: make(map[uint64]uint32, room)}
	ix.tickets, ix.slots = make(map[string]*ticket, room), make([]*ticket, 0, room)
	ix.created.keys = make([]uint64, 0, room+wordSlots)
	return nil
}

func (ix *Index) loadRecord(record []byte) error {
	n, size := binary.Uvarint(record)
	const handle = 8
	if size <= 0 || n > uint64(len(record)) || len(record)-size < int(n)+handle {
		return errors.New("a saved index: a ticket that is too short")
	}
	id, rest := string(record[size:][:n]), record[size+int(n):]
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if err := ix.put(id, rest[handle:], binary.LittleEndian.Uint64(rest)); err != nil {
		return fmt.Errorf("a saved index: %w", err)
	}
	return nil
}
