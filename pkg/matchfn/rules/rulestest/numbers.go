package rulestest

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// stat is a statistic of some tickets: one number, or none; and the magnitude of the numbers that it is computed from.
func (g *game) stat(stat rules.Stat, value string, tickets []int) (of []float64, magnitude float64) {
	players, largest := 0, 0
	for _, t := range tickets {
		n := len(g.pool[t].Players)
		players, largest = players+n, max(largest, n)
	}
	switch {
	case stat == rules.StatTickets:
		return []float64{float64(len(tickets))}, 0
	case stat == rules.StatParty:
		return []float64{float64(largest)}, 0
	case stat == rules.StatCount && value == "":
		return []float64{float64(players)}, 0
	case stat == rules.StatCount:
		return []float64{float64(len(g.units(value, tickets)))}, 0
	}
	var numbers []float64
	for _, u := range g.units(value, tickets) {
		numbers = append(numbers, u.value.(float64))
	}
	magnitude = magnitudeOf(numbers)
	if stat == rules.StatEach {
		return slices.Sorted(slices.Values(numbers)), magnitude
	}
	if stat == rules.StatSum {
		magnitude *= float64(len(numbers))
	}
	return reduce(stat, numbers), magnitude
}

// magnitudeOf is how far the farthest of some numbers is from 0.
func magnitudeOf(numbers []float64) (magnitude float64) {
	for _, n := range numbers {
		magnitude = max(magnitude, math.Abs(n))
	}
	return magnitude
}

// reduce makes one number of a list, or none. It sums in ascending order, so that the order of tickets says nothing.
// The average and the median are between the least and the greatest, however they are rounded.
func reduce(stat rules.Stat, of []float64) []float64 {
	of = slices.Sorted(slices.Values(of))
	sum := 0.0
	for _, n := range of {
		sum += n
	}
	count := float64(len(of))
	switch stat {
	case rules.StatSum:
		return []float64{sum}
	case rules.StatCount:
		return []float64{count}
	}
	if len(of) == 0 {
		return nil
	}
	least, greatest := slices.Min(of), slices.Max(of)
	switch stat {
	case rules.StatMin:
		return []float64{least}
	case rules.StatMax:
		return []float64{greatest}
	case rules.StatMedian:
		return []float64{max(least, min((of[(len(of)-1)/2]+of[len(of)/2])/2, greatest))}
	case rules.StatDev:
		squares := 0.0
		for _, n := range of {
			squares += (n - sum/count) * (n - sum/count)
		}
		return []float64{math.Sqrt(squares / count)}
	}
	return []float64{max(least, min(sum/count, greatest))}
}

// numbers are the numbers of an expression, and the magnitude of the numbers that they are computed from.
func (g *game) numbers(e rules.Expression) (all []float64, magnitude float64) {
	switch e := e.(type) {
	case *rules.Literal:
		if n, on := g.bound(e.Bound); on {
			all = []float64{n}
		}
	case *rules.StatOf:
		for _, tickets := range g.groups(e.Scope) {
			of, m := g.stat(e.Stat, e.Value, tickets)
			all, magnitude = append(all, of...), max(magnitude, m)
		}
	case *rules.Reduce:
		var of []float64
		if of, magnitude = g.numbers(e.Of); e.Stat == rules.StatSum {
			magnitude *= float64(len(of))
		}
		all = reduce(e.Stat, of)
	case *rules.Abs:
		var of []float64
		of, magnitude = g.numbers(e.Of)
		for _, n := range of {
			all = append(all, math.Abs(n))
		}
	case *rules.LatencyOf:
		for _, u := range g.units(e.Value, g.all) {
			if n, ok := u.value.(map[string]float64)[g.match.Region]; ok {
				all = append(all, n)
			}
		}
		slices.Sort(all)
	case *rules.OddsOf:
		all, magnitude = g.odds(e), 1
	case *rules.Arithmetic:
		return g.arithmetic(e)
	}
	return all, max(magnitude, magnitudeOf(all))
}

func (g *game) arithmetic(e *rules.Arithmetic) (all []float64, magnitude float64) {
	left, l := g.numbers(e.Left)
	right, r := g.numbers(e.Right)
	worst := 0.0 // of quotients
	for _, pair := range pairs(left, right) {
		switch e.Op {
		case '+':
			all = append(all, pair[0]+pair[1])
		case '-':
			all = append(all, pair[0]-pair[1])
		case '*':
			all = append(all, pair[0]*pair[1])
		case '/':
			if by := math.Abs(pair[1]); by != 0 {
				all, worst = append(all, pair[0]/pair[1]), max(worst, l/by*max(1, r/by))
			}
		}
	}
	switch e.Op {
	case '*':
		return all, l * r
	case '/':
		return all, worst
	}
	return all, max(l, r)
}

// pairs puts two lists side by side. One number stands beside all of the other list.
func pairs(a, b []float64) (all [][2]float64) {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	n := min(len(a), len(b))
	if n == 1 {
		n = max(len(a), len(b))
	}
	for i := range n {
		all = append(all, [2]float64{a[min(i, len(a)-1)], b[min(i, len(b)-1)]})
	}
	return all
}
