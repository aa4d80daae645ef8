package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Class names tickets that are alike: those that the same pools have.
type Class uint64

// Limits of a book.
const (
	// Tracked is how many tickets are tracked at a time.
	Tracked = 2048
	// Classes is of how many classes something is known.
	Classes = 32
)

// forgotten is the weight of a class below which it is taken for empty.
const forgotten = 0.1

// life is for how many seconds tickets are tracked at least, on average, when there is room for no more: some make room
// for newer ones. Which ones does not depend on how long they wait, so the others stand for them.
const life = 600

// Book follows some of the tickets of a project, and knows how long each class waited lately. Its methods expect events
// in the order of time, in Unix milliseconds.
type Book struct {
	now     int64
	waits   map[Class]*Wait
	parts   map[Class]*[parts]int64 // of forecasts since the last Advance
	tickets map[string]*ticket
	order   []*ticket
	// room is how many tickets may make room for others now.
	room float64
	rand *rand.Rand
}

// ticket is one that is tracked.
type ticket struct {
	id      string
	at      int // in order
	class   Class
	created int64
	// counted is up to when its waiting is in the evidence.
	counted int64
	matched bool
	// parts of its forecast, if it had one, and in which of them it is.
	parts *[parts]int64
	part  int
}

// NewBook makes an empty book. seed is for the choice of tickets that make room.
func NewBook(now int64, seed uint64) *Book {
	return &Book{now: now, waits: map[Class]*Wait{}, parts: map[Class]*[parts]int64{}, tickets: map[string]*ticket{},
		rand: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // no secret
}

// Wait is what is known of a class, nil for nothing.
func (b *Book) Wait(c Class) *Wait { return b.waits[c] }

// Room is how many more tickets can be tracked now.
func (b *Book) Room() int { return Tracked - len(b.order) + int(b.room) }

// Tracks is how many tickets are tracked.
func (b *Book) Tracks() int { return len(b.order) }

// Lose gives up all tickets that are tracked: it is not known what became of them since the last Advance.
func (b *Book) Lose() {
	b.tickets, b.order = map[string]*ticket{}, nil
}

// Advance says that everything up to a time has been told.
func (b *Book) Advance(now int64) {
	if now <= b.now {
		return
	}
	for _, t := range b.order {
		b.count(t, now)
	}
	elapsed := seconds(now - b.now)
	b.now = now
	for class, w := range b.waits {
		w.fade(elapsed)
		if w.weight() < forgotten && !b.tracks(class) {
			delete(b.waits, class)
		}
	}
	clear(b.parts)
	b.room = min(Tracked/10, b.room+elapsed*Tracked/life)
}

// tracks reports whether a ticket of a class is tracked.
func (b *Book) tracks(class Class) bool {
	return slices.ContainsFunc(b.order, func(t *ticket) bool { return t.class == class })
}

// count adds for how long a ticket waited until a time.
func (b *Book) count(t *ticket, until int64) {
	until = max(until, t.counted)
	if w := b.waits[t.class]; w != nil && !t.matched {
		from, to := seconds(max(0, t.counted-t.created)), seconds(max(0, until-t.created))
		for i := range w.seen {
			w.seen[i].wait(from, to)
		}
		for t.parts != nil && t.part < parts-1 && until-t.created >= t.parts[t.part+1] {
			w.trial.reached[t.part]++
			t.part++
		}
	}
	t.counted = until
}

// Enter begins to track a ticket that waits. One of an age is tracked from there on.
func (b *Book) Enter(id string, class Class, created, now int64) {
	if b.tickets[id] != nil {
		return
	}
	if len(b.order) >= Tracked {
		if b.room < 1 {
			return
		}
		b.room--
		b.drop(b.order[b.rand.IntN(len(b.order))])
	}
	b.waitOf(class)
	created = min(created, now)
	t := &ticket{id: id, at: len(b.order), class: class, created: created, counted: now}
	if now-created <= int64(firstBin*1000) {
		t.parts = b.partsOf(class)
	}
	b.tickets[id] = t
	b.order = append(b.order, t)
}

// waitOf is what is known of a class. A new class replaces the one of which the least is known.
func (b *Book) waitOf(class Class) *Wait {
	if w := b.waits[class]; w != nil {
		return w
	}
	if len(b.waits) >= Classes {
		var least Class
		weight := math.Inf(1)
		for other, w := range b.waits {
			if have := w.weight(); have < weight || have == weight && other < least {
				least, weight = other, have
			}
		}
		delete(b.waits, least)
		delete(b.parts, least)
	}
	w := newWait()
	b.waits[class] = w
	return w
}

func (b *Book) partsOf(class Class) *[parts]int64 {
	p, known := b.parts[class]
	if !known {
		p = b.waits[class].Forecast().parts()
		b.parts[class] = p
	}
	return p
}

// Match says that tickets were matched together.
func (b *Book) Match(ids []string, now int64) {
	type kind struct {
		class Class
		bin   int
	}
	together := map[kind]float64{}
	for _, id := range ids {
		t := b.tickets[id]
		if t == nil || t.matched {
			continue
		}
		b.count(t, now)
		t.matched = true
		w := b.waits[t.class]
		if w == nil {
			continue
		}
		bin := binOf(seconds(t.counted - t.created))
		for i := range w.seen {
			w.seen[i].matched[bin]++
		}
		together[kind{t.class, bin}]++
		if t.parts != nil {
			w.trial.reached[t.part]++
			w.trial.matched[t.part]++
			t.parts = nil
		}
	}
	for k, n := range together {
		for i := range b.waits[k.class].seen {
			b.waits[k.class].seen[i].squares += n * n
		}
	}
}

// Return says that tickets wait again.
func (b *Book) Return(ids []string, now int64) {
	for _, id := range ids {
		if t := b.tickets[id]; t != nil && t.matched {
			t.matched, t.counted = false, now
		}
	}
}

// Leave says that tickets are gone.
func (b *Book) Leave(ids []string, now int64) {
	for _, id := range ids {
		if t := b.tickets[id]; t != nil {
			b.count(t, now)
			b.drop(t)
		}
	}
}

func (b *Book) drop(t *ticket) {
	if t.parts != nil && !t.matched {
		if w := b.waits[t.class]; w != nil {
			w.trial.reached[t.part] += 0.5
		}
	}
	last := b.order[len(b.order)-1]
	b.order[t.at], last.at = last, t.at
	b.order[len(b.order)-1] = nil
	b.order = b.order[:len(b.order)-1]
	delete(b.tickets, t.id)
}
