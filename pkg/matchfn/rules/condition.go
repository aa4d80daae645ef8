package rules

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rounding"
)

// Scope is over which players a condition is looked at.
type Scope struct {
	// Of is InMatch, InTeam, BesideAnchor or InTeams.
	Of    Of
	Teams []string // of InTeams: names of Rules.Teams
}

// Of is a kind of scope.
type Of string

const (
	// InMatch is all players of the match.
	InMatch Of = "match"
	// InTeam is the players of each team, one team after the other.
	InTeam Of = "team"
	// BesideAnchor is each ticket together with the anchor. Only Same, Spread and Share have it.
	BesideAnchor Of = "anchor"
	// InTeams is the players of each team of some shapes, one team after the other.
	InTeams Of = "teams"
)

// Operator compares two numbers.
type Operator string

// The operators.
const (
	Less         Operator = "<"
	LessEqual    Operator = "<="
	Equal        Operator = "="
	NotEqual     Operator = "!="
	GreaterEqual Operator = ">="
	Greater      Operator = ">"
)

// Holds compares two numbers that were computed from numbers of a magnitude, but for rounding.
func (o Operator) Holds(a, b, magnitude float64) bool {
	r := rounding.Of(magnitude)
	switch o {
	case Less:
		return a < b-r
	case LessEqual:
		return a <= b+r
	case Equal:
		return a == b || math.Abs(a-b) <= r
	case NotEqual:
		return a != b && !(math.Abs(a-b) <= r)
	case GreaterEqual:
		return a >= b-r
	case Greater:
		return a > b+r
	}
	return false
}

// Stat is a statistic of players.
type Stat string

// The statistics. StatDev is the standard deviation of exactly these players. StatCount is the number of players, or of
// those with a value; StatTickets the number of tickets; StatParty the players of the largest ticket. StatEach is all
// numbers, in ascending order.
// Of no player, StatCount, StatTickets, StatParty and StatSum are 0 and the others have no number.
const (
	StatAverage Stat = "avg"
	StatSum     Stat = "sum"
	StatMin     Stat = "min"
	StatMax     Stat = "max"
	StatMedian  Stat = "median"
	StatDev     Stat = "stddev"
	StatCount   Stat = "count"
	StatTickets Stat = "tickets"
	StatParty   Stat = "party"
	StatEach    Stat = "each"
)
