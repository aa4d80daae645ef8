package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// mostMerged is how many elements the players of a party have at most, all together, when each has the party's.
const mostMerged = MaxElements * MaxElements

// merge gives all players of a party the value of the party. It returns false if that is too large: they have none.
func (c *column) merge(from, to uint32) bool {
	switch c.value.Kind {
	case rules.Number:
		merged := mergeNumbers(c.value.Party, c.numbers[from:to])
		for p := from; p < to; p++ {
			c.numbers[p] = merged
		}
	case rules.Set, rules.Map:
		items, amounts, some := c.mergeLists(from, to)
		if len(items)*int(to-from) > mostMerged {
			c.rewrite(from, to, func(uint32) ([]uint32, []float64, bool) { return nil, nil, false })
			return false
		}
		c.rewrite(from, to, func(uint32) ([]uint32, []float64, bool) { return items, amounts, some })
	}
	return true
}

// mergeNumbers merges the numbers that are not NaN. Without one the result is NaN.
func mergeNumbers(how rules.Merge, numbers []float64) float64 {
	n, sum, least, greatest := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	for _, v := range numbers {
		if v == v {
			n, sum, least, greatest = n+1, sum+v, math.Min(least, v), math.Max(greatest, v)
		}
	}
	switch {
	case n == 0:
		return math.NaN()
	case how == rules.Sum:
		return sum
	case how == rules.Least:
		return least
	case how == rules.Greatest:
		return greatest
	}
	return max(least, min(sum/n, greatest))
}

// mergeLists merges the sets or maps of a party. What all have in common is counted: an item that is there as often as
// there are lists.
func (c *column) mergeLists(from, to uint32) (items []uint32, amounts []float64, some bool) {
	lists := 0
	var all []uint32
	for p := from; p < to; p++ {
		if c.has[p] {
			lists++
			all = append(all, c.items[c.starts[p]:c.starts[p+1]]...)
		}
	}
	slices.Sort(all)
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end] == all[i] {
			end++
		}
		if c.value.Party == rules.Union || end-i == lists {
			items = append(items, all[i])
			if c.value.Kind == rules.Map {
				var numbers []float64
				for p := from; p < to; p++ {
					if c.has[p] {
						numbers = append(numbers, c.amount(p, all[i]))
					}
				}
				amounts = append(amounts, mergeNumbers(c.value.Party, numbers))
			}
		}
		i = end
	}
	return items, amounts, lists > 0
}
