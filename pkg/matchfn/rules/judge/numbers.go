package judge

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// stat is a statistic of some tickets: one number, or none.
func (g *game) stat(stat rules.Stat, value string, tickets []int) []float64 {
	players, largest := 0, 0
	for _, t := range tickets {
		n := len(g.pool[t].Players)
		players, largest = players+n, max(largest, n)
	}
	switch {
	case stat == rules.StatTickets:
		return []float64{float64(len(tickets))}
	case stat == rules.StatParty:
		return []float64{float64(largest)}
	case stat == rules.StatCount && value == "":
		return []float64{float64(players)}
	case stat == rules.StatCount:
		return []float64{float64(len(g.units(value, tickets)))}
	}
	var numbers []float64
	for _, u := range g.units(value, tickets) {
		numbers = append(numbers, u.value.(float64))
	}
	if stat == rules.StatEach {
		return slices.Sorted(slices.Values(numbers))
	}
	return reduce(stat, numbers)
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

// numbers are those of an expression.
func (g *game) numbers(e rules.Expression) (all []float64) {
	switch e := e.(type) {
	case *rules.Literal:
		if n, on := g.bound(e.Bound); on {
			return []float64{n}
		}
	case *rules.StatOf:
		for _, tickets := range g.groups(e.Scope) {
			all = append(all, g.stat(e.Stat, e.Value, tickets)...)
		}
	case *rules.Reduce:
		return reduce(e.Stat, g.numbers(e.Of))
	case *rules.Abs:
		for _, n := range g.numbers(e.Of) {
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
		return g.odds(e)
	case *rules.Arithmetic:
		for _, pair := range pairs(g.numbers(e.Left), g.numbers(e.Right)) {
			switch e.Op {
			case '+':
				all = append(all, pair[0]+pair[1])
			case '-':
				all = append(all, pair[0]-pair[1])
			case '*':
				all = append(all, pair[0]*pair[1])
			case '/':
				if pair[1] != 0 {
					all = append(all, pair[0]/pair[1])
				}
			}
		}
	}
	return all
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
