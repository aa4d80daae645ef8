package pool

import (
	"encoding/binary"
)

// The rest of a ticket is its values without a column: for each one the length of the name as a varint, the name, and
// the key in eight bytes.

const keySize = 8

// appendRest appends a value.
func appendRest(rest []byte, name string, k uint64) []byte {
	rest = append(binary.AppendUvarint(rest, uint64(len(name))), name...)
	return binary.LittleEndian.AppendUint64(rest, k)
}

// eachRest calls f with each value of a rest.
func eachRest(rest string, f func(name string, k uint64)) {
	for len(rest) > 0 {
		n, at := 0, 0
		for shift := 0; ; shift += 7 { // as binary.Uvarint, which reads no string
			b := rest[at]
			at++
			n |= int(b&0x7f) << shift
			if b < 0x80 {
				break
			}
		}
		name, raw := rest[at:at+n], rest[at+n:][:keySize]
		var k uint64
		for i := range keySize {
			k |= uint64(raw[i]) << (8 * i)
		}
		f(name, k)
		rest = rest[at+n+keySize:]
	}
}

// withoutRest removes the value of a name.
func withoutRest(rest []byte, without string) (kept []byte) {
	eachRest(string(rest), func(name string, k uint64) {
		if name != without {
			kept = appendRest(kept, name, k)
		}
	})
	return kept
}

// spill gives a ticket a rest, which may be empty.
func (ix *Index) spill(t *ticket, rest string) {
	if had := t.rest != ""; had && rest == "" {
		ix.spilled.remove(t.slot)
		if ix.spills--; ix.spills == 0 {
			ix.spilled = nil
		}
	} else if !had && rest != "" {
		if ix.spilled == nil {
			ix.spilled = make(bitset, len(ix.present))
		}
		ix.spilled.add(t.slot)
		ix.spills++
	}
	t.rest = rest
}

// respill finds the tickets with a rest again, after their slots changed.
func (ix *Index) respill() {
	if ix.spilled == nil {
		return
	}
	ix.spilled = make(bitset, len(ix.present))
	for _, t := range ix.slots {
		if t.rest != "" {
			ix.spilled.add(t.slot)
		}
	}
}

// collect makes columns of the values that tickets keep under these names. It returns how many values it looked at.
func (ix *Index) collect(names []string) (found map[string]*column, cells int) {
	found = make(map[string]*column, len(names))
	for _, name := range names {
		found[name] = &column{name: name}
	}
	for _, slot := range ix.spilled.appendTo(nil) {
		eachRest(ix.slots[slot].rest, func(name string, k uint64) {
			cells++
			if c := found[name]; c != nil {
				c.put(slot, k)
			}
		})
	}
	return found, cells
}
