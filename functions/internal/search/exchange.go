package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rules"
)

// price is what a match costs. Of matches that cost the same, one whose tickets are nearer to each other is better.
type price struct{ cost, width float64 }

func (p price) less(o price) bool { return p.cost < o.cost || p.cost == o.cost && p.width < o.width }

// rounds bounds how often the best exchange is made.
const rounds = 12

// cost is what the preferences say of the match.
func (b *builder) cost(region int) (cost float64) {
	for _, p := range b.rules.Prefer {
		if p.Need != nil {
			if !b.holds(p.Need, region) {
				cost += p.Weight
			}
			continue
		}
		b.list = b.list[:0]
		of, _ := b.numbers(p.Amount, region)
		if most, some := reduce(rules.StatMax, of); some {
			cost += p.Weight * most / p.Scale
		}
	}
	return cost
}

// excess is how far the gaps between teams are above what the match may have, and how far teams are apart beyond what
// their odds may be.
func (b *builder) excess() (sum float64) {
	part := b.part()
	for i := range b.all {
		if b.inactive(&b.all[i]) {
			continue
		}
		if b.evenness[i] != nil {
			sum += b.uneven(b.evenness[i], part)
			continue
		}
		c, ok := b.all[i].Need.(*rules.Gap)
		if !ok {
			continue
		}
		if most, on := b.at(c.Max); on {
			sum += math.Max(0, (*gap)(c).measure(b)-most*part)
		}
	}
	return sum
}

// mostRepairs is how many matches are repaired where all combinations are tried.
const mostRepairs = 64

// repairable reports whether the match is allowed after it was repaired.
func (b *builder) repairable() bool {
	if b.repairs <= 0 {
		return false
	}
	b.repairs--
	return b.repair()
}

// repair exchanges tickets between teams until no gap is too great and no odds are too uneven, and looks again.
func (b *builder) repair() bool {
	excess := b.excess()
	if excess <= 0 || math.IsInf(excess, 1) {
		return false
	}
	before := excess
	undo := b.undo[:0]
	b.trials = math.MaxInt
	for range rounds {
		best, good := excess, move{second: -1}
		b.exchanges(func(m move) {
			if e := b.excess(); e < best {
				best, good = e, m
			}
		})
		if !(best < excess) { // which may be no number
			break
		}
		b.swap(good)
		undo = append(undo, good)
		if excess = best; excess <= 0 {
			break
		}
	}
	b.undo = undo
	if excess < before && b.accept() {
		return true
	}
	for i := len(undo) - 1; i >= 0; i-- {
		b.swapBack(undo[i])
	}
	return false
}

// improve changes an allowed match while that makes it cheaper: it exchanges tickets between teams, and takes other
// candidates instead of chosen ones.
func (b *builder) improve() {
	if len(b.rules.Prefer) == 0 {
		return
	}
	b.trials = max(8, b.allowance())
	for range rounds {
		better := b.exchange()
		if !b.replace() && !better {
			return
		}
	}
}

// allowance is how many other matches are looked at to make one cheaper. All anchors have an even share of a part of
// the work.
func (b *builder) allowance() int {
	anchors := max(1, b.anchorsLeft)
	return min(trials, max(b.spare, b.work)/(4*anchors*max(1, b.total)))
}

// trials bounds the allowance.
const trials = 600

// exchange makes the best exchange of tickets between teams, if it makes the match cheaper.
func (b *builder) exchange() bool {
	price, region := b.price, b.region
	best, bestRegion, good := price, region, move{second: -1}
	b.exchanges(func(m move) {
		if b.cheaper(best) {
			best, bestRegion, good = b.price, b.region, m
		}
	})
	if !best.less(price) { // which may be no number
		b.price, b.region = price, region
		return false
	}
	b.price, b.region = best, bestRegion
	b.swap(good)
	return true
}

// cheaper reports whether the match is allowed and costs less.
func (b *builder) cheaper(than price) bool {
	return (b.late || price{b.cost(b.region), b.width()}.less(than)) && b.accept() && b.price.less(than)
}

// dearer is a price below which are only matches that cost less.
func (p price) dearer() price { return price{p.cost, math.Inf(-1)} }

// refresh computes what depends on the chosen tickets.
func (b *builder) refresh() {
	for i := range b.pruners {
		if near := b.pruners[i].near; near != nil {
			low, high := math.Inf(1), math.Inf(-1)
			for _, t := range b.chosen {
				low, high = lesser(low, near.low[t]), greater(high, near.high[t])
			}
			b.low[i], b.high[i] = low, high
		}
	}
	if b.masks != nil {
		b.mask = b.start
		for _, t := range b.chosen {
			b.mask &= b.reached[t]
		}
	}
	b.clock()
}
