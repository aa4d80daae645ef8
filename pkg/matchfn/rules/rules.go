// Package rules is what a rule set says: which values players have, how they form teams, what must hold in a match, and
// what makes one match better than another. [Parse] reads its language, which docs/rules.md describes.
//
// A match has teams. Each is a copy of one of the [Rules.Teams] and has tickets, whose players stay together. Each
// player of a team with roles has one of them. If the rules have regions, a match has one region.
package rules

import (
	"slices"
	"strings"
	"unicode"

	"matchmaker.dev/pkg/matchfn/block"
)

// Rules is a rule set.
type Rules struct {
	Name, Description string
	// Source is nil if the rule set was written in our language.
	Source *Source
	// Numbers are the attributes of tickets that are values of their players. A player's own value goes before.
	Numbers []string
	Values  []Value
	Teams   []Team
	// Players bounds the players of the whole match.
	Players Range
	// RoleValue names the value with the roles that a player takes: a string, a set, or a map that says how reluctantly he
	// takes each. Of all players that can have the roles of a team, those are given that are taken least reluctantly.
	RoleValue string
	// RoleMax bounds the numbers of such a map, by the age of each ticket: roles with greater ones are not taken yet. Nil
	// is no bound.
	RoleMax *Bound
	// RoleWeight names a number by which a player's numbers of such a map are multiplied, or is empty. Players without it
	// have 1.
	RoleWeight string
	// RegionValue names the value with a player's latencies, by region. If it is not empty, a match has one region that
	// every player with the value has.
	RegionValue string
	// RegionNames are the regions that there are, at most MaxRegions. A player's latencies to others do not count. Without
	// names all regions count that players name.
	RegionNames []string
	// Choose says which of the regions that the rules allow a match gets.
	Choose Choose
	// Priority names a value, or is empty. The anchor of a match is the ticket with the greatest priority; of these, and
	// of those without, the oldest.
	Priority string
	// Rules must all hold.
	Rules []Rule
	// Prefer says which of the matches that the rules allow is better.
	Prefer []Preference
	// Order is the order in which tickets are tried beside an anchor, the first order first.
	Order []Order
	// Patience is nil if each match that the rules allow is made at once.
	Patience *Patience
	// Backfill is how running games are filled.
	Backfill Backfill
}

// Rule is a condition with a name.
type Rule struct {
	Name string
	// Active is nil for a rule that always holds. Otherwise it holds while the bound is neither off nor 0.
	Active *Bound
	Need   Condition
}

// Kind is the kind of a value.
type Kind string

// The kinds of values. A map has numbers by name, such as the latency by region.
const (
	Number Kind = "number"
	String Kind = "string"
	Set    Kind = "set"
	Map    Kind = "map"
)

// Merge says how the values of a party's players become one value, which all of them have then.
type Merge string

// How values are merged. A merged map has the names that all of its maps have; each of them is merged as a number.
const (
	Each         Merge = "each" // not at all
	Average      Merge = "avg"
	Least        Merge = "min"
	Greatest     Merge = "max"
	Sum          Merge = "sum"
	Union        Merge = "union"
	Intersection Merge = "intersection"
)

// Missing says what becomes of players without a value, before the values of a party are merged.
type Missing string

const (
	// Reject means that no match has the ticket.
	Reject Missing = "reject"
	// Any means that conditions do not look at the player. In a party whose values are merged it has the others' value.
	Any Missing = "any"
	// UseDefault means that the player has the default.
	UseDefault Missing = "default"
)

// Value describes a value that conditions name.
type Value struct {
	Name string
	Kind Kind
	// From is the name under which players have it. Two values may have the same.
	From  string
	Party Merge
	// Once is set if a merged value counts once for its party, and not for each of its players.
	Once    bool
	Missing Missing
	Default Datum
}

// Datum is a value of a player. The kind says which field counts.
type Datum struct {
	Number float64
	String string
	Set    []string
	Map    map[string]float64
}

// negative reports whether a number in it is.
func (d Datum) negative() bool {
	for _, n := range d.Map {
		if n < 0 {
			return true
		}
	}
	return d.Number < 0
}

// Team is the shape of teams.
type Team struct {
	Name string
	// Copies is how many teams of this shape a match has, Size how many players each of them has. Both ends are set.
	Copies, Size Range
	// Roles are nil if its players have no roles.
	Roles []Role
}

// Role is a role in a team. Each of its ends may be nil.
type Role struct {
	Name  string
	Count Range
}

// Range has a least and a greatest number. Nil is no bound.
type Range struct{ Min, Max *Bound }

// Choose is how the region of a match is chosen.
type Choose string

// The region with the least of these latencies over its players.
const (
	ByWorst Choose = "worst"
	ByMean  Choose = "mean"
)

// Preference is a part of what a match costs. The match with the least cost is the best.
type Preference struct {
	Name string
	// Weight is the cost of an amount of Scale, or of a condition that does not hold. Both are greater than 0.
	Weight, Scale float64
	// Amount is what costs, with its sign: its greatest number counts, and without one nothing. Need is a condition that
	// should hold. One of them is set.
	Amount Expression
	Need   Condition
}

// Order is an order in which tickets are tried beside an anchor.
type Order struct {
	Value string
	// Key names a number of a map; KeyOf takes the name with the least or the greatest number of the anchor instead.
	Key   string
	KeyOf Merge
	// Near orders by the distance to the anchor's number. Otherwise the number itself is the order.
	Near bool
	// Descending puts the greatest first.
	Descending bool
}

// MayBeIn reports whether a match may be in a region: the rules name it if they name any, and its name is
// one that the answer of a function may have.
func (r *Rules) MayBeIn(region string) bool {
	return isName(region) && (len(r.RegionNames) == 0 || slices.Contains(r.RegionNames, region))
}

// isName reports whether the answer of a function may have a name of a region or of a team.
func isName(name string) bool {
	return name != "" && len(name) <= block.MaxText && !strings.ContainsFunc(name, unicode.IsControl)
}

// ValueOf returns the value of a name, or nil.
func (r *Rules) ValueOf(name string) *Value {
	for i := range r.Values {
		if r.Values[i].Name == name {
			return &r.Values[i]
		}
	}
	return nil
}
