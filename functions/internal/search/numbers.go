package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// stat is a statistic of the players of some tickets, and whether it has a number. b.magnitude grows to the magnitude
// of the numbers that it is computed from.
func (b *builder) stat(stat rules.Stat, value string, group []uint32) (float64, bool) {
	players, largest := 0, 0
	for _, t := range group {
		n := b.pool.size(t)
		if players += n; n > largest {
			largest = n
		}
	}
	switch {
	case stat == rules.StatTickets:
		return float64(len(group)), true
	case stat == rules.StatParty:
		return float64(largest), true
	case stat == rules.StatCount && value == "":
		return float64(players), true
	case stat == rules.StatCount:
		column := b.column(value)
		n := 0
		for _, t := range group {
			for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
				if !column.missing(p) && column.counts(p, b.pool.first[t]) {
					n++
				}
			}
		}
		return float64(n), true
	}
	b.numbersOf = b.each(b.numbersOf[:0], value, group)
	magnitude := magnitudeOf(b.numbersOf)
	if stat == rules.StatSum {
		magnitude *= float64(len(b.numbersOf))
	}
	b.magnitude = greater(b.magnitude, magnitude)
	return reduce(stat, b.numbersOf)
}

// magnitudeOf is how far the farthest of some numbers is from 0.
func magnitudeOf(numbers []float64) (magnitude float64) {
	for _, n := range numbers {
		magnitude = greater(magnitude, math.Abs(n))
	}
	return magnitude
}

// each appends all numbers of the players of some tickets, in ascending order in one group.
func (b *builder) each(all []float64, value string, group []uint32) []float64 {
	column := b.column(value)
	from := len(all)
	for _, t := range group {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			if v := column.numbers[p]; v == v && column.counts(p, b.pool.first[t]) {
				all = append(all, v)
			}
		}
	}
	slices.Sort(all[from:])
	return all
}

// reduce makes one number of a list, if it can. It sums in ascending order, so that the order of tickets says nothing.
// The average and the median are between the least and the greatest, however they are rounded.
func reduce(stat rules.Stat, of []float64) (float64, bool) {
	slices.Sort(of)
	sum, n := 0.0, float64(len(of))
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, v := range of {
		sum, least, greatest = sum+v, math.Min(least, v), math.Max(greatest, v)
	}
	switch stat {
	case rules.StatSum:
		return sum, true
	case rules.StatCount:
		return n, true
	}
	if n == 0 {
		return 0, false
	}
	switch stat {
	case rules.StatMin:
		return least, true
	case rules.StatMax:
		return greatest, true
	case rules.StatMedian:
		return max(least, min((of[(len(of)-1)/2]+of[len(of)/2])/2, greatest)), true
	case rules.StatDev:
		squares := 0.0
		for _, v := range of {
			squares += (v - sum/n) * (v - sum/n)
		}
		return math.Sqrt(squares / n), true
	}
	return max(least, min(sum/n, greatest)), true
}

// numbers are the values of an expression, and the magnitude of the numbers that they are computed from. They stay in
// b.list until it is emptied.
func (b *builder) numbers(e rules.Expression, region int) (all []float64, magnitude float64) {
	b.work--
	switch e := e.(type) {
	case *rules.Literal:
		if n, on := b.at(e.Bound); on {
			all = b.since(len(b.list), append(b.list, n))
		}
	case *rules.StatOf:
		from := len(b.list)
		b.magnitude = 0
		for _, group := range b.groups(e.Scope) {
			if e.Stat == rules.StatEach {
				b.list = b.each(b.list, e.Value, group)
			} else if n, some := b.stat(e.Stat, e.Value, group); some {
				b.list = append(b.list, n)
			}
		}
		all, magnitude = b.since(from, b.list), b.magnitude
	case *rules.Reduce:
		var of []float64
		if of, magnitude = b.numbers(e.Of, region); e.Stat == rules.StatSum {
			magnitude *= float64(len(of))
		}
		if n, some := reduce(e.Stat, of); some {
			all = b.since(len(b.list), append(b.list, n))
		}
	case *rules.Abs:
		var of []float64
		of, magnitude = b.numbers(e.Of, region)
		from := len(b.list)
		for _, n := range of {
			b.list = append(b.list, math.Abs(n))
		}
		all = b.since(from, b.list)
	case *rules.LatencyOf:
		from := len(b.list)
		b.latencies(b.column(e.Value), region, func(_, _ uint32, n float64) bool {
			if n == n {
				b.list = append(b.list, n)
			}
			return true
		})
		slices.Sort(b.list[from:])
		all = b.since(from, b.list)
	case *rules.Reluctance:
		all = b.since(len(b.list), b.roleCosts(b.list, e.Scope))
	case *rules.OddsOf:
		if n, some := b.odds(e); some {
			all, magnitude = b.since(len(b.list), append(b.list, n)), 1
		}
	case *rules.Arithmetic:
		left, l := b.numbers(e.Left, region)
		right, r := b.numbers(e.Right, region)
		from := len(b.list)
		list, worst := arithmetic(b.list, e.Op, left, right, l, r)
		return b.since(from, list), worst
	}
	return all, greater(magnitude, magnitudeOf(all))
}

// since keeps a list that was appended to, and returns what is new.
func (b *builder) since(from int, list []float64) []float64 {
	b.list = list
	return list[from:len(list):len(list)]
}

// paired is how many pairs two lists have.
func paired(a, b []float64) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return 0
	case len(a) == 1:
		return len(b)
	case len(b) == 1:
		return len(a)
	}
	return min(len(a), len(b))
}

// arithmetic appends the results of all pairs. l and r are the magnitudes of both lists, and it returns the magnitude
// of the results.
func arithmetic(all []float64, op rune, a, b []float64, l, r float64) (results []float64, magnitude float64) {
	magnitude = greater(l, r)
	switch op {
	case '*':
		magnitude = l * r
	case '/':
		magnitude = 0
	}
	for i := range paired(a, b) {
		x, y := a[min(i, len(a)-1)], b[min(i, len(b)-1)]
		switch op {
		case '+':
			all = append(all, x+y)
		case '-':
			all = append(all, x-y)
		case '*':
			all = append(all, x*y)
		case '/':
			if by := math.Abs(y); by != 0 {
				all, magnitude = append(all, x/y), greater(magnitude, l/by*greater(1, r/by))
			}
		}
	}
	return all, magnitude
}
