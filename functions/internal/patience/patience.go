// Package patience says how near a match must be while its tickets can wait for a nearer one: the nearer, the more
// players come who may be in it. It knows nothing but who waits now and for how long, so a run stays a function of its
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
	// Same tells tickets apart that are never in one match, Region those of different regions.
	Same, Region uint32
	// Value is by what tickets are near.
	Value   float64
	Age     float64 // in seconds
	Players int
}

// Crowd is who waits.
type Crowd struct {
	of    rules.Patience
	cells map[place]*cell
}

// place is where tickets are: in a region, or anywhere.
type place struct{ same, region uint32 }

const anywhere = math.MaxUint32

// cell is the tickets of a place by value, and sums over those before each.
type cell struct {
	values []float64
	before []sums
}

// sums are the players of tickets, and the seconds that they waited.
type sums struct{ players, ages float64 }

// New returns the crowd of all tickets that wait. It sorts them. Those that wait no longer do not count: what kept them
// from a match says little of who comes.
func New(of rules.Patience, tickets []Ticket) *Crowd {
	c := &Crowd{of: of, cells: map[place]*cell{}}
	slices.SortFunc(tickets, func(a, b Ticket) int { return cmp.Compare(a.Value, b.Value) })
	for _, t := range tickets {
		if t.Age >= of.Until {
			continue
		}
		c.add(place{t.Same, t.Region}, t)
		c.add(place{t.Same, anywhere}, t)
	}
	return c
}

func (c *Crowd) add(at place, t Ticket) {
	in := c.cells[at]
	if in == nil {
		in = &cell{before: make([]sums, 1)}
		c.cells[at] = in
	}
	last, n := in.before[len(in.values)], float64(t.Players)
	in.values = append(in.values, t.Value)
	in.before = append(in.before, sums{last.players + n, last.ages + n*t.Age})
}

// between is the sums over a part of a cell.
func (in *cell) between(from, to int) sums {
	return sums{in.before[to].players - in.before[from].players, in.before[to].ages - in.before[from].ages}
}

const (
	// unsure is which part of Until is added to how long players waited. Who just came says little of how often one comes.
	unsure = 0.05
	// nearest is how many players tell how many there are around a value, and least the least part of the bounds that
	// they are taken to be apart.
	nearest, least = 8, 0.01
)

// rate is how many players come in a second, by those who are there. By Little's law that is how many are there, divided
// by how long they stay. Those who are there have stayed half of it so far on average, if all stay for equally long, and
// all of it if they leave at random, as those do whom a match may take at any time. So players who found a match at once
// count although they are gone: where they are many, those who are left have not been there long.
func (c *Crowd) rate(there sums, own int) float64 {
	others := there.players - float64(own)
	if others <= 0 {
		return 0
	}
	return others / (there.ages/there.players + unsure*c.of.Until)
}

// Rate is how many players would come in a second who are within reach of a ticket that waits, if they came everywhere
// there as often as around the ticket. Who is there in its region says how many come, and who is there in all regions
// how many more or fewer come around the ticket. So tickets at the end of a crowd are not taken to be in its middle.
func (c *Crowd) Rate(t Ticket, reach float64) float64 {
	in := c.cells[place{t.Same, t.Region}]
	if in == nil {
		return 0
	}
	rate := c.rate(in.within(t.Value, reach), t.Players)
	if rate == 0 || math.IsInf(reach, 1) {
		return rate
	}
	all := c.cells[place{t.Same, anywhere}]
	return rate * c.around(all, t, reach) / c.rate(all.within(t.Value, reach), t.Players)
}

// within is the sums over those at most so far from a value.
func (in *cell) within(value, reach float64) sums {
	from := sort.SearchFloat64s(in.values, value-reach)
	to := sort.Search(len(in.values), func(i int) bool { return in.values[i] > value+reach })
	return in.between(from, max(from, to))
}

// around is Rate by the players who are nearest, wherever they are.
func (c *Crowd) around(in *cell, t Ticket, reach float64) float64 {
	from := sort.SearchFloat64s(in.values, t.Value)
	to, far := from, 0.0
	for in.between(from, to).players < nearest+float64(t.Players) {
		below, above := math.Inf(1), math.Inf(1)
		if from > 0 {
			below = t.Value - in.values[from-1]
		}
		if to < len(in.values) {
			above = in.values[to] - t.Value
		}
		if far = math.Min(below, above); far > reach {
			far = reach
			break
		}
		if below < above {
			from--
		} else {
			to++
		}
	}
	return c.rate(in.between(from, to), t.Players) * reach / math.Max(far, least*reach)
}

// Share is which part of its bounds a match may use whose anchor has waited so long, where players come at a rate and so
// many are needed.
//
// Players who come are spread evenly over the bounds, on both sides. Of n on a side, those who are needed take the part
// needed/n of the bounds. So the part that a match takes falls with the time, the slower the smaller it is, and what
// the next second saves of a part s is s² rate/2 needed. A second costs 1/Worth of the bounds. Where both are the same,
// waiting does not pay any more: that is the reservation value. It grows to all of the bounds as the last moment comes,
// since less and less can come before it.
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
