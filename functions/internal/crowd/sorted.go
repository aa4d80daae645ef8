package crowd

import (
	"math"
	"sort"
)

// Entry is a ticket's place in a list.
type Entry struct {
	Value, Created float64
	Number         uint32
	Size           uint32 // players
}

// before orders a list.
func (p Entry) before(other Entry) bool {
	if p.Value != other.Value {
		return p.Value < other.Value
	}
	return p.Created < other.Created || p.Created == other.Created && p.Number < other.Number
}

// Sorted is tickets sorted by value, and by creation where values are equal: numbers depend on when tickets came. Its
// blocks are short, so that a ticket is added and removed in little time.
type Sorted struct {
	blocks []block
}

// block is a part of a list, never empty.
type block struct {
	entries []Entry
	// oldest is not after the creation of any of its tickets.
	oldest float64
}

// most is how many places a block has, and loaded how many it has in a new list.
const (
	most   = 128
	loaded = 112
)

// Load makes a list of n places, which next returns in order.
func (l *Sorted) Load(n int, next func() Entry) {
	*l = Sorted{}
	var entries [loaded]Entry
	for ; n > 0; n -= min(loaded, n) {
		of := entries[:min(loaded, n)]
		for i := range of {
			of[i] = next()
		}
		l.blocks = append(l.blocks, newBlock(of))
	}
}

func newBlock(entries []Entry) block {
	b := block{entries: append(make([]Entry, 0, most), entries...), oldest: math.Inf(1)}
	for _, p := range entries {
		b.oldest = lesser(b.oldest, p.Created)
	}
	return b
}

// Up calls f with the tickets in order, and Down in the opposite one.
func (l *Sorted) Up(f func(Entry)) {
	for i := range l.blocks {
		for _, p := range l.blocks[i].entries {
			f(p)
		}
	}
}

// Down is described at Up.
func (l *Sorted) Down(f func(Entry)) {
	for i := len(l.blocks) - 1; i >= 0; i-- {
		entries := l.blocks[i].entries
		for at := len(entries) - 1; at >= 0; at-- {
			f(entries[at])
		}
	}
}

// spot is where a place is, or would be: at may be the end of a block.
type spot struct{ block, at int }

// find finds the first place that is not before another.
func (l *Sorted) find(p Entry) spot {
	i := sort.Search(len(l.blocks), func(i int) bool {
		entries := l.blocks[i].entries
		return !entries[len(entries)-1].before(p)
	})
	if i == len(l.blocks) {
		return spot{i, 0}
	}
	entries := l.blocks[i].entries
	return spot{i, sort.Search(len(entries), func(at int) bool { return !entries[at].before(p) })}
}

// Insert adds a ticket, which the list must not have.
func (l *Sorted) Insert(p Entry) {
	at := l.find(p)
	if at.block == len(l.blocks) {
		if at.block == 0 {
			l.blocks = append(l.blocks, newBlock([]Entry{p}))
			return
		}
		at.block--
		at.at = len(l.blocks[at.block].entries)
	}
	if b := &l.blocks[at.block]; len(b.entries) == most {
		l.split(at.block)
		if at.at > most/2 {
			at = spot{at.block + 1, at.at - most/2}
		}
	}
	b := &l.blocks[at.block]
	b.entries = append(b.entries, Entry{})
	copy(b.entries[at.at+1:], b.entries[at.at:])
	b.entries[at.at] = p
	b.oldest = lesser(b.oldest, p.Created)
}

// split makes two blocks of a full one.
func (l *Sorted) split(i int) {
	entries := l.blocks[i].entries
	l.blocks = append(l.blocks, block{})
	copy(l.blocks[i+2:], l.blocks[i+1:])
	l.blocks[i+1] = newBlock(entries[most/2:])
	l.blocks[i] = newBlock(entries[:most/2])
}

// Remove removes a ticket, and returns whether the list had it.
func (l *Sorted) Remove(p Entry) bool {
	at := l.find(p)
	if at.block == len(l.blocks) {
		return false
	}
	b := &l.blocks[at.block]
	if b.entries[at.at].Number != p.Number {
		return false
	}
	b.entries = append(b.entries[:at.at], b.entries[at.at+1:]...)
	if len(b.entries) == 0 {
		l.blocks = append(l.blocks[:at.block], l.blocks[at.block+1:]...)
	}
	return true
}

// Skip reports whether a look leaves out a block: oldest is a time before which none of its tickets was created,
// nearest its first place on the way.
type Skip func(oldest float64, nearest Entry) bool

// After leaves out blocks of which all tickets were created after a time.
func After(created float64) Skip {
	return func(oldest float64, _ Entry) bool { return oldest > created }
}

// Below calls f with the tickets before a place, the nearest first, until f returns false. It leaves out the blocks
// that are skipped; nil skips none.
func (l *Sorted) Below(p Entry, skip Skip, f func(Entry) bool) {
	from := l.find(p)
	for i := min(from.block, len(l.blocks)-1); i >= 0; i-- {
		entries := l.blocks[i].entries
		if i == from.block {
			entries = entries[:from.at]
		}
		if len(entries) == 0 || skip != nil && skip(l.blocks[i].oldest, entries[len(entries)-1]) {
			continue
		}
		for at := len(entries) - 1; at >= 0; at-- {
			if !f(entries[at]) {
				return
			}
		}
	}
}

// Above is Below for the tickets from a place on.
func (l *Sorted) Above(p Entry, skip Skip, f func(Entry) bool) {
	from := l.find(p)
	for i := from.block; i < len(l.blocks); i++ {
		entries := l.blocks[i].entries
		if i == from.block {
			entries = entries[from.at:]
		}
		if skip != nil && skip(l.blocks[i].oldest, entries[0]) {
			continue
		}
		for _, p := range entries {
			if !f(p) {
				return
			}
		}
	}
}

// lesser is min without its call in WebAssembly.
func lesser(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}
