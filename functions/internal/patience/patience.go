// Package patience decides how near a match must be while its tickets can wait for a nearer one: the more players come
// that fit, the nearer. It knows only the tickets that wait now and their ages, so a run stays a function of its
// request.
package patience

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"matchmaker.dev/pkg/matchfn/rules"
)

// Ticket is a ticket that waits.
type Ticket struct {
	// Same tells tickets apart that are never in one match.
	Same uint32
	// Regions are the regions that it reaches, as bits. Tickets without a region in common are not counted together.
	Regions uint64
	// Value is by what tickets are near.
	Value   float64
	Age     float64 // in seconds
	Players int
}

// Crowd is the tickets that wait.
type Crowd struct {
	of    rules.Patience
	cells map[uint32][]*cell // by Same
}

// cell is the tickets that reach the same regions, by value, and sums over those before each.
type cell struct {
	regions uint64
	values  []float64
	before  []sums
}

// sums are the players of tickets, and the seconds that they waited.
type sums struct{ players, ages float64 }

// New returns the crowd of all tickets that wait. It sorts them. Tickets beyond Until do not count: what kept them from
// a match says little about the tickets that come.
func New(of rules.Patience, tickets []Ticket) *Crowd {
	c := &Crowd{of: of, cells: map[uint32][]*cell{}}
	slices.SortFunc(tickets, func(a, b Ticket) int { return cmp.Compare(a.Value, b.Value) })
	for _, t := range tickets {
		if t.Age >= of.Until {
			continue
		}
		in := c.cell(t)
		last, n := in.before[len(in.values)], float64(t.Players)
		in.values = append(in.values, t.Value)
		in.before = append(in.before, sums{last.players + n, last.ages + n*t.Age})
	}
	return c
}

// most is from how many cells on tickets count in one of their regions only. There are 64 more at most.
const most = 64

// cell returns the cell of a ticket.
func (c *Crowd) cell(t Ticket) *cell {
	all := c.cells[t.Same]
	find := func(regions uint64) *cell {
		for _, in := range all {
			if in.regions == regions {
				return in
			}
		}
		return nil
	}
	regions := t.Regions
	in := find(regions)
	if in == nil && len(all) >= most {
		regions &= -regions
		in = find(regions)
	}
	if in == nil {
		in = &cell{regions: regions, before: make([]sums, 1)}
		c.cells[t.Same] = append(all, in)
	}
	return in
}

// Cells is of how many cells Rate looks at each.
func (c *Crowd) Cells(t Ticket) int { return len(c.cells[t.Same]) }

// unsure is the part of Until that is added to how long players waited: one that just came says little about the rate.
const unsure = 0.05

// Rate is how many players a second come within reach of a ticket. By Little's law that is the number of players there,
// divided by how long they stay. On average they have stayed half of that time so far if all stay equally long, and all
// of it if they leave at random, as players do that a match may take at any time. So players that found a match at once
// count although they are gone: the more they are, the shorter the others have been there.
func (c *Crowd) Rate(t Ticket, reach float64) float64 {
	var there sums
	for _, in := range c.cells[t.Same] {
		if in.regions&t.Regions == 0 {
			continue
		}
		from := sort.SearchFloat64s(in.values, t.Value-reach)
		to := sort.Search(len(in.values), func(i int) bool { return in.values[i] > t.Value+reach })
		if from < to {
			there.players += in.before[to].players - in.before[from].players
			there.ages += in.before[to].ages - in.before[from].ages
		}
	}
	others := there.players - float64(t.Players)
	if others <= 0 {
		return 0
	}
	return others / (there.ages/there.players + unsure*c.of.Until)
}

// Share is the part of its bounds that a match may use whose anchor has waited so long, if players come at a rate and
// so many are needed.
//
// The players that come are spread evenly over the bounds, on both sides. Of n on a side, the needed players take the
// part needed/n of the bounds. So the part that a match takes falls with time, more slowly the smaller it is: the next
// second saves s² rate/2 needed of a part s, and costs 1/Worth of the bounds. Where both are equal, waiting no longer
// pays: that is the reservation value. It grows to all of the bounds towards Until, since fewer and fewer players can
// come before it.
func (c *Crowd) Share(age, rate, needed float64) float64 {
	n := rate / 2 * c.of.Worth * (1 - age/c.of.Until)
	if !(n > needed) {
		return 1
	}
	return math.Max(math.Sqrt(needed/n), c.of.Enough)
}

// Soon is in how many seconds a match is expected that uses a part of the bounds at most; not after the last moment.
func (c *Crowd) Soon(age, rate, needed, share float64) float64 {
	return math.Min(needed/(rate*share), c.of.Until-age)
}
