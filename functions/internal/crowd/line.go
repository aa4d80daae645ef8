package crowd

import (
	"math"
	"sort"
)

// Place is a ticket's place in a line.
type Place struct {
	Value, Created float64
	Number         uint32
	Size           uint32 // players
}

// before orders a line.
func (p Place) before(other Place) bool {
	if p.Value != other.Value {
		return p.Value < other.Value
	}
	return p.Created < other.Created || p.Created == other.Created && p.Number < other.Number
}

// Line is tickets sorted by value, and by creation where values are equal: numbers depend on when tickets came. Its
// blocks are short, so that a ticket is added and removed in little time.
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
	loaded = 112
)

// Load makes a line of n places, which next returns in order.
func (l *Line) Load(n int, next func() Place) {
	*l = Line{blocks: make([]block, 0, n/loaded+1), size: n}
	for n > 0 {
		b := block{places: make([]Place, min(loaded, n), most), oldest: math.Inf(1)}
		for i := range b.places {
			b.places[i] = next()
			b.oldest = lesser(b.oldest, b.places[i].Created)
		}
		l.blocks = append(l.blocks, b)
		n -= len(b.places)
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

// Up calls f with the tickets in order, and Down in the opposite one.
func (l *Line) Up(f func(Place)) {
	for i := range l.blocks {
		for _, p := range l.blocks[i].places {
			f(p)
		}
	}
}

// Down is described at Up.
func (l *Line) Down(f func(Place)) {
	for i := len(l.blocks) - 1; i >= 0; i-- {
		places := l.blocks[i].places
		for at := len(places) - 1; at >= 0; at-- {
			f(places[at])
		}
	}
}

// spot is where a place is, or would be: at may be the end of a block.
type spot struct{ block, at int }

// find finds the first place that is not before another.
func (l *Line) find(p Place) spot {
	i := sort.Search(len(l.blocks), func(i int) bool {
		places := l.blocks[i].places
		return !places[len(places)-1].before(p)
	})
	if i == len(l.blocks) {
		return spot{i, 0}
	}
	places := l.blocks[i].places
	return spot{i, sort.Search(len(places), func(at int) bool { return !places[at].before(p) })}
}

// Insert adds a ticket, which the line must not have.
func (l *Line) Insert(p Place) {
	l.size++
	at := l.find(p)
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
func (l *Line) Remove(p Place) bool {
	at := l.find(p)
	if at.block == len(l.blocks) {
		return false
	}
	b := &l.blocks[at.block]
	if b.places[at.at].Number != p.Number {
		return false
	}
	l.size--
	b.places = append(b.places[:at.at], b.places[at.at+1:]...)
	if len(b.places) == 0 {
		l.blocks = append(l.blocks[:at.block], l.blocks[at.block+1:]...)
	}
	return true
}

// Below calls f with the tickets before a place, the nearest first, until f returns false. It leaves out
// some of those that were created after created; with +Inf it has all.
func (l *Line) Below(p Place, created float64, f func(Place) bool) {
	from := l.find(p)
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

// Above is Below for the tickets from a place on.
func (l *Line) Above(p Place, created float64, f func(Place) bool) {
	from := l.find(p)
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
