package crowd

import (
	"math"
	"sort"
)

// Place is a ticket's place in a line.
type Place struct {
	Value, Created float64
	Number         uint32
}

// before orders a line.
func (p Place) before(value float64, number uint32) bool {
	return p.Value < value || p.Value == value && p.Number < number
}

// Line is tickets sorted by value, and by number where values are equal. Its blocks are short, so that a ticket is
// added and removed in little time.
type Line struct {
	blocks []block
	size   int
}

// block is a part of a line, never empty.
type block struct {
	places []Place
	// oldest is not after the creation of any of its tickets.
	oldest float64
}

// most is how many places a block has, and loaded how many it has in a new line.
const (
	most   = 128
	loaded = 96
)

// Load makes a line of places that are in order.
func (l *Line) Load(places []Place) {
	l.blocks, l.size = make([]block, 0, len(places)/loaded+1), len(places)
	for len(places) > 0 {
		n := min(loaded, len(places))
		l.blocks = append(l.blocks, newBlock(places[:n]))
		places = places[n:]
	}
}

func newBlock(places []Place) block {
	b := block{places: append(make([]Place, 0, most), places...), oldest: math.Inf(1)}
	for _, p := range places {
		b.oldest = lesser(b.oldest, p.Created)
	}
	return b
}

// Len is the number of tickets.
func (l *Line) Len() int { return l.size }

// All calls f with the tickets in order.
func (l *Line) All(f func(Place)) {
	for i := range l.blocks {
		for _, p := range l.blocks[i].places {
			f(p)
		}
	}
}

// spot is where a place is, or would be: at may be the end of a block.
type spot struct{ block, at int }

// find finds the first place that is not before a value and a number.
func (l *Line) find(value float64, number uint32) spot {
	i := sort.Search(len(l.blocks), func(i int) bool {
		places := l.blocks[i].places
		return !places[len(places)-1].before(value, number)
	})
	if i == len(l.blocks) {
		return spot{i, 0}
	}
	places := l.blocks[i].places
	return spot{i, sort.Search(len(places), func(at int) bool { return !places[at].before(value, number) })}
}

// Insert adds a ticket, which the line must not have.
func (l *Line) Insert(p Place) {
	l.size++
	at := l.find(p.Value, p.Number)
	if at.block == len(l.blocks) {
		if at.block == 0 {
			l.blocks = append(l.blocks, newBlock([]Place{p}))
			return
		}
		at.block--
		at.at = len(l.blocks[at.block].places)
	}
	if b := &l.blocks[at.block]; len(b.places) == most {
		l.split(at.block)
		if at.at > most/2 {
			at = spot{at.block + 1, at.at - most/2}
		}
	}
	b := &l.blocks[at.block]
	b.places = append(b.places, Place{})
	copy(b.places[at.at+1:], b.places[at.at:])
	b.places[at.at] = p
	b.oldest = lesser(b.oldest, p.Created)
}

// split makes two blocks of a full one.
func (l *Line) split(i int) {
	places := l.blocks[i].places
	l.blocks = append(l.blocks, block{})
	copy(l.blocks[i+2:], l.blocks[i+1:])
	l.blocks[i+1] = newBlock(places[most/2:])
	l.blocks[i] = newBlock(places[:most/2])
}

// Remove removes a ticket, and returns whether the line had it.
func (l *Line) Remove(value float64, number uint32) bool {
	at := l.find(value, number)
	if at.block == len(l.blocks) {
		return false
	}
	b := &l.blocks[at.block]
	if p := b.places[at.at]; p.Value != value || p.Number != number {
		return false
	}
	l.size--
	b.places = append(b.places[:at.at], b.places[at.at+1:]...)
	if len(b.places) == 0 {
		l.blocks = append(l.blocks[:at.block], l.blocks[at.block+1:]...)
	}
	return true
}

// Below calls f with the tickets before a value and a number, the nearest first, until f returns false. It leaves out
// some of those that were created after created; with +Inf it has all.
func (l *Line) Below(value float64, number uint32, created float64, f func(Place) bool) {
	from := l.find(value, number)
	at := from.at
	for i := from.block; i >= 0; i-- {
		if i == len(l.blocks) {
			continue
		}
		b := &l.blocks[i]
		if i < from.block {
			at = len(b.places)
		}
		if b.oldest > created {
			continue
		}
		for at--; at >= 0; at-- {
			if !f(b.places[at]) {
				return
			}
		}
	}
}

// Above is Below for the tickets from a value and a number on.
func (l *Line) Above(value float64, number uint32, created float64, f func(Place) bool) {
	from := l.find(value, number)
	at := from.at
	for i := from.block; i < len(l.blocks); i++ {
		b := &l.blocks[i]
		if i > from.block {
			at = 0
		}
		if b.oldest > created {
			continue
		}
		for ; at < len(b.places); at++ {
			if !f(b.places[at]) {
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
