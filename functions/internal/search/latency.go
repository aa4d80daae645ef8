package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// latency is a rules.Latency.
type latency rules.Latency

func (c *latency) holds(b *builder, region int) bool {
	column := b.column(c.Value)
	var to []float64
	if !b.latencies(column, region, func(_, _ uint32, n float64) bool {
		to = append(to, n)
		return n == n
	}) {
		return false
	}
	from, _ := reduce(rules.StatMin, to)
	if c.From == rules.Average {
		from, _ = reduce(rules.StatAverage, to)
	}
	limit := func(bound *rules.Bound, t uint32, n float64) bool {
		if bound == nil {
			return true
		}
		most, on := b.at(bound)
		if bound.Clock == rules.Own {
			most, on = bound.At(b.pool.age[t])
			b.noteChange(bound, b.pool.age[t])
		}
		return !on || rounding.AtMost(n, most)
	}
	return b.latencies(column, region, func(t, p uint32, n float64) bool {
		best := math.Inf(1)
		for _, v := range column.part(p) {
			best = math.Min(best, v)
		}
		return limit(c.Max, t, n) && limit(c.Over, t, rounding.Apart(best, n)) && limit(c.Apart, t, rounding.Apart(from, n))
	})
}

// latencies calls look with each player's latency to a region, NaN where he does not know it, until it returns false.
func (b *builder) latencies(column *column, region int, look func(t, p uint32, n float64) bool) bool {
	if region < 0 {
		return true // no player has any
	}
	for _, t := range b.chosen {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			if !column.has[p] || !column.counts(p, b.pool.first[t]) {
				continue
			}
			if !look(t, p, column.amount(p, b.pool.regions[region])) {
				return false
			}
		}
	}
	return true
}
