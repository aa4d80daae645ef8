package pool

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The field numbers of pb.Ticket that the index reads.
const (
	fieldOwner      = 2
	fieldCreated    = 3
	fieldNames      = 4
	fieldValues     = 5
	fieldProperties = 6
	fieldTrace      = 7
	fieldPlayers    = 8
	fieldQueues     = 9

	// Of pb.Player.
	fieldPlayerID         = 1
	fieldPlayerNames      = 2
	fieldPlayerValues     = 3
	fieldPlayerProperties = 4
)

// Property is an opaque value that a ticket's creator attached to it.
type Property struct{ Name, Value string }

// body is a decoded pb.Ticket. It is decoded by hand and reused, because a snapshot has millions of tickets and
// pb.Ticket allocates for every attribute. Names and properties alias the decoded bytes.
type body struct {
	created int64
	owner   []byte
	// players are none if the owner is the only one.
	players    []playerBody
	names      [][]byte
	values     []float64
	properties [][]byte
	trace      []byte
	queues     [][]byte
	// interned are names of properties, so that tickets share them.
	interned map[string]string
	// lists are names of players' attributes, so that players share them; latest is the one that was needed last.
	lists  map[string]*nameList
	latest *nameList
	key    []byte
}

// maxInterned is how many names of properties are shared. When players invent more of them it begins anew.
const maxInterned = 1024

// intern returns a name as a string that other tickets have, too.
func (b *body) intern(name []byte) string {
	if s, ok := b.interned[string(name)]; ok {
		return s
	}
	if len(b.interned) >= maxInterned || b.interned == nil {
		b.interned = map[string]string{}
	}
	s := string(name)
	b.interned[s] = s
	return s
}

// decode reads a marshalled pb.Ticket.
func (b *body) decode(raw []byte) error {
	b.created, b.names, b.values, b.properties = 0, b.names[:0], b.values[:0], b.properties[:0]
	b.trace, b.queues, b.owner, b.players = nil, b.queues[:0], nil, b.players[:0]
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return fmt.Errorf("ticket body: %w", protowire.ParseError(n))
		}
		raw = raw[n:]
		n = protowire.ConsumeFieldValue(number, kind, raw)
		if n < 0 {
			return fmt.Errorf("ticket body: field %d: %w", number, protowire.ParseError(n))
		}
		if err := b.field(number, kind, raw[:n]); err != nil {
			return fmt.Errorf("ticket body: field %d: %w", number, err)
		}
		raw = raw[n:]
	}
	if len(b.names) != len(b.values) {
		return fmt.Errorf("ticket body: %d attribute names and %d values", len(b.names), len(b.values))
	}
	if b.created < 0 || b.created >= createdLimit {
		return fmt.Errorf("ticket body: created %d is not a time in Unix milliseconds", b.created)
	}
	return nil
}

// field reads one field, whose value is complete. As always in protobuf, fields of other numbers or kinds are skipped.
func (b *body) field(number protowire.Number, kind protowire.Type, raw []byte) error {
	switch {
	case number == fieldCreated && kind == protowire.VarintType:
		v, _ := protowire.ConsumeVarint(raw)
		b.created = int64(v)
	case number == fieldNames && kind == protowire.BytesType:
		v, _ := protowire.ConsumeBytes(raw)
		b.names = append(b.names, v)
	case number == fieldValues:
		var err error
		if b.values, err = appendValues(b.values, kind, raw); err != nil {
			return err
		}
	case number == fieldProperties && kind == protowire.BytesType:
		v, _ := protowire.ConsumeBytes(raw)
		b.properties = append(b.properties, v)
	case number == fieldOwner && kind == protowire.BytesType:
		b.owner, _ = protowire.ConsumeBytes(raw)
	case number == fieldPlayers && kind == protowire.BytesType:
		v, _ := protowire.ConsumeBytes(raw)
		return b.player(v)
	case number == fieldTrace && kind == protowire.BytesType:
		b.trace, _ = protowire.ConsumeBytes(raw)
	case number == fieldQueues && kind == protowire.BytesType:
		v, _ := protowire.ConsumeBytes(raw)
		b.queues = append(b.queues, v)
	}
	return nil
}

// appendValues appends the values of a field of doubles, packed or not.
func appendValues(values []float64, kind protowire.Type, raw []byte) ([]float64, error) {
	switch kind {
	case protowire.Fixed64Type:
		v, _ := protowire.ConsumeFixed64(raw)
		values = append(values, math.Float64frombits(v))
	case protowire.BytesType:
		packed, _ := protowire.ConsumeBytes(raw)
		for len(packed) > 0 {
			v, n := protowire.ConsumeFixed64(packed)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			values = append(values, math.Float64frombits(v))
			packed = packed[n:]
		}
	}
	return values, nil
}

// player reads a marshalled pb.Player.
func (b *body) player(raw []byte) error {
	b.players = slices.Grow(b.players, 1)[:len(b.players)+1]
	p := &b.players[len(b.players)-1]
	*p = playerBody{names: p.names[:0], values: p.values[:0], properties: p.properties[:0]}
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return protowire.ParseError(n)
		}
		raw = raw[n:]
		if n = protowire.ConsumeFieldValue(number, kind, raw); n < 0 {
			return protowire.ParseError(n)
		}
		value := raw[:n]
		raw = raw[n:]
		if number == fieldPlayerValues {
			var err error
			if p.values, err = appendValues(p.values, kind, value); err != nil {
				return err
			}
		}
		if kind != protowire.BytesType {
			continue
		}
		switch v, _ := protowire.ConsumeBytes(value); number {
		case fieldPlayerID:
			p.id = v
		case fieldPlayerNames:
			p.names = append(p.names, v)
		case fieldPlayerProperties:
			p.properties = append(p.properties, v)
		}
	}
	if len(p.names) != len(p.values) {
		return fmt.Errorf("%d attribute names and %d values of a player", len(p.names), len(p.values))
	}
	return nil
}

// propertyList copies the properties out of the decoded bytes, ordered by name.
func (b *body) propertyList() ([]Property, error) { return b.listProperties(b.properties) }

func (b *body) listProperties(properties [][]byte) ([]Property, error) {
	if len(properties) == 0 {
		return nil, nil
	}
	list := make([]Property, 0, len(properties))
	for _, raw := range properties {
		p, err := b.property(raw)
		if err != nil {
			return nil, fmt.Errorf("ticket body: property: %w", err)
		}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	kept := list[:0]
	for i, p := range list {
		if i+1 < len(list) && list[i+1].Name == p.Name {
			continue // the last of a name wins
		}
		kept = append(kept, p)
	}
	return kept, nil
}

// property reads one entry of pb.Ticket's map of properties.
func (b *body) property(raw []byte) (Property, error) {
	var name, content []byte
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return Property{}, protowire.ParseError(n)
		}
		raw = raw[n:]
		n = protowire.ConsumeFieldValue(number, kind, raw)
		if n < 0 {
			return Property{}, protowire.ParseError(n)
		}
		if kind == protowire.BytesType {
			switch v, _ := protowire.ConsumeBytes(raw[:n]); number {
			case 1:
				name = v
			case 2:
				content = v
			}
		}
		raw = raw[n:]
	}
	return Property{b.intern(name), string(content)}, nil
}
