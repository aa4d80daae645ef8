// Package waiting is what the ready-made match functions have in common: their settings for waiting tickets, and which
// tickets they read.
package waiting

import (
	"math"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rounding"
)

// Rules are common settings. The functions' README.md files describe them.
type Rules struct {
	Attribute string // its column is compared
	Pool      string // "" for all pools
	Window    Window
	Timeout   float64 // in seconds, 0 for none
	// Least and Most are how many players a ticket may have that is matched. The default is one.
	Least, Most uint32
	// Role is the attribute of players that says which of the Roles they take. Without Roles they do not matter.
	Role  string
	Roles []Role
}

// Takes reports whether a ticket of so many players is matched.
func (r *Rules) Takes(players uint32) bool { return r.Least <= players && players <= r.Most }

// DefaultAttribute is compared if the settings name no other.
const DefaultAttribute = "skill"

// Declare declares what the functions read of tickets and running games. ids says whether, or when, they read the ids
// of players, to list them in games that they open.
func Declare(ids matchfn.Option) []matchfn.Option {
	return []matchfn.Option{
		ids,
		matchfn.Attributes(DefaultAttribute, Open), matchfn.AttributesNamedBy("attribute"), matchfn.Properties(Inside),
		matchfn.Players(DefaultRole), matchfn.PlayerAttributesNamedBy("role"), matchfn.BackfillPlayers(),
	}
}

// ParseRules reads and checks the settings.
func ParseRules(s *matchfn.Settings) Rules {
	r := Rules{
		Attribute: s.String("attribute", DefaultAttribute),
		Pool:      s.String("pool", ""),
		Window: Window{
			Start: min(s.Float("window", 100), mostWindow), Widen: s.Float("widen", 10),
			Most: min(s.Float("maxWindow", mostWindow), mostWindow),
		},
		Timeout: s.Float("timeout", 0), Least: 1, Most: 1, Role: s.String("role", DefaultRole), Roles: parseRoles(s),
	}
	if r.Attribute == "" {
		s.Fail("attribute", "must not be empty")
	}
	if r.Attribute == Open {
		s.Fail("attribute", "must not be open, which is how many players a game takes")
	}
	if r.Window.Start < 0 {
		s.Fail("window", "must not be negative")
	}
	if r.Window.Widen < 0 {
		s.Fail("widen", "must not be negative")
	}
	if r.Window.Most < r.Window.Start {
		s.Fail("maxWindow", "must not be less than window")
	}
	if r.Timeout < 0 {
		s.Fail("timeout", "must not be negative")
	}
	return r
}

// Open is the attribute of a backfill ticket that says how many more players its game takes.
const Open = "open"

// mostWindow is the greatest window: a score is computed from the sum of the windows of a game's players.
const mostWindow = 1e300

// Window is the greatest distance between the values of a ticket and its match. It is Start for a new ticket, and grows
// by Widen with each second of waiting, up to Most.
type Window struct{ Start, Widen, Most float64 }

// After returns the window after a wait in seconds.
func (w Window) After(wait float64) float64 {
	window := w.Start + w.Widen*wait
	if window > w.Most { // min would be a call in WebAssembly
		return w.Most
	}
	return window
}

// InPool returns the tickets and the running games of a pool, or all of them if pool is "".
func InPool(r *matchfn.Run, pool string) (tickets, games []uint32) {
	if pool != "" {
		return r.Pool(pool), r.BackfillPool(pool)
	}
	return all(r.Tickets()), all(r.Backfills())
}

// Sizes returns how many players each ticket has; nil if each has one.
func Sizes(r *matchfn.Run) []uint32 {
	players := r.Players()
	if players.Alone() {
		return nil
	}
	sizes := make([]uint32, r.Tickets())
	for ticket := range sizes {
		sizes[ticket] = uint32(players.Count(uint32(ticket)))
	}
	return sizes
}

// Size returns how many players a ticket has.
func Size(sizes []uint32, ticket uint32) uint32 {
	if sizes == nil {
		return 1
	}
	return sizes[ticket]
}

// Values returns the column of the attribute, with NaN for tickets of more or fewer players than are matched.
func (r *Rules) Values(run *matchfn.Run, sizes []uint32) []float64 {
	values := run.Attribute(r.Attribute)
	if sizes == nil && r.Takes(1) {
		return values
	}
	values = append([]float64(nil), values...)
	for ticket := range values {
		if !r.Takes(Size(sizes, uint32(ticket))) {
			values[ticket] = math.NaN()
		}
	}
	return values
}

// all returns the numbers from 0 to n-1.
func all(n int) []uint32 {
	numbers := make([]uint32, n)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	return numbers
}

// Sorted returns the tickets that have a value, sorted by it, and the sorted values.
func Sorted(tickets []uint32, values []float64) (order []uint32, sorted []float64) {
	order = matchfn.SortPool(tickets, values)
	sorted = matchfn.Gather(values, order)
	n := len(order)
	for n > 0 && sorted[n-1] != sorted[n-1] {
		n-- // NaN, which comes last
	}
	return order[:n], sorted[:n]
}

// Excess returns by how much a window exceeds the distance of two values; it is less than 0 if the window does not
// reach from one to the other. As in rules, decimals that are exactly as far apart as the window are within it.
func Excess(window, a, b float64) float64 {
	excess := window - math.Abs(a-b)
	if excess < 0 && excess >= -rounding.Of(max(math.Abs(a), math.Abs(b))) {
		return 0
	}
	return excess
}
