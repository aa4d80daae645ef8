package rules

import "math"

// estimate is what is sure of the list of numbers of an expression in any match: in which interval each of them is, and
// how many there are.
type estimate struct{ numbers, count interval }

// unknown is any list of at most so many numbers.
func unknown(most float64) estimate { return estimate{everything, interval{0, most}} }

// stat has a number for each group where a group without players has one.
func (s *sizes) stat(e *StatOf) estimate {
	if e.Scope.Of == BesideAnchor {
		return unknown(math.Inf(1))
	}
	of := s.group(e.Scope)
	some := 0.0 // tickets that have players
	if of.players.low > 0 {
		some = 1
	}
	switch {
	case e.Stat == StatCount && e.Value == "":
		return estimate{of.players, of.groups}
	case e.Stat == StatCount:
		return estimate{interval{0, of.players.high}, of.groups}
	case e.Stat == StatTickets && e.Scope.Of != InTeam && e.Scope.Of != InTeams:
		return estimate{interval{max(1, s.taken), of.players.high}, of.groups}
	case e.Stat == StatTickets:
		return estimate{interval{some, of.players.high}, of.groups}
	case e.Stat == StatParty:
		return estimate{interval{some, min(of.players.high, s.team.high)}, of.groups}
	case e.Stat == StatSum:
		return estimate{everything, of.groups}
	case e.Stat == StatDev:
		return estimate{interval{0, math.Inf(1)}, interval{s.some(e.Value, e.Scope), of.groups.high}}
	case e.Stat == StatEach:
		return estimate{everything, interval{s.some(e.Value, e.Scope), math.Inf(1)}}
	}
	return estimate{everything, interval{s.some(e.Value, e.Scope), of.groups.high}}
}

// reduce returns one number, or none for an empty list where the statistic has none of it.
func (e estimate) reduce(stat Stat) estimate {
	one := interval{min(1, e.count.low), 1}
	switch stat {
	case StatCount:
		return estimate{e.count, interval{1, 1}}
	case StatSum:
		return estimate{e.sum(), interval{1, 1}}
	case StatMin, StatMax:
		return estimate{e.numbers, one}
	case StatAverage, StatMedian:
		return estimate{e.numbers.rounded(), one}
	case StatDev:
		if !e.numbers.bounded() {
			return estimate{interval{0, math.Inf(1)}, one}
		}
		return estimate{interval{0, e.numbers.high - e.numbers.low}.rounded().and(interval{0, math.Inf(1)}), one}
	}
	return unknown(math.Inf(1))
}

// sum returns the sums that a list may have; an empty list's is 0.
func (e estimate) sum() interval {
	all := nothing
	if e.count.low < 1 {
		all = interval{0, 0}
	}
	if e.numbers.empty() || e.count.high < 1 {
		return all
	}
	times := func(a, b float64) float64 { return a * b }
	return all.or(interval{max(1, e.count.low), e.count.high}.with(e.numbers, times).rounded())
}

func (i interval) abs() interval {
	switch {
	case i.empty() || i.low >= 0:
		return i
	case i.high <= 0:
		return interval{-i.high, -i.low}
	}
	return interval{0, max(-i.low, i.high)}
}

// arithmetic pairs the numbers of two lists: an empty one has no pairs, and the longer of them may lose its end.
func (e estimate) arithmetic(op rune, o estimate) estimate {
	count := interval{min(e.count.low, o.count.low, 1), max(e.count.high, o.count.high)}
	switch op {
	case '+':
		return estimate{e.numbers.with(o.numbers, func(a, b float64) float64 { return a + b }), count}
	case '-':
		return estimate{e.numbers.with(o.numbers, func(a, b float64) float64 { return a - b }), count}
	case '*':
		return estimate{e.numbers.with(o.numbers, func(a, b float64) float64 { return a * b }), count}
	}
	if o.numbers.has(0) || !o.numbers.bounded() { // a division by 0 has no number
		return unknown(count.high)
	}
	return estimate{e.numbers.with(o.numbers, func(a, b float64) float64 { return a / b }), count}
}

// never reports whether no two numbers of two intervals compare so, always whether any two do. A number of an interval
// that is not bounded may be none at all, which only != holds for.
func (o Operator) never(a, b interval) bool {
	if a.empty() || b.empty() {
		return false
	}
	switch o {
	case Less:
		return a.low >= b.high
	case LessEqual:
		return a.above(b)
	case Equal:
		return a.above(b) || b.above(a)
	case NotEqual:
		return a.bounded() && a == b && a.low == a.high
	case GreaterEqual:
		return b.above(a)
	case Greater:
		return a.high <= b.low
	}
	return false
}

func (o Operator) always(a, b interval) bool {
	negated := map[Operator]Operator{
		Less: GreaterEqual, LessEqual: Greater, Equal: NotEqual, NotEqual: Equal, GreaterEqual: Less, Greater: LessEqual,
	}
	return a.bounded() && b.bounded() && negated[o].never(a, b)
}
