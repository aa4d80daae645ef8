package segmentation

import (
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Population is how many tickets each pool selects, by the pool's name. Pools that are missing are empty.
type Population map[string]int64

// Crowds returns the pools whose segments depend on how many tickets they select: a [Population] must have them. It
// returns nil if there are none.
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

// Fits reports whether segments that were made for one population still fit another: each has between a half and one
// and a half times the tickets that it should have, and an only segment may have fewer. A population changes with every
// ticket and every match. Segments that are kept while they fit change seldom.
func Fits(pools map[string]*pb.Pool, old, now Population) bool {
	for name, p := range pools {
		for i, f := range p.GetFilters() {
			c := cut{pool: name, index: i, filter: f}
			if !c.byPopulation() {
				continue
			}
			has, wants := float64(nearest(c.fill(old))), min(c.fill(now), MaxSegments)
			if has > 1 && wants < has/2 || wants > has*3/2 {
				return false
			}
		}
	}
	return true
}

// byPopulation reports whether the number of segments depends on the tickets.
func (c *cut) byPopulation() bool {
	s := c.filter.GetSegmentation()
	return s.GetDistribution() == Normal && s.GetBehavior() == BucketSize
}

// fill is how many segments the tickets of a cut's pool fill.
func (c *cut) fill(population Population) float64 {
	return float64(population[c.pool]) / float64(c.filter.GetSegmentation().GetValue())
}

// Division divides the pools of a config by how many tickets they select. The runners count them beside a run, now and
// then. Until the first count such a pool is one segment. It is nil where no segments depend on that.
type Division struct {
	pools map[string]*pb.Pool
	// Made is the count that the segments were made for, latest the last count.
	Made, latest Population
	requested    time.Time
	// Outgrown: the segments no longer fit the tickets.
	Outgrown bool
}

// Divide returns the division of a config's pools.
func Divide(pools map[string]*pb.Pool) *Division {
	if Crowds(pools) == nil {
		return nil
	}
	return &Division{pools: pools}
}

// Count returns the pools whose tickets a run counts; nil if it is too early to count again.
func (d *Division) Count(now time.Time, interval time.Duration) map[string]*pb.Pool {
	if d == nil || now.Before(d.requested.Add(interval)) {
		return nil
	}
	d.requested = now
	return Crowds(d.pools)
}

// Update notes the counts of a run.
func (d *Division) Update(counts Population) {
	d.latest, d.Outgrown = counts, !Fits(d.pools, d.Made, counts)
}

// Expand divides pools, which are the division's, by the last count. A nil Division divides by none.
func (d *Division) Expand(pools map[string]*pb.Pool) ([]map[string]*pb.Pool, error) {
	if d == nil {
		return Expand(pools, nil)
	}
	d.Made, d.Outgrown = d.latest, false
	return Expand(pools, d.Made)
}
