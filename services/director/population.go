package director

import (
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/segmentation"
)

// population counts the tickets of a config's pools whose segments depend on it. The runners count them beside a run,
// now and then. Until the first count such a pool is one segment.
type population struct {
	pools map[string]*pb.Pool // of the config
	// segmented is the count that the segments were made for, latest the last count.
	segmented, latest segmentation.Population
	requested         time.Time
	// outgrown: the segments no longer fit the tickets.
	outgrown bool
}

// newPopulation returns nil if no segments depend on the number of tickets.
func newPopulation(pools map[string]*pb.Pool) *population {
	if segmentation.Crowds(pools) == nil {
		return nil
	}
	return &population{pools: pools}
}

// count returns the pools that a run counts; nil if it is too early to count again.
func (p *population) count(now time.Time, interval time.Duration) map[string]*pb.Pool {
	if p == nil || now.Before(p.requested.Add(interval)) {
		return nil
	}
	p.requested = now
	return segmentation.Crowds(p.pools)
}

// update notes the counts of a run.
func (p *population) update(counts segmentation.Population) {
	p.latest, p.outgrown = counts, !segmentation.Fits(p.pools, p.segmented, counts)
}

// segment returns the segments that fit the last count.
func (p *population) segment(pools map[string]*pb.Pool) ([]map[string]*pb.Pool, error) {
	if p == nil {
		return segmentation.Expand(pools, nil)
	}
	p.segmented, p.outgrown = p.latest, false
	return segmentation.Expand(pools, p.segmented)
}
