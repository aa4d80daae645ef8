// Package backfill fills running games, before a match function opens new ones.
//
// A running game is a backfill ticket. Its attribute "open" is the number of players that it still takes. Each proposal
// lowers the attribute by the players that it sends, so that the next run knows, until the game's server sets it. The
// game's place in the order of players is its attribute of the same name as theirs.
package backfill

import (
	"math"
	"sort"

	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rounding"
)

// Fill proposes to each game, the oldest first, the nearest tickets. To a game without the attribute it proposes the
// tickets that have waited longest. The score of a proposal is the mean, for each player, of what the tickets' windows
// exceed their distance by. Fill marks its tickets as matched. Tickets and games must be ascending.
func Fill(r *matchfn.Run, rules *waiting.Rules, tickets, games []uint32, matched []bool) {
	FillFrom(r, rules, games, &column{r: r, rules: rules, tickets: tickets, matched: matched, sizes: waiting.Sizes(r),
		roles: rules.RolesOf(r), ids: waiting.IDs(r)})
}

// Source is where FillFrom finds tickets.
type Source interface {
	// Nearest returns the tickets that are nearest to a value, within their windows, and their score. They take the seats
	// of a game: one that finds none is passed over.
	Nearest(at float64, seats *waiting.Seats) (chosen []uint32, score float64)
	// Longest is the same for the tickets that have waited longest.
	Longest(seats *waiting.Seats) (chosen []uint32)
	// Players returns how many players a ticket has.
	Players(ticket uint32) uint32
	// IDs are the ids of a ticket's players, one a line.
	IDs(ticket uint32) string
	// Forget removes a ticket that was chosen.
	Forget(ticket uint32)
}

// FillFrom is Fill for tickets of any source.
func FillFrom(r *matchfn.Run, rules *waiting.Rules, games []uint32, from Source) {
	open := r.BackfillAttribute(waiting.Open)
	for _, game := range games {
		if !(open[game] >= 1) {
			continue
		}
		seats := rules.SeatsOf(r, game, int(min(open[game], math.MaxInt32)))
		var chosen []uint32
		score := 0.0
		if at := r.BackfillAttribute(rules.Attribute)[game]; at != at { // NaN
			chosen = from.Longest(seats)
		} else {
			chosen, score = from.Nearest(at, seats)
		}
		if len(chosen) == 0 {
			continue
		}
		update := r.Propose(score, chosen...).UpdateBackfill(game)
		if seats.Inside != nil {
			waiting.Seat(update, seats.Inside, chosen, from.IDs)
		}
		players := uint32(0)
		for _, t := range chosen {
			players += from.Players(t)
			from.Forget(t)
		}
		if seats.ByRole() {
			continue // the next run sees the game when its server approved, with the new players
		}
		update.Attribute(waiting.Open, open[game]-float64(players))
	}
}

// Open reports whether a game takes players.
func Open(r *matchfn.Run, games []uint32) bool {
	open := r.BackfillAttribute(waiting.Open)
	for _, game := range games {
		if open[game] >= 1 {
			return true
		}
	}
	return false
}

// column is the tickets of a run.
type column struct {
	r       *matchfn.Run
	rules   *waiting.Rules
	tickets []uint32
	matched []bool
	sizes   []uint32 // how many players each ticket has; nil if each has one
	roles   []string // which roles they take; nil if that does not matter
	ids     func(ticket uint32) string
	line    *line    // nil until it is needed
	queue   []uint32 // likewise
}

func (c *column) Players(ticket uint32) uint32 { return waiting.Size(c.sizes, ticket) }

func (c *column) IDs(ticket uint32) string { return c.ids(ticket) }

func (c *column) Forget(ticket uint32) { c.matched[ticket] = true }

func (c *column) Longest(seats *waiting.Seats) (chosen []uint32) {
	seats.Begin()
	if c.queue == nil {
		c.queue = matchfn.SortPool(c.tickets, c.r.Created())
	}
	var passed []uint32 // over, since they have too many players
	for len(c.queue) > 0 && seats.Left() > 0 {
		t := c.queue[0]
		c.queue = c.queue[1:]
		switch size := c.Players(t); {
		case c.matched[t] || !c.rules.Takes(size):
		case !seats.Take(t, size, waiting.In(c.roles, t), c.ids):
			passed = append(passed, t)
		default:
			chosen = append(chosen, t)
		}
	}
	if len(passed) > 0 {
		c.queue = append(passed, c.queue...)
	}
	return chosen
}

func (c *column) Nearest(at float64, seats *waiting.Seats) (chosen []uint32, score float64) {
	if c.line == nil {
		c.line = newLine(c)
	}
	return c.line.nearest(at, seats)
}

// line has the tickets with the attribute, sorted by its value.
type line struct {
	tickets         []uint32
	values, windows []float64 // by place in the line
	matched         []bool    // by ticket
	sizes           []uint32  // likewise; nil if each has one player
	roles           []string  // likewise; nil if they do not matter
	ids             func(ticket uint32) string
	// low finds tickets whose windows reach down to a value, high the tickets whose windows reach up to it. high has the
	// opposite order and the opposite sign of values.
	low, high tree
}

func newLine(c *column) *line {
	l := &line{matched: c.matched, sizes: c.sizes, roles: c.roles, ids: c.ids}
	l.tickets, l.values = waiting.Sorted(c.tickets, c.rules.Values(c.r, c.sizes))
	l.windows = c.rules.Window.AfterEach(matchfn.Gather(c.r.Wait(), l.tickets))
	n := len(l.tickets)
	reach := func(i int) float64 { return l.windows[i] + rounding.Of(math.Abs(l.values[i])+l.windows[i]) }
	l.low = newTree(n, func(i int) float64 { return l.values[i] - reach(i) })
	l.high = newTree(n, func(i int) float64 { return -l.values[n-1-i] - reach(n-1-i) })
	return l
}

// nearest returns the tickets nearest to a value, within their own windows, and the mean for each player of what the
// windows exceed the distances by. A ticket that finds no seats is passed over.
func (l *line) nearest(at float64, seats *waiting.Seats) (chosen []uint32, score float64) {
	seats.Begin()
	n := len(l.tickets)
	above := sort.SearchFloat64s(l.values, at)
	below := n - above // from the other end
	for seats.Left() > 0 {
		above, below = l.low.first(above, at), l.high.first(below, -at)
		lower, higher := math.Inf(1), math.Inf(1)
		if below < n {
			lower = at - l.values[n-1-below]
		}
		if above < n {
			higher = l.values[above] - at
		}
		gap, place := lower, n-1-below
		if higher < lower {
			gap, place = higher, above
		}
		if gap > math.MaxFloat64 {
			break // no ticket is left on either side
		}
		if place == above {
			above++
		} else {
			below++
		}
		ticket, excess := l.tickets[place], waiting.Excess(l.windows[place], l.values[place], at)
		if !(excess >= 0) {
			continue // after rounding
		}
		size := waiting.Size(l.sizes, ticket)
		if !l.matched[ticket] {
			if !seats.Take(ticket, size, waiting.In(l.roles, ticket), l.ids) {
				continue
			}
			chosen = append(chosen, ticket)
			score += excess * float64(size)
		}
		l.low.drop(place)
		l.high.drop(n - 1 - place)
	}
	if len(chosen) > 0 {
		score /= float64(seats.Places - seats.Left())
	}
	return chosen, score
}
