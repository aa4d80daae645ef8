package rules

import "math"

// Condition is what must hold of a match. It is one of the types of this file.
type Condition interface{ condition() }

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

type (
	// Same says that all players have the same string or number; with Different, that no two players have the same.
	Same struct {
		Value     string
		Different bool
		Scope     Scope
	}
	// Spread says that the greatest number is at most Max above the least.
	Spread struct {
		Value string
		Max   *Bound
		Scope Scope
	}
	// Share says that the sets of all players have at least Min elements in common. A string is a set of one.
	Share struct {
		Value string
		Min   *Bound
		Scope Scope
	}
	// Overlap says how many elements each player's set has in common with a list: With, or if Other is not empty, the
	// union or the intersection of the sets Other of all players in the scope.
	Overlap struct {
		Value string
		With  []string
		Other string
		Merge Merge // of Other: Union or Intersection
		Count Range
		Scope Scope
	}
	// Holders says how many players have Element, or in their set.
	Holders struct {
		Value   string
		Element string
		Count   Range
		Scope   Scope
	}
	// Total bounds the sum of a number over the players.
	Total struct {
		Value string
		Sum   Range
		Scope Scope
	}
	// Gap says that a statistic of the teams differs by at most Max between any two teams. Teams without players that have
	// the value are left out.
	Gap struct {
		Stat  Stat
		Value string // empty for StatCount, StatTickets and StatParty
		Teams []string
		Max   *Bound
	}
	// Compare says that the numbers of both sides, in pairs, compare so. A side with one number has it for all of the
	// other; otherwise the longer side's end is left out. It holds where a side has none.
	Compare struct {
		Left  Expression
		Op    Operator
		Right Expression
	}
	// Latency bounds the players' latency to the region of the match: by Max, by their own least latency and Over, and by
	// Spread over the least or the mean latency of the players to that region.
	Latency struct {
		Value            string
		Max, Over, Apart *Bound
		From             Merge // of Apart: Least or Average
	}
	// Avoid says that no player is with one whose ID is in his set Value. A player may have his own there.
	Avoid struct {
		Value string
		ID    string // the name of a value, a string
		Scope Scope
	}
	// Premade says that every team has a ticket of at least Players players, or none has.
	Premade struct{ Players *Bound }
	// All says that all of its conditions hold.
	All struct{ Of []Condition }
	// AnyOf says that at least one of its conditions holds.
	AnyOf struct{ Of []Condition }
	// One says that exactly one of its conditions holds.
	One struct{ Of []Condition }
	// Not says that a condition does not hold.
	Not struct{ Of Condition }
)

func (*Same) condition()    {}
func (*Spread) condition()  {}
func (*Share) condition()   {}
func (*Overlap) condition() {}
func (*Holders) condition() {}
func (*Total) condition()   {}
func (*Gap) condition()     {}
func (*Compare) condition() {}
func (*Latency) condition() {}
func (*Avoid) condition()   {}
func (*Premade) condition() {}
func (*All) condition()     {}
func (*AnyOf) condition()   {}
func (*One) condition()     {}
func (*Not) condition()     {}

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
	r := Rounding(magnitude)
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
// those with a value; StatTickets that of tickets; StatParty the players of the largest ticket. StatEach is all
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

// Expression is a list of numbers. It is one of the types below, or an OddsOf.
type Expression interface{ expression() }

type (
	// Literal is one number. It has none while its bound is off.
	Literal struct{ Bound *Bound }
	// StatOf is a statistic of a value: one number for the match, or one for each team of the scope, in the order of
	// teams.
	StatOf struct {
		Stat  Stat
		Value string
		Scope Scope // InMatch, InTeam or InTeams
	}
	// Reduce makes one number of a list, with StatAverage to StatCount; of an empty list as of no player.
	Reduce struct {
		Stat Stat
		Of   Expression
	}
	// Arithmetic is Left Op Right for each pair of numbers. A side with one number has it for all of the other; otherwise
	// the longer list's end is left out. A division by 0 has no number.
	Arithmetic struct {
		Op          rune // + - * /
		Left, Right Expression
	}
	// Abs is the distance to 0 of each number.
	Abs struct{ Of Expression }
	// LatencyOf is the latencies of all players to the region of the match, in ascending order.
	LatencyOf struct{ Value string }
	// Reluctance is how reluctantly players take the roles that they have, as the map of roles says, with their weights:
	// the sum over the match, or over each team of the scope. It is for preferences.
	Reluctance struct{ Scope Scope }
)

func (*Literal) expression()    {}
func (*StatOf) expression()     {}
func (*Reduce) expression()     {}
func (*Arithmetic) expression() {}
func (*Abs) expression()        {}
func (*LatencyOf) expression()  {}
func (*Reluctance) expression() {}
