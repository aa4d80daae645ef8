package pool

// About how many bytes the index takes for things besides their contents: a ticket with its entry in the map (measured,
// with the map's spare room) and its slot, a property, a list of columns, a column with its entry in the map.
const (
	ticketOverhead   = 80 + 44 + 8
	propertyOverhead = 32
	listOverhead     = 48
	columnOverhead   = 200
)

// bytes is about how many bytes a ticket takes beside its columns.
func (t *ticket) bytes() int {
	n := ticketOverhead + roundUp(len(t.id)) + roundUp(len(t.rest)) + t.group.bytes()
	for _, p := range t.properties {
		n += propertyOverhead + roundUp(len(p.Value)) // tickets share the names
	}
	return n
}

func (l *columnList) bytes() int { return listOverhead + 8*len(l.columns) }

// roundUp is about how many bytes are allocated for n.
func roundUp(n int) int { return (n + 15) &^ 15 }

// Size is about how many bytes the index takes.
func (ix *Index) Size() int64 {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	n := ix.ticketBytes + 8*(cap(ix.created.keys)+cap(ix.slots)-len(ix.slots)+cap(ix.present)+cap(ix.spilled))
	n += 8*cap(ix.sizes.keys) + 4*cap(ix.sizes.slots)
	for _, c := range ix.columns {
		n += columnOverhead + roundUp(len(c.name)) + 8*cap(c.keys) + 4*cap(c.slots)
	}
	for name := range ix.names.interned {
		n += propertyOverhead + roundUp(len(name))
	}
	for key := range ix.names.lists {
		n += listOverhead + roundUp(len(key))
	}
	return int64(n + ix.queues.bytes())
}

// Names is how many attributes have a column.
func (ix *Index) Names() int {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return len(ix.columns)
}
