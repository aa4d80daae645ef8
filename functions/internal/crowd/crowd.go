// Package crowd is what match functions keep of the tickets that wait, so that a run takes time for what changed and
// not for all of them.
package crowd

import (
	"math"

	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

// Crowd is the tickets that wait. Tickets with the attribute are in the list, unless the function took them out.
type Crowd struct {
	Sorted Sorted
	// Leaving is called before Forget takes a ticket out of the list; may be nil.
	Leaving func(p Entry)

	rules   *waiting.Rules
	tickets []Ticket // by number
	roles   []string // of their players, by number; nil if they do not matter
	ids     []string // of their players, by number; nil if they are not read
	size    int
	late    queue // by when tickets have waited for the timeout
	due     queue // by next
	now     float64
}

// Ticket is what is kept of a ticket.
type Ticket struct {
	Value, Created float64
	// next is when something may happen to the ticket next: see Due.
	next float64
	Size uint32 // players
	Here bool
}

// New returns an empty crowd.
func New(rules *waiting.Rules) *Crowd { return &Crowd{rules: rules} }

// Size is the number of tickets.
func (c *Crowd) Size() int { return c.size }

// Of returns a ticket.
func (c *Crowd) Of(number uint32) *Ticket { return &c.tickets[number] }

// Wait is how long a ticket has waited, in seconds.
func (c *Crowd) Wait(created float64) float64 {
	if wait := (c.now - created) / 1000; wait > 0 {
		return wait
	}
	return 0
}

// Window is the window of a ticket.
func (c *Crowd) Window(created float64) float64 { return c.rules.Window.After(c.Wait(created)) }

// Entry is a ticket's place in the list.
func (c *Crowd) Entry(number uint32) Entry {
	t := &c.tickets[number]
	return Entry{Value: t.Value, Created: t.Created, Number: number, Size: t.Size}
}

// Take takes in the tickets of a run and forgets the tickets that are gone. The new tickets are not in the list yet. It
// returns their numbers, and the running games.
func (c *Crowd) Take(r *matchfn.Run) (fresh, games []uint32) {
	c.now = float64(r.Now().UnixMilli())
	for _, number := range r.Gone() {
		c.Forget(number)
	}
	fresh, games = waiting.InPool(r, c.rules.Pool)
	fresh = append([]uint32(nil), fresh...)
	first := r.First()
	sizes := waiting.Sizes(r)
	value, created := c.rules.Values(r, sizes), r.Created()
	if n := int(first) + r.Tickets(); n > len(c.tickets) {
		c.tickets = append(c.tickets, make([]Ticket, n-len(c.tickets))...)
	}
	c.roles, c.ids = grown(c.roles, first, c.rules.RolesOf(r)), grown(c.ids, first, waiting.IDsOf(r))
	for i, at := range fresh {
		number := first + at
		fresh[i] = number
		c.tickets[number] = Ticket{
			Value: value[at], Created: created[at], next: math.Inf(1), Size: waiting.Size(sizes, at), Here: true,
		}
		if c.rules.Timeout > 0 {
			c.late.push(created[at]+1000*c.rules.Timeout-margin, number)
		}
	}
	c.size += len(fresh)
	return fresh, games
}

// grown is a list with what is new from a number on; nil is nothing.
func grown(list []string, first uint32, fresh []string) []string {
	if fresh == nil {
		return list
	}
	return append(append(list[:min(len(list), int(first))], make([]string, max(0, int(first)-len(list)))...), fresh...)
}

// IDs are the ids of a ticket's players, one a line.
func (c *Crowd) IDs(number uint32) string {
	if int(number) >= len(c.ids) {
		return ""
	}
	return c.ids[number]
}

// Due returns the tickets whose time has come, each once.
func (c *Crowd) Due() (numbers []uint32) {
	for {
		number, ok := c.due.pop(c.now)
		if !ok {
			return numbers
		}
		if t := &c.tickets[number]; t.Here && t.next <= c.now {
			t.next = math.Inf(1) // not again
			numbers = append(numbers, number)
		}
	}
}

// Sooner makes a ticket due at a time, unless it is due before.
func (c *Crowd) Sooner(number uint32, at float64) {
	if t := &c.tickets[number]; at < t.next {
		t.next = at
		c.due.push(at, number)
	}
}

// Again makes a ticket due at a time, also if it was due before.
func (c *Crowd) Again(number uint32, at float64) {
	c.tickets[number].next = math.Inf(1)
	c.Sooner(number, at)
}

// Never makes all tickets of the list never due.
func (c *Crowd) Never() {
	c.due = queue{}
	c.Sorted.Up(func(p Entry) { c.tickets[p.Number].next = math.Inf(1) })
}

// margin is more than the error of computed times, in milliseconds.
const margin = 1

// Forget removes a ticket, if it is here.
func (c *Crowd) Forget(number uint32) {
	t := &c.tickets[number]
	if !t.Here {
		return
	}
	t.Here = false
	c.size--
	if t.Value == t.Value {
		if c.Leaving != nil {
			c.Leaving(c.Entry(number))
		}
		c.Sorted.Remove(c.Entry(number))
	}
}

// Lose is Forget for a ticket that is not in the list, or in a list that is loaded anew.
func (c *Crowd) Lose(number uint32) {
	c.tickets[number].Here = false
	c.size--
}

// Join puts tickets that have a value into the list.
func (c *Crowd) Join(numbers []uint32) {
	for _, number := range numbers {
		if t := &c.tickets[number]; t.Here && t.Value == t.Value {
			c.Sorted.Insert(c.Entry(number))
		}
	}
}

// Leave takes tickets out of the list that are here, and returns them.
func (c *Crowd) Leave(numbers []uint32) (here []uint32) {
	here = numbers[:0]
	for _, number := range numbers {
		if t := &c.tickets[number]; t.Here {
			here = append(here, number)
			if t.Value == t.Value {
				c.Sorted.Remove(c.Entry(number))
			}
		}
	}
	return here
}

// All returns the numbers of all tickets, the oldest first.
func (c *Crowd) All() []uint32 {
	numbers, created := make([]uint32, 0, c.size), make([]float64, 0, c.size)
	ordered := true
	for number := range c.tickets {
		if t := &c.tickets[number]; t.Here {
			ordered = ordered && (len(created) == 0 || created[len(created)-1] <= t.Created)
			numbers, created = append(numbers, uint32(number)), append(created, t.Created)
		}
	}
	if ordered { // as in a first run
		return numbers
	}
	order := matchfn.SortBy(created)
	for i, at := range order {
		order[i] = numbers[at]
	}
	return order
}

// Expire proposes the error PoolTimeout for tickets that have waited for the timeout without a match. The score is less
// than any match's, so that a match of another config wins.
func (c *Crowd) Expire(r *matchfn.Run) {
	if c.rules.Timeout <= 0 {
		return
	}
	var soon []uint32
	for {
		number, ok := c.late.pop(c.now)
		if !ok {
			break
		}
		t := &c.tickets[number]
		switch {
		case !t.Here:
		case c.Wait(t.Created) >= c.rules.Timeout:
			r.Propose(-1, number).Error("PoolTimeout")
			c.Forget(number)
		default:
			soon = append(soon, number)
		}
	}
	for _, number := range soon {
		c.late.push(c.tickets[number].Created+1000*c.rules.Timeout-margin, number)
	}
}

// Reaches is how many milliseconds after its creation a ticket's window reaches from one value to another, +Inf for
// never. It is never too late, and a little too early.
func (c *Crowd) Reaches(from, to float64) float64 {
	w := &c.rules.Window
	switch {
	case waiting.Excess(w.Start, from, to) >= 0:
		return 0
	case !(waiting.Excess(w.Most, from, to) >= 0) || w.Widen <= 0:
		return math.Inf(1)
	}
	after := (math.Abs(from-to) - w.Start) / w.Widen * 1000
	return after - margin - after*1e-9
}

// nearest returns the tickets of the list that are nearest to a value, within their own windows, and the mean for each
// player of what the windows exceed the distances by. They take seats of a game; a ticket that finds none is passed
// over.
func (c *Crowd) nearest(at float64, seats *waiting.Seats) (chosen []uint32, score float64) {
	places := seats.Places
	if places <= 0 {
		return nil, 0
	}
	for look := places; ; look *= 4 {
		below, above := c.reaching(at, look, places, true), c.reaching(at, look, places, false)
		moreBelow, moreAbove := len(below) == look, len(above) == look
		sum := 0.0
		chosen = chosen[:0]
		seats.Begin()
		for seats.Left() > 0 && len(below)+len(above) > 0 {
			if moreBelow && len(below) == 0 || moreAbove && len(above) == 0 {
				break // the next one there may be nearer
			}
			var p Entry
			if len(above) == 0 || len(below) > 0 && at-below[0].Value <= above[0].Value-at {
				p, below = below[0], below[1:]
			} else {
				p, above = above[0], above[1:]
			}
			if !seats.Take(p.Number, p.Size, waiting.In(c.roles, p.Number), c.IDs) {
				continue
			}
			chosen = append(chosen, p.Number)
			sum += waiting.Excess(c.Window(p.Created), p.Value, at) * float64(p.Size)
		}
		if seats.Left() == 0 || !moreBelow && !moreAbove {
			if len(chosen) > 0 {
				score = sum / float64(places-seats.Left())
			}
			return chosen, score
		}
	}
}

// reaching returns up to n tickets of up to most players on one side of a value whose windows reach it, the nearest
// first.
func (c *Crowd) reaching(at float64, n, most int, down bool) (found []Entry) {
	skip := func(oldest float64, nearest Entry) bool {
		return waiting.Excess(c.Window(oldest), nearest.Value, at) < 0
	}
	look := func(p Entry) bool {
		if int(p.Size) <= most && waiting.Excess(c.Window(p.Created), p.Value, at) >= 0 {
			found = append(found, p)
		}
		return len(found) < n
	}
	from := Entry{Value: at, Created: math.Inf(-1)}
	if down {
		c.Sorted.Below(from, skip, look)
	} else {
		c.Sorted.Above(from, skip, look)
	}
	return found
}

// longest returns the tickets that have waited longest, also those without the attribute, as far as they find seats.
func (c *Crowd) longest(seats *waiting.Seats) (chosen []uint32) {
	seats.Begin()
	for _, number := range c.All() {
		if size := c.tickets[number].Size; c.rules.Takes(size) &&
			seats.Take(number, size, waiting.In(c.roles, number), c.IDs) {
			chosen = append(chosen, number)
		}
		if seats.Left() == 0 {
			break
		}
	}
	return chosen
}
