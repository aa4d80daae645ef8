package block

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

// section is one entry of a block's table.
type section struct {
	kind uint32
	name []byte
	data []byte
}

// parseTable reads the header and the table of a block, and appends its sections to into. Sections lie within the
// block, begin at multiples of eight and do not overlap.
func parseTable(block []byte, magic string, into []section) ([]section, error) {
	if len(block) < headerSize {
		return nil, message.Errorf("block: %d bytes are less than a header", len(block))
	}
	if string(block[:4]) != magic {
		return nil, message.Errorf("block: begins with %q, not %q", block[:4], magic)
	}
	if v := le.Uint32(block[4:]); v != Version {
		return nil, message.Errorf("block: version %d, not %d", v, Version)
	}
	if n := le.Uint32(block[8:]); uint64(n) != uint64(len(block)) || n%8 != 0 {
		return nil, message.Errorf("block: says that it is %d bytes long, is %d, and has to be a multiple of 8", n,
			len(block))
	}
	table, count := uint64(le.Uint32(block[12:])), uint64(le.Uint32(block[16:]))
	if table%8 != 0 || table < headerSize || table+count*entrySize > uint64(len(block)) {
		return nil, message.Errorf("block: a table of %d sections at %d does not fit into %d bytes", count, table, len(block))
	}
	into = slices.Grow(into, int(count)) // they fit into the block
	end := uint64(headerSize)
	for i := range count {
		entry := block[table+i*entrySize:][:entrySize]
		nameStart, nameSize := uint64(le.Uint32(entry[4:])), uint64(le.Uint32(entry[8:]))
		start, size := uint64(le.Uint32(entry[12:])), uint64(le.Uint32(entry[16:]))
		if nameStart+nameSize > uint64(len(block)) {
			return nil, message.Errorf("block: the name of section %d lies outside", i)
		}
		if start%8 != 0 || start < end || start+size > table {
			return nil, message.Errorf("block: section %d, %d bytes at %d, is misaligned, overlaps or lies outside", i, size,
				start)
		}
		end = start + size
		into = append(into, section{
			kind: le.Uint32(entry),
			name: block[nameStart : nameStart+nameSize],
			data: block[start:end:end],
		})
	}
	return into, nil
}

// putHeader writes the header of a finished block.
func putHeader(block []byte, magic string, table, sections int) {
	copy(block, magic)
	le.PutUint32(block[4:], Version)
	le.PutUint32(block[8:], uint32(len(block)))
	le.PutUint32(block[12:], uint32(table))
	le.PutUint32(block[16:], uint32(sections))
	le.PutUint32(block[20:], 0)
}

// putEntry writes one entry of the table.
func putEntry(entry []byte, kind uint32, nameStart, nameSize, start, size int) {
	le.PutUint32(entry, kind)
	le.PutUint32(entry[4:], uint32(nameStart))
	le.PutUint32(entry[8:], uint32(nameSize))
	le.PutUint32(entry[12:], uint32(start))
	le.PutUint32(entry[16:], uint32(size))
	le.PutUint32(entry[20:], 0)
}
