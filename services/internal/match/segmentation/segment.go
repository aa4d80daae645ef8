// Package segmentation divides the pools of a config into segments. Each segment is a run of its function.
package segmentation

import (
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// MaxSegments is how many segments the pools of a config may have. Each is a run of the function in every cycle, and
// more instances than that never work at once.
const MaxSegments = 256

// Distributions and behaviors of a segmentation.
const (
	Uniform = "Uniform" // segments of equal width
	Normal  = "Normal"  // segments of equal probability, with the mean in the middle of the range

	BucketCount      = "BucketCount"      // this many segments
	BucketSize       = "BucketSize"       // about this wide (Uniform), or about this many tickets in each (Normal)
	TargetPercentage = "TargetPercentage" // about this percentage in each
)

// Expand replaces each segmented filter by its segments: filters that do not intersect and that cover the segmented one
// exactly. The result has a set of pools for each combination of segments, in a fixed order. Without segmentations it
// has only the given pools. The given pools are shared, not changed.
//
// Segments are equal in width or probability. If a target size or percentage does not divide the whole, the number of
// segments is the nearest one. A range with fewer floating-point numbers than segments has fewer segments.
//
// Errors: problem.Invalid, which names the pool and the filter, for a segmentation that is not valid and for more than
// MaxSegments combinations. Segmentations that depend on the population are never too many: they get what the others
// leave. So a config that was expanded once, without a population, can be expanded with any.
func Expand(pools map[string]*pb.Pool, population Population) ([]map[string]*pb.Pool, error) {
	cuts, err := cutsOf(pools, population)
	if err != nil {
		return nil, err
	}
	runs := []map[string]*pb.Pool{pools}
	for _, c := range cuts {
		var next []map[string]*pb.Pool
		for _, run := range runs {
			for _, f := range c.filters() {
				next = append(next, replaceFilter(run, c.pool, c.index, f))
			}
		}
		runs = next
	}
	return runs, nil
}

// replaceFilter returns pools with one filter replaced.
func replaceFilter(pools map[string]*pb.Pool, name string, index int, f *pb.Filter) map[string]*pb.Pool {
	filters := slices.Clone(pools[name].GetFilters())
	filters[index] = f
	changed := maps.Clone(pools)
	changed[name] = &pb.Pool{Filters: filters}
	return changed
}

// cut is a segmented filter.
type cut struct {
	pool   string
	index  int
	filter *pb.Filter
	count  int
}

// cutsOf finds the segmented filters, in the order of pool names, and how many segments each gets.
func cutsOf(pools map[string]*pb.Pool, population Population) ([]*cut, error) {
	var cuts, crowds []*cut
	total := 1
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		for i, f := range pools[name].GetFilters() {
			if f.GetSegmentation() == nil {
				continue
			}
			c := &cut{pool: name, index: i, filter: f}
			if err := c.check(); err != nil {
				return nil, err
			}
			cuts = append(cuts, c)
			if c.byPopulation() {
				crowds = append(crowds, c)
				continue
			}
			c.count = nearest(c.wanted())
			if c.count*total > MaxSegments {
				return nil, c.invalid("asks for more than %d segments in all", MaxSegments)
			}
			total *= c.count
		}
	}
	for _, c := range crowds {
		c.count = min(nearest(c.fill(population)), MaxSegments/total)
		total *= c.count
	}
	return cuts, nil
}

// check returns why a segmentation is not valid.
func (c *cut) check() error {
	low, high := c.filter.GetMin(), c.filter.GetMax()
	s := c.filter.GetSegmentation()
	switch {
	case c.filter.Min == nil || c.filter.Max == nil:
		return c.invalid("needs a filter with min and max")
	case math.IsNaN(low+high) || math.IsInf(low, 0) || math.IsInf(high, 0):
		return c.invalid("needs a filter with finite min and max")
	case high < low:
		return c.invalid("has a filter with max below min")
	case s.GetDistribution() != Uniform && s.GetDistribution() != Normal:
		return c.invalid("has the distribution type %q, not %s or %s", s.GetDistribution(), Uniform, Normal)
	case !slices.Contains([]string{BucketCount, BucketSize, TargetPercentage}, s.GetBehavior()):
		return c.invalid("has the segment behavior type %q, not %s, %s or %s",
			s.GetBehavior(), BucketCount, BucketSize, TargetPercentage)
	case s.GetValue() < 1:
		return c.invalid("has the value %d, which is below 1", s.GetValue())
	case s.GetBehavior() == TargetPercentage && s.GetValue() > 100:
		return c.invalid("has the percentage %d, which is above 100", s.GetValue())
	case s.GetDistribution() == Normal && !(s.GetStddev() > 0 && !math.IsInf(s.GetStddev(), 0)):
		return c.invalid("needs a stddev above 0, because it is %s", Normal)
	}
	return nil
}

func (c *cut) invalid(format string, args ...any) error {
	args = append([]any{c.pool, c.index, c.filter.GetAttribute()}, args...)
	return problem.New(problem.Invalid, "pools.%s[%d].segmentation (attribute %q) "+format, args...)
}

// wanted is how many segments a cut that does not depend on the population asks for.
func (c *cut) wanted() float64 {
	amount := float64(c.filter.GetSegmentation().GetValue())
	switch c.filter.GetSegmentation().GetBehavior() {
	case BucketSize:
		return (c.filter.GetMax() - c.filter.GetMin()) / amount
	case TargetPercentage:
		return 100 / amount
	default:
		return amount
	}
}

// nearest is the number of segments nearest to n: at least 1, and at most MaxSegments+1.
func nearest(n float64) int { return int(min(max(math.Round(n), 1), MaxSegments+1)) }

// filters are the segments, in ascending order.
func (c *cut) filters() []*pb.Filter {
	low, high := c.filter.GetMin(), c.filter.GetMax()
	var list []*pb.Filter
	for i := 1; i < c.count; i++ {
		// Rounding must neither repeat a bound, as [x, x) would be closed, nor leave the range.
		if at := c.bound(float64(i) / float64(c.count)); low < at && at < high {
			list = append(list, c.segment(low, at))
			low = at
		}
	}
	return append(list, c.segment(low, high))
}

func (c *cut) segment(low, high float64) *pb.Filter {
	return &pb.Filter{
		Attribute: c.filter.GetAttribute(), Count: c.filter.GetCount(), Min: proto.Float64(low), Max: proto.Float64(high),
	}
}

// bound is the value below which a share of the distribution lies. It computes from the middle and in halves, because
// high-low may overflow. The conversions forbid fused operations, which would give other bounds on other processors.
func (c *cut) bound(share float64) float64 {
	low, high := c.filter.GetMin(), c.filter.GetMax()
	if c.filter.GetSegmentation().GetDistribution() == Uniform {
		return 2 * (low/2 + float64((high/2-low/2)*share))
	}
	mean, half := low/2+high/2, high/2-low/2
	deviation := math.Sqrt2 * c.filter.GetSegmentation().GetStddev()
	// This is the quantile of a normal distribution that is cut off at the ends of the range, so that the segments cover
	// the range: the inverse error function, between -erf and +erf of the ends.
	return mean + float64(deviation*math.Erfinv(math.Erf(half/deviation)*(2*share-1)))
}
