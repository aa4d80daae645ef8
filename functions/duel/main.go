// Duel is a match function for one against one, or one party against another. It pairs tickets that are close in one
// numeric attribute. The allowed distance grows while they wait. Running duels that lost a player are filled before new
// ones begin. README.md describes its settings.
package main

import (
	"math"
	"slices"
	"strconv"

	"matchmaker.dev/functions/internal/crowd"
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.RegisterMatcher(begin, waiting.Declare(matchfn.PlayerIDsWith("refill"))...)

func main() {}

func begin(s *matchfn.Settings) (matchfn.Matcher, error) {
	rules, err := parseRules(s)
	if err != nil {
		return nil, err
	}
	m := &matcher{rules: rules}
	m.crowd = crowd.New(&m.rules.Rules)
	return m, nil
}

// matcher pairs the tickets of one config.
type matcher struct {
	rules rules
	crowd *crowd.Crowd // tickets that are left over; each is due when it can be paired, if nothing else changes
}

// Match pairs what can be paired. Two tickets can when the window of the younger one, which is not the wider one,
// reaches the other. So for each ticket it is known when it reaches the nearest older one. A run looks at new tickets,
// at tickets whose time has come, and at what is within their windows.
func (m *matcher) Match(r *matchfn.Run) error {
	fresh, games := m.crowd.Take(r)
	due := m.crowd.Due()
	all := len(fresh)+len(due) > m.crowd.Size()/4
	if crowd.Open(r, games) {
		m.crowd.Join(fresh)
		m.crowd.Fill(r, games)
		if !all { // else the list is loaded anew
			fresh = m.crowd.Leave(fresh)
		}
	}
	if all {
		m.pairAll(r)
	} else {
		m.pairSome(r, fresh, due)
	}
	m.crowd.Expire(r)
	return nil
}

func (m *matcher) propose(r *matchfn.Run, score float64, a, b uint32) {
	low, high := m.crowd.Of(a), m.crowd.Of(b)
	p := r.Propose(score, a, b)
	if m.rules.measure {
		p.Measure("gap", math.Abs(high.Value-low.Value))
	}
	if m.rules.refill {
		p.MatchProperties(append(strconv.AppendUint([]byte(`{"places":`), uint64(low.Size+high.Size), 10), '}'))
		m.rules.NewGame(p, 0, low.Value, high.Value, []uint32{a, b}, m.crowd.IDs)
	}
}

// pairAll pairs all tickets, and lists the tickets that are left over if there will be another run.
func (m *matcher) pairAll(r *matchfn.Run) {
	c := m.crowd
	numbers := c.All()
	l := m.pair(r, numbers)
	if !r.Keeps() {
		return
	}
	at := 0
	c.Sorted.Load(m.valued(l, numbers), func() crowd.Entry {
		for {
			at++
			if number := numbers[l.nodes[at].ticket]; c.Of(number).Here {
				return c.Entry(number)
			}
		}
	})
	m.age()
}

// valued is how many tickets of a list are left over.
func (m *matcher) valued(l *linkedList, numbers []uint32) (n int) {
	for i := 1; i+1 < len(l.nodes); i++ {
		if m.crowd.Of(numbers[l.nodes[i].ticket]).Here {
			n++
		}
	}
	return n
}

// pairSome pairs new tickets and tickets whose time has come, which are no longer in the list.
func (m *matcher) pairSome(r *matchfn.Run, fresh, due []uint32) {
	c := m.crowd
	active := append(c.Leave(due), fresh...)
	looked := len(active)
	var near []uint32
	for i, number := range active[:looked] {
		near = m.near(c.Entry(number), near[:0])
		if i >= looked-len(fresh) {
			near = m.reachedBy(c.Entry(number), near)
		}
		active = append(active, c.Leave(near)...)
	}
	m.pair(r, active)
	c.Join(active)
	for _, number := range active {
		m.schedule(number)
	}
	for _, number := range fresh {
		m.hurry(number)
	}
}

// near returns the older tickets of the list within the window of one that is not there. There are few, since they
// cannot be paired with each other.
func (m *matcher) near(p crowd.Entry, near []uint32) []uint32 {
	if p.Value != p.Value {
		return near
	}
	window := m.crowd.Window(p.Created)
	look := func(other crowd.Entry) bool {
		if !(waiting.Excess(window, other.Value, p.Value) >= 0) {
			return false
		}
		if other.Created <= p.Created {
			near = append(near, other.Number)
		}
		return true
	}
	m.crowd.Sorted.Below(p, crowd.After(p.Created), look)
	m.crowd.Sorted.Above(p, crowd.After(p.Created), look)
	return near
}

// reachedBy returns the younger tickets of the list whose windows reach a new one, if it is older than they are. Of
// those behind an older ticket none does: it would have reached that one.
func (m *matcher) reachedBy(p crowd.Entry, near []uint32) []uint32 {
	if p.Value != p.Value {
		return near
	}
	window := m.crowd.Window(p.Created)
	look := func(other crowd.Entry) bool {
		if other.Created <= p.Created || !(waiting.Excess(window, other.Value, p.Value) >= 0) {
			return false
		}
		if waiting.Excess(m.crowd.Window(other.Created), other.Value, p.Value) >= 0 {
			near = append(near, other.Number)
		}
		return true
	}
	m.crowd.Sorted.Below(p, nil, look)
	m.crowd.Sorted.Above(p, nil, look)
	return near
}

// pair pairs tickets with each other, forgets those, and returns the list of all.
func (m *matcher) pair(r *matchfn.Run, numbers []uint32) *linkedList {
	c := m.crowd
	value, wait := make([]float64, len(numbers)), make([]float64, len(numbers))
	nodes := make([]uint32, len(numbers))
	for i, number := range numbers {
		t := c.Of(number)
		value[i], wait[i], nodes[i] = t.Value, c.Wait(t.Created), uint32(i)
	}
	l := newLinkedList(&m.rules, nodes, value, wait)
	l.pair(func(score float64, a, b uint32) {
		m.propose(r, score, numbers[a], numbers[b])
		c.Lose(numbers[a])
		c.Lose(numbers[b])
	})
	return l
}

// age computes for all tickets of the list when each reaches the nearest older one.
func (m *matcher) age() {
	c := m.crowd
	c.Never()
	if m.rules.Window.Widen == 0 {
		return
	}
	var older []crowd.Entry // each is older than those after it
	look := func(p crowd.Entry) {
		for len(older) > 0 && older[len(older)-1].Created > p.Created {
			older = older[:len(older)-1]
		}
		if len(older) > 0 {
			c.Sooner(p.Number, p.Created+c.Reaches(p.Value, older[len(older)-1].Value))
		}
		older = append(older, p)
	}
	c.Sorted.Up(look)
	older = older[:0]
	c.Sorted.Down(look)
}

// schedule computes when a ticket of the list reaches the nearest older one.
func (m *matcher) schedule(number uint32) {
	c := m.crowd
	t := c.Of(number)
	if !t.Here || t.Value != t.Value {
		return
	}
	nearest := math.Inf(1)
	look := func(other crowd.Entry) bool {
		nearer := math.Abs(other.Value-t.Value) < math.Abs(nearest-t.Value)
		if other.Created <= t.Created && other.Number != number {
			if nearer {
				nearest = other.Value
			}
			return false
		}
		return nearer
	}
	c.Sorted.Below(c.Entry(number), crowd.After(t.Created), look)
	c.Sorted.Above(c.Entry(number), crowd.After(t.Created), look)
	c.Again(number, t.Created+c.Reaches(t.Value, nearest))
}

// hurry tells the younger tickets beside a new one, that it may be the nearest older one to them.
func (m *matcher) hurry(number uint32) {
	c := m.crowd
	t := c.Of(number)
	if !t.Here || t.Value != t.Value {
		return
	}
	look := func(other crowd.Entry) bool {
		if other.Number == number {
			return true
		}
		if other.Created <= t.Created || !(waiting.Excess(m.rules.Window.Most, other.Value, t.Value) >= 0) {
			return false // it is as near to those behind it, and older
		}
		c.Sooner(other.Number, other.Created+c.Reaches(other.Value, t.Value))
		return true
	}
	c.Sorted.Below(c.Entry(number), nil, look)
	c.Sorted.Above(c.Entry(number), nil, look)
}

// linkedList is a linked list of the tickets with the attribute, sorted by its value. The first and the last place are
// sentinels, out of reach of all tickets.
type linkedList struct {
	nodes  []node
	wait   []float64
	widest float64 // the window that does not grow any more
}

type node struct {
	value, window float64
	ticket        uint32
	// before and after are the neighbours in the list.
	before, after uint32
}

func newLinkedList(rules *rules, tickets []uint32, value, wait []float64) *linkedList {
	order, values := waiting.Sorted(tickets, value)
	l := &linkedList{nodes: make([]node, len(order)+2), wait: matchfn.Gather(wait, order), widest: rules.Window.Most}
	if rules.Window.Widen == 0 {
		l.widest = rules.Window.Start
	}
	for i, t := range order {
		window := rules.Window.After(l.wait[i])
		l.nodes[i+1] = node{value: values[i], window: window, ticket: t, before: uint32(i), after: uint32(i + 2)}
	}
	l.nodes[0].value, l.nodes[len(order)+1].value = math.Inf(-1), math.Inf(1)
	return l
}

// pair calls propose for every pair. The tickets with the narrowest windows choose first: from their two neighbours,
// the one with the better score. A ticket without a partner in reach is out of reach of all tickets that choose later.
// So no two tickets that are left over could have been paired.
func (l *linkedList) pair(propose func(score float64, a, b uint32)) {
	for _, at := range l.narrowestFirst() {
		p := &l.nodes[at]
		if p.before == p.after {
			continue // removed
		}
		before, after := p.before, p.after
		l.remove(at)
		low, lowOK := l.score(before, at)
		high, highOK := l.score(at, after)
		switch {
		case lowOK && (!highOK || low >= high):
			l.remove(before)
			propose(low, l.nodes[before].ticket, p.ticket)
		case highOK:
			l.remove(after)
			propose(high, p.ticket, l.nodes[after].ticket)
		}
	}
}

// narrowestFirst returns the places, the narrowest windows first. Of equal windows, the longest wait comes
// first. Windows grow with the wait up to a maximum, so it is enough to sort by wait and to reverse the tickets with
// the widest window.
func (l *linkedList) narrowestFirst() []uint32 {
	order := matchfn.SortBy(l.wait)
	for i := range order {
		order[i]++ // node 0 is a sentinel
	}
	start, _ := slices.BinarySearchFunc(order, l.widest, func(at uint32, widest float64) int {
		if l.nodes[at].window < widest {
			return -1
		}
		return 0
	})
	slices.Reverse(order[start:])
	for at := 0; at < start; {
		end := at + 1
		for end < start && l.wait[order[end]-1] == l.wait[order[at]-1] {
			end++
		}
		slices.Reverse(order[at:end])
		at = end
	}
	return order
}

// remove removes a place from the list.
func (l *linkedList) remove(at uint32) {
	p := &l.nodes[at]
	l.nodes[p.before].after = p.after
	l.nodes[p.after].before = p.before
	p.before, p.after = 0, 0
}

// score returns how much greater than the distance the mean of both windows is, and whether the distance is within both
// windows.
func (l *linkedList) score(low, high uint32) (float64, bool) {
	a, b := &l.nodes[low], &l.nodes[high]
	one, other := waiting.Excess(a.window, a.value, b.value), waiting.Excess(b.window, a.value, b.value)
	return one/2 + other/2, one >= 0 && other >= 0
}
