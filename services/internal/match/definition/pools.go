package definition

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/segmentation"
)

// Pools reads pools by name. Those that have no fault can be expanded (segmentation.Expand).
func (r *Reader) Pools(at Path) map[string]*pb.Pool {
	pools := map[string]*pb.Pool{}
	n := r.Keys(at, func(name string, at Path) {
		r.poolName(at, name)
		pools[name] = r.pool(at)
	})
	if n > r.limits.Pools {
		r.Add(TooManyPools, at, "%d pools, at most %d are allowed", n, r.limits.Pools)
		return nil
	}
	// Segmentations with a fault of their own are not among the pools here, so that there are only too many.
	if _, err := segmentation.Expand(pools, nil); err != nil {
		detail := err.Error()
		if f, ok := errors.AsType[*problem.Error](err); ok {
			detail = f.Detail
		}
		r.add(TooManySegments, detail)
	}
	return pools
}

func (r *Reader) poolName(at Path, name string) {
	switch {
	case name == "":
		r.Add(BadPoolName, at, "the name of a pool is empty")
	case len(name) > r.limits.Name:
		r.Add(BadPoolName, at, "the name of the pool has %d bytes, at most %d are allowed", len(name), r.limits.Name)
	case strings.ContainsFunc(name, unicode.IsControl):
		r.Add(BadPoolName, at, "control characters are not allowed in the name of a pool")
	}
}

// Filters reads a list of filters, as a pool has it.
func (r *Reader) Filters(at Path) []*pb.Filter { return r.pool(at).GetFilters() }

func (r *Reader) pool(at Path) *pb.Pool {
	p := new(pb.Pool)
	if n := r.Array(at, func(at Path) { p.Filters = append(p.Filters, r.filter(at)) }); n > r.limits.Filters {
		r.Add(TooManyFilters, at, "%d filters, at most %d are allowed", n, r.limits.Filters)
	}
	return p
}

func (r *Reader) filter(at Path) *pb.Filter {
	f := new(pb.Filter)
	given, ok := r.Object(at,
		Member{"attribute", func(at Path) { f.Attribute = r.attribute(at) }},
		Member{"count", func(at Path) { f.Count = r.counted(at) }},
		Member{"min", func(at Path) { f.Min = r.bound(at) }},
		Member{"max", func(at Path) { f.Max = r.bound(at) }},
		Member{"segmentation", func(at Path) { f.Segmentation = r.segmentation(at) }},
	)
	switch {
	case ok && !given["attribute"] && !given["count"]:
		r.Add(BadFilterAttribute, at.Member("attribute"), "required, the name of the attribute to query")
	case given["attribute"] && given["count"]:
		r.Add(BadFilterAttribute, at.Member("count"), "cannot be used with attribute: make it a filter of its own")
	case given["count"] && given["segmentation"]:
		r.Add(BadSegmentation, at.Member("segmentation"), "cannot be used with count")
		f.Segmentation = nil
	}
	if f.Min != nil && f.Max != nil && f.GetMax() < f.GetMin() {
		r.Add(BadFilterRange, at, "max %v is below min %v", f.GetMax(), f.GetMin())
		f.Segmentation = nil
	}
	if given["segmentation"] && (!given["min"] || !given["max"]) {
		r.Add(BadSegmentation, at.Member("segmentation"), "a filter with a segmentation needs both min and max")
	}
	if f.Min == nil || f.Max == nil {
		f.Segmentation = nil
	}
	return f
}

func (r *Reader) attribute(at Path) string {
	name, ok := r.Text(at)
	switch {
	case ok && name == "":
		r.Add(BadFilterAttribute, at, "the name of an attribute is empty")
	case len(name) > r.limits.Name:
		r.Add(BadFilterAttribute, at, "%d bytes, at most %d are allowed", len(name), r.limits.Name)
	}
	return name
}

// counted reads what a filter counts.
func (r *Reader) counted(at Path) string {
	what, ok := r.Text(at)
	if ok && what != pool.CountPlayers {
		r.Add(BadFilterAttribute, at, "%s cannot be counted, only %s", quote(what), pool.CountPlayers)
	}
	return what
}

func (r *Reader) bound(at Path) *float64 {
	n, ok := r.Number(at)
	if !ok {
		return nil
	}
	return &n
}

// segmentation is nil when it has a fault.
func (r *Reader) segmentation(at Path) *pb.Segmentation {
	s := new(pb.Segmentation)
	before := r.count()
	given, _ := r.Object(at,
		Member{"DistributionType", func(at Path) {
			s.Distribution = r.oneOf(at, BadSegmentation, segmentation.Normal, segmentation.Uniform)
		}},
		Member{"SegmentBehaviorType", func(at Path) {
			s.Behavior = r.oneOf(at, BadSegmentation, segmentation.TargetPercentage, segmentation.BucketSize,
				segmentation.BucketCount)
		}},
		Member{"Value", func(at Path) { s.Value = r.amount(at) }},
		Member{"Stddev", func(at Path) { s.Stddev = r.bound(at) }},
	)
	if given == nil {
		return nil
	}
	for _, name := range []string{"DistributionType", "SegmentBehaviorType", "Value"} {
		if !given[name] {
			r.Add(BadSegmentation, at.Member(name), "required")
		}
	}
	if s.GetBehavior() == segmentation.TargetPercentage && s.GetValue() > 100 {
		r.Add(BadSegmentation, at.Member("Value"), "%d percent are more than all", s.GetValue())
	}
	if s.GetDistribution() == segmentation.Normal {
		r.checkStddev(at.Member("Stddev"), s, given["Stddev"])
	}
	if r.count() > before {
		return nil
	}
	return s
}

// amount reads what a segmentation aims at.
func (r *Reader) amount(at Path) int64 {
	n, ok := r.Integer(at)
	if ok && n < 1 {
		r.Add(BadSegmentation, at, "%d is below 1", n)
	}
	return n
}

// checkStddev checks the standard deviation of a normal distribution.
func (r *Reader) checkStddev(at Path, s *pb.Segmentation, given bool) {
	switch {
	case !given:
		r.Add(BadSegmentation, at, "required, because the distribution is %s", segmentation.Normal)
	case s.Stddev != nil && s.GetStddev() <= 0:
		r.Add(BadSegmentation, at, "%v is not above 0", s.GetStddev())
	}
}

// oneOf reads a word out of a list.
func (r *Reader) oneOf(at Path, code string, list ...string) string {
	word, ok := r.Text(at)
	if ok && !slices.Contains(list, word) {
		r.Add(code, at, "%s is not one of %s", quote(word), strings.Join(list, ", "))
	}
	return word
}
