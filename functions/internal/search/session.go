package search

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// Session is tickets that wait while a rule set is searched again and again. What is known of them is read once, and
// what was found out of them is remembered as long as it holds. A search finds what it would find if it got all tickets
// at once.
type Session struct {
	rules   *rules.Rules
	pool    *pool
	search  *search
	numbers []uint32 // of each ticket, ascending: as it was taken in
	dead    int      // tickets that are gone
	// few is how many names there were when the pool was new.
	few int
}

const (
	// leastDead is how many tickets are gone before their memory is, if more are gone than wait.
	leastDead = 4096
	// moreNames is how many new names there may be before unused ones are dropped, if they are more than before.
	moreNames = 1 << 16
)

// NewSession returns an empty Session.
func NewSession(r *rules.Rules) *Session {
	k := &Session{rules: r, pool: newPool(r)}
	k.search = newSearch(r, k.pool)
	return k
}

// Take takes tickets in, and forgets others, at a time in milliseconds. The first ticket has a number, and the others
// follow; gone are numbers. Again says whether there will be another search.
func (k *Session) Take(source Source, created []float64, first uint32, gone []uint32, now float64, again bool) {
	k.compact()
	s, p := k.search, k.pool
	for _, number := range gone {
		if t, ok := k.Ticket(number); ok && !p.gone[t] {
			k.lose(t)
			s.left = append(s.left, t)
		}
	}
	from := uint32(p.waiting)
	p.enter(source, created)
	for t := from; int(t) < p.waiting; t++ {
		k.numbers = append(k.numbers, first+t-from)
		s.fresh = append(s.fresh, t)
	}
	if s.run++; now < s.now {
		s.run++ // tickets are younger than they were: nothing is known of that
	}
	s.now, s.keeps = now, again
	p.age = p.age[:0]
	for _, at := range p.created {
		p.age = append(p.age, max(0, now-at)/1000)
	}
}

// Search finds matches among all tickets that wait, and tickets that join running games, if there are any; each ticket
// is in one at most, and waits on until it is lost. It does about so many steps of work and then returns what it has.
// Where at most 32 tickets are left that could be together, it finds a match if there is one, unless the work ends; so
// it does with a game that at most 32 may join, each by itself. With patience this holds for matches with a ticket that
// waits no longer.
func (k *Session) Search(games *Games, work int) []Match {
	found := k.search.search(games, work)
	s := k.search
	s.fresh, s.left, s.altered = s.fresh[:0], s.left[:0], s.altered[:0]
	for _, m := range found { // they were taken, and may be there again
		for _, team := range m.Teams {
			s.fresh = append(s.fresh, team.Tickets...)
		}
	}
	return found
}

// Lose forgets the tickets of a match.
func (k *Session) Lose(m *Match) {
	for _, team := range m.Teams {
		for _, t := range team.Tickets {
			k.lose(t)
		}
	}
}

func (k *Session) lose(t uint32) {
	k.pool.gone[t] = true
	k.dead++
}

// Waiting returns how many tickets wait.
func (k *Session) Waiting() int { return k.pool.waiting - k.dead }

// Large returns how many tickets wait that are in no match since a set or a map has more than MaxElements.
func (k *Session) Large() (n int) {
	for t, why := range k.pool.unread[:k.pool.waiting] {
		if why == large && !k.pool.gone[t] {
			n++
		}
	}
	return n
}

// Number returns the number of a ticket.
func (k *Session) Number(t uint32) uint32 { return k.numbers[t] }

// Ticket returns the ticket of a number.
func (k *Session) Ticket(number uint32) (t uint32, ok bool) {
	at, ok := slices.BinarySearch(k.numbers, number)
	return uint32(at), ok
}

// ID returns the id of a player of a ticket, or nothing.
func (k *Session) ID(t uint32, player int) string {
	return k.pool.names.text(k.pool.ids[k.pool.first[t]+uint32(player)])
}

