package pool

import (
	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Population is how many tickets each pool selects, by its name. A pool that it does not name is empty.
type Population map[string]int64

// Crowds are the pools whose segments depend on how many tickets they select: those that a [Population] has to have. It is nil when there are none.
func Crowds(pools map[string]*pb.Pool) map[string]*pb.Pool {
	var crowds map[string]*pb.Pool
	for name, p := range pools {
		for i, f := range p.GetFilters() {
			if c := (cut{pool: name, index: i, filter: f}); !c.byPopulation() {
				continue
			}
			if crowds == nil {
				crowds = map[string]*pb.Pool{}
			}
			crowds[name] = p
		}
	}
	return crowds
}

// Fits tells whether the segments of pools that were made for one population are still good for another: each is
// to have between a half and one and a half times the tickets that it should have, and the only one may have fewer. Segments that are kept while they fit
// change seldom, though a population changes with every ticket and with every match.
func Fits(pools map[string]*pb.Pool, made, now Population) bool {
	for name, p := range pools {
		for i, f := range p.GetFilters() {
			c := cut{pool: name, index: i, filter: f}
			if !c.byPopulation() {
				continue
			}
			there, wanted := float64(nearest(c.fill(made))), min(c.fill(now), MaxSegments)
			if there > 1 && wanted < there/2 || wanted > there*3/2 {
				return false
			}
		}
	}
	return true
}

// byPopulation tells whether the number of segments depends on the tickets.
func (c *cut) byPopulation() bool {
	s := c.filter.GetSegmentation()
	return s.GetDistribution() == Normal && s.GetBehavior() == BucketSize
}

// fill is how many segments the tickets of a cut's pool fill.
func (c *cut) fill(population Population) float64 {
	return float64(population[c.pool]) / float64(c.filter.GetSegmentation().GetValue())
}
