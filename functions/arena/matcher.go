package main

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/functions/internal/crowd"
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

// matcher makes the games of one config.
type matcher struct {
	rules rules
	crowd *crowd.Crowd // tickets that are left over
	// look has tickets that may begin a game since something changed behind them.
	look []uint32
}

func begin(s *matchfn.Settings) (matchfn.Matcher, error) {
	rules, err := parseRules(s)
	if err != nil {
		return nil, err
	}
	m := &matcher{rules: rules}
	m.crowd = crowd.New(&m.rules.Rules)
	return m, nil
}

// Match fills and opens games. A game is of tickets that follow each other in the list. So when a ticket comes or goes,
// only games can be opened that begin with it or with one of those right before it, and of all others it is known by
// when their windows are wide enough.
func (m *matcher) Match(r *matchfn.Run) error {
	c := m.crowd
	c.Leaving = m.changed
	fresh, games := c.Take(r)
	m.look = append(m.look, c.Due()...)
	all := (len(fresh)+len(m.look))*m.rules.players > c.Size()
	if all {
		c.Leaving = nil
	}
	if all && crowd.Open(r, games) || !all {
		c.Join(fresh)
		c.Fill(r, games)
	}
	if all {
		m.openAll(r)
		c.Leaving = m.changed
	} else {
		for _, number := range fresh {
			if t := c.Of(number); t.Here && t.Value == t.Value {
				m.look = append(m.look, number)
				m.changed(c.Entry(number))
			}
		}
		m.openSome(r)
	}
	c.Expire(r)
	m.openSome(r)
	return nil
}

// changed notes the tickets right before a place: a game that begins with them may have a ticket more or less there.
func (m *matcher) changed(p crowd.Entry) {
	left := m.rules.players - 1
	m.crowd.Sorted.Below(p, nil, func(before crowd.Entry) bool {
		if left--; left >= 0 {
			m.look = append(m.look, before.Number)
		}
		return left > 0
	})
}

// openAll opens games of all tickets, until there is none any more, and lists the tickets that are left over.
func (m *matcher) openAll(r *matchfn.Run) {
	c := m.crowd
	m.look = m.look[:0]
	numbers := c.All()
	value, places := make([]float64, len(numbers)), make([]uint32, len(numbers))
	for i, number := range numbers {
		value[i], places[i] = c.Of(number).Value, uint32(i)
	}
	order, _ := waiting.Sorted(places, value)
	left := make([]crowd.Entry, len(order))
	for i, at := range order {
		left[i] = c.Entry(numbers[at])
	}
	for {
		kept := left[:0:0]
		for i := 0; i < len(left); {
			g := m.group(left[i:])
			if !m.rules.opens(g.players, g.wait) {
				kept = append(kept, left[i])
				i++
				continue
			}
			front(left[i:], g.places)
			propose(r, &m.rules, &g, c.IDs)
			for _, number := range g.tickets {
				c.Lose(number)
			}
			i += len(g.tickets)
		}
		opened := len(kept) < len(left)
		if left = kept; !opened {
			break
		}
	}
	next := 0
	c.Sorted.Load(len(left), func() crowd.Entry {
		next++
		return left[next-1]
	})
	c.Never()
	for i, p := range left {
		c.Sooner(p.Number, m.opens(left[i:]))
	}
}

// openSome opens games that begin with the tickets to look at, and looks again at those before a game that was opened.
func (m *matcher) openSome(r *matchfn.Run) {
	c := m.crowd
	var sorted []crowd.Entry
	for len(m.look) > 0 {
		look := m.look
		m.look = nil
		slices.SortFunc(look, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(c.Of(a).Value, c.Of(b).Value), cmp.Compare(a, b))
		})
		for i, number := range look {
			t := c.Of(number)
			if !t.Here || i > 0 && look[i-1] == number {
				continue
			}
			sorted = sorted[:0]
			c.Sorted.Above(c.Entry(number), nil, func(p crowd.Entry) bool {
				sorted = append(sorted, p)
				return len(sorted) < m.rules.players
			})
			if g := m.group(sorted); m.rules.opens(g.players, g.wait) {
				propose(r, &m.rules, &g, c.IDs)
				for _, number := range g.tickets {
					c.Forget(number)
				}
				continue
			}
			c.Again(number, m.opens(sorted))
		}
	}
}

// group returns the longest group from the first place of a list on whose tickets are all within each other's windows.
// It looks at as many tickets as a game has players, and passes over tickets with more players than there is room for.
func (m *matcher) group(places []crowd.Entry) group {
	g := group{first: places[0].Value, narrowest: math.Inf(1)}
	for at, p := range places[:min(len(places), m.rules.players)] {
		if g.passes(int(p.Size), m.rules.players, at) {
			continue
		}
		wait := m.crowd.Wait(p.Created)
		window := m.rules.Window.After(wait)
		narrowest := g.narrowest
		if window < narrowest {
			narrowest = window
		}
		if !(waiting.Excess(narrowest, g.first, p.Value) >= 0) {
			break
		}
		g.tickets = append(g.tickets, p.Number)
		g.last, g.narrowest, g.sum = p.Value, narrowest, g.sum+window*float64(p.Size)
		g.players += int(p.Size)
		if g.places != nil {
			g.places = append(g.places, at)
		}
		if wait > g.wait {
			g.wait = wait
		}
		if g.players == m.rules.players {
			break
		}
	}
	return g
}

// opens is when a game can be opened at the earliest that begins with the first place of a list, in Unix milliseconds.
// Its last ticket is within the window of the youngest one, which is the narrowest.
func (m *matcher) opens(places []crowd.Entry) float64 {
	at := math.Inf(1)
	oldest, youngest := math.Inf(1), math.Inf(-1)
	n := 0
	for _, p := range places[:min(len(places), m.rules.players)] {
		if n+int(p.Size) > m.rules.players {
			continue
		}
		n += int(p.Size)
		if p.Created < oldest {
			oldest = p.Created
		}
		if p.Created > youngest {
			youngest = p.Created
		}
		fits := youngest + m.crowd.Reaches(places[0].Value, p.Value)
		if n < m.rules.least {
			continue
		}
		if early := oldest + 1000*m.rules.early - 1; n < m.rules.players && early > fits {
			fits = early
		}
		if fits < at {
			at = fits
		}
	}
	return at
}