// EachID calls with the id of each player whose id is known, and with the owner of a ticket that lists several players.
func (k *Session) EachID(with func(t uint32, id string)) {
	p := k.pool
	for t := range uint32(p.waiting) {
		if p.gone[t] {
			continue
		}
		if name, owned := p.owners[t]; owned {
			with(t, p.names.text(name))
		}
		for _, name := range p.ids[p.first[t]:p.first[t+1]] {
			if name != 0 {
				with(t, p.names.text(name))
			}
		}
	}
}

// Describer returns a describer of the tickets.
func (k *Session) Describer() *Describer { return newDescriber(k.pool) }

// compact frees the memory of tickets that are gone, if they are many.
func (k *Session) compact() {
	waiting := k.pool.waiting - k.dead
	names := len(k.pool.names.texts)
	if k.dead < max(leastDead, waiting) && (names < 2*k.few+moreNames || k.dead == 0) {
		return
	}
	old, was := k.pool, k.search
	k.pool = newPool(k.rules)
	k.search = newSearch(k.rules, k.pool)
	s := k.search
	s.run, s.now = was.run, was.now
	to := make([]uint32, old.waiting) // the new tickets
	numbers := k.numbers[:0]
	copied := translation{names: make([]uint32, names), from: old, to: k.pool}
	for t := range uint32(old.waiting) {
		if to[t] = noTicket; old.gone[t] {
			continue
		}
		to[t] = uint32(k.pool.waiting)
		copied.ticket(t)
		numbers = append(numbers, k.numbers[t])
	}
	k.numbers, k.dead, k.few = numbers, 0, len(k.pool.names.texts)
	for _, t := range was.fresh {
		if to[t] != noTicket {
			s.fresh = append(s.fresh, to[t])
		}
	}
}

// translation copies tickets from one pool to another, which has other numbers for names.
type translation struct {
	names    []uint32
	from, to *pool
}

func (c *translation) name(name uint32) uint32 {
	if name == 0 {
		return 0
	}
	if c.names[name] == 0 {
		c.names[name] = c.to.names.number([]byte(c.from.names.texts[name]))
	}
	return c.names[name]
}

func (c *translation) ticket(t uint32) {
	from, to := c.from, c.to
	first, end := from.first[t], from.first[t+1]
	to.first = append(to.first, to.first[to.waiting]+end-first)
	to.created = append(to.created, from.created[t])
	to.refused, to.unread = append(to.refused, from.refused[t]), append(to.unread, from.unread[t])
	to.gone = append(to.gone, false)
	if name, owned := from.owners[t]; owned {
		if to.owners == nil {
			to.owners = map[uint32]uint32{}
		}
		to.owners[uint32(to.waiting)] = c.name(name)
	}
	for _, name := range from.ids[first:end] {
		to.ids = append(to.ids, c.name(name))
	}
	for i := range from.columns {
		c.players(&to.columns[i], &from.columns[i], first, end)
		if from.original[i] != nil {
			c.players(to.original[i], from.original[i], first, end)
		}
	}
	to.waiting++
}

func (c *translation) players(to, from *column, first, end uint32) {
	n := len(to.texts)
	start := len(to.items)
	to.copyFrom(from, first, end)
	for i := range to.texts[n:] {
		to.texts[n+i] = c.name(to.texts[n+i])
	}
	if from.starts == nil {
		return
	}
	for i := range to.items[start:] {
		to.items[start+i] = c.name(to.items[start+i])
	}
	for p := len(to.has) - int(end-first); p < len(to.has); p++ {
		to.sort(p)
	}
}

// sort brings the list of a player into ascending order.
func (c *column) sort(p int) {
	items, amounts := c.items[c.starts[p]:c.starts[p+1]], c.part(uint32(p))
	for i := range items {
		for j := i; j > 0 && items[j] < items[j-1]; j-- {
			items[j], items[j-1] = items[j-1], items[j]
			if amounts != nil {
				amounts[j], amounts[j-1] = amounts[j-1], amounts[j]
			}
		}
	}
}
