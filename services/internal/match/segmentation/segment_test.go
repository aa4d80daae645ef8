package segmentation_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/segmentation"
)

const (
	uniform, normal                     = segmentation.Uniform, segmentation.Normal
	bucketCount, bucketSize, percentage = segmentation.BucketCount, segmentation.BucketSize, segmentation.TargetPercentage
)

func segmented(low, high float64, distribution, behavior string, value int64, stddev float64) *pb.Filter {
	return &pb.Filter{Attribute: "skill", Min: &low, Max: &high, Segmentation: &pb.Segmentation{
		Distribution: distribution, Behavior: behavior, Value: value, Stddev: &stddev,
	}}
}

func below(attribute string, max float64) *pb.Filter {
	return &pb.Filter{Attribute: attribute, Min: proto.Float64(0), Max: &max}
}

// selects reports whether a filter takes a value, by the contract.
func selects(f *pb.Filter, v float64) bool {
	low, high := f.GetMin(), f.GetMax()
	return v >= low && (v < high || low == high && v == high)
}

func poolOf(filters ...*pb.Filter) map[string]*pb.Pool {
	return map[string]*pb.Pool{"all": {Filters: filters}}
}

func expand(t rapid.TB, pools map[string]*pb.Pool, population segmentation.Population) []map[string]*pb.Pool {
	t.Helper()
	runs, err := segmentation.Expand(pools, population)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// ends are the upper bounds of the segments.
func ends(runs []map[string]*pb.Pool) (list []float64) {
	for _, run := range runs {
		list = append(list, run["all"].Filters[0].GetMax())
	}
	return list
}

func TestSegments(t *testing.T) {
	crowd := segmentation.Population{"all": 1000}
	for _, c := range []struct {
		name   string
		filter *pb.Filter
		ends   []float64
	}{
		{"uniform count", segmented(0, 100, uniform, bucketCount, 4, 0), []float64{25, 50, 75, 100}},
		{"uniform size", segmented(-50, 50, uniform, bucketSize, 20, 0), []float64{-30, -10, 10, 30, 50}},
		{"uniform size that does not divide", segmented(0, 100, uniform, bucketSize, 45, 0), []float64{50, 100}},
		{"uniform size above the width", segmented(0, 100, uniform, bucketSize, 1000, 0), []float64{100}},
		{
			"uniform percentage", segmented(1000, 2000, uniform, percentage, 20, 0),
			[]float64{1200, 1400, 1600, 1800, 2000},
		},
		// The quartiles of a normal distribution are 0.674489750196 deviations from the mean, its sixths 0.967421566102
		// and 0.430727299295.
		{
			"normal count", segmented(-1e4, 1e4, normal, bucketCount, 4, 100),
			[]float64{-67.4489750196, 0, 67.4489750196, 1e4},
		},
		{
			"normal percentage", segmented(0, 3000, normal, percentage, 25, 100),
			[]float64{1432.55102498, 1500, 1567.44897502, 3000},
		},
		{
			"normal size", segmented(-1e4, 1e4, normal, bucketSize, 167, 1),
			[]float64{-0.967421566102, -0.430727299295, 0, 0.430727299295, 0.967421566102, 1e4},
		},
		// Cut off at one deviation, the lowest third of the probability ends at -0.289188886540.
		{
			"normal in a narrow range", segmented(-1, 1, normal, bucketCount, 3, 1),
			[]float64{-0.289188886540, 0.289188886540, 1},
		},
		{"normal that is nearly flat", segmented(0, 100, normal, bucketCount, 4, 1e9), []float64{25, 50, 75, 100}},
		{"closed range", segmented(5, 5, uniform, bucketCount, 3, 0), []float64{5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ends(expand(t, poolOf(c.filter), crowd))
			if !slices.EqualFunc(got, c.ends, func(a, b float64) bool { return math.Abs(a-b) <= 1e-7 }) {
				t.Errorf("segments end at %v, want %v", got, c.ends)
			}
		})
	}
}

func TestExpandWithoutSegmentation(t *testing.T) {
	pools := poolOf(below("skill", 1))
	if got := expand(t, pools, nil); len(got) != 1 || !proto.Equal(got[0]["all"], pools["all"]) {
		t.Errorf("got %v, want the pools as they are", got)
	}
	if got := expand(t, nil, nil); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("no pools expand to %v, want one run without any", got)
	}
}

func TestExpandCombines(t *testing.T) {
	two := segmented(0, 2, uniform, bucketCount, 2, 0)
	three := segmented(0, 3, uniform, bucketCount, 3, 0)
	pools := map[string]*pb.Pool{
		"a": {Filters: []*pb.Filter{below("level", 1), two}}, "b": {Filters: []*pb.Filter{three}}, "c": {},
	}
	kept := proto.Clone(pools["a"])
	var got [][2]float64
	for _, run := range expand(t, pools, nil) {
		if len(run) != 3 || !proto.Equal(run["a"].Filters[0], below("level", 1)) {
			t.Errorf("run %v lost a pool or a filter", run)
		}
		got = append(got, [2]float64{run["a"].Filters[1].GetMin(), run["b"].Filters[0].GetMin()})
	}
	if want := [][2]float64{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}; !slices.Equal(got, want) {
		t.Errorf("runs begin at %v, want %v", got, want)
	}
	if !proto.Equal(pools["a"], kept) {
		t.Error("Expand changed the pools it was given")
	}
}

// A config that is valid stays valid when a crowd comes.
func TestPopulationNeverAsksForTooMany(t *testing.T) {
	crowd := segmentation.Population{"all": 1_000_000}
	f := segmented(0, 100, normal, bucketSize, 1, 10)
	pools := poolOf(f, f, segmented(0, 1, uniform, bucketCount, 10, 0))
	if n := len(expand(t, pools, crowd)); n > segmentation.MaxSegments || n < segmentation.MaxSegments/2 {
		t.Errorf("%d runs, want at most %d and not far fewer", n, segmentation.MaxSegments)
	}
	if n := len(expand(t, pools, nil)); n != 10 {
		t.Errorf("%d runs without a population, want 10", n)
	}
}

func TestExpandRefuses(t *testing.T) {
	open := segmented(0, 1, uniform, bucketCount, 2, 0)
	open.Max = nil
	without := segmented(0, 1, normal, bucketCount, 2, 0)
	without.Segmentation.Stddev = nil
	many := segmented(0, 1, uniform, bucketCount, 17, 0)
	for reason, filters := range map[string][]*pb.Filter{
		"min and max":       {open},
		"finite":            {segmented(0, math.Inf(1), uniform, bucketCount, 2, 0)},
		"finite min":        {segmented(math.NaN(), 1, uniform, bucketCount, 2, 0)},
		"max below min":     {segmented(1, 0, uniform, bucketCount, 2, 0)},
		`"Flat"`:            {segmented(0, 1, "Flat", bucketCount, 2, 0)},
		`"BucketTaste"`:     {segmented(0, 1, uniform, "BucketTaste", 2, 0)},
		"value 0":           {segmented(0, 1, uniform, bucketCount, 0, 0)},
		"percentage 101":    {segmented(0, 1, uniform, percentage, 101, 0)},
		"needs a stddev":    {without},
		"stddev above 0":    {segmented(0, 1, normal, bucketCount, 2, -1)},
		"than 256 segments": {segmented(0, 1, uniform, bucketCount, math.MaxInt64, 0)},
		"more than 256":     {many, many},
		"256 segments":      {segmented(0, 1e300, uniform, bucketSize, 1, 0)},
	} {
		_, err := segmentation.Expand(poolOf(filters...), nil)
		if problem.KindOf(err) != problem.Invalid || err == nil || !strings.Contains(err.Error(), reason) ||
			!strings.Contains(err.Error(), "pools.all[") {
			t.Errorf("%s: got the error %v", reason, err)
		}
	}
}

// With any range and segmentation, a value that the filter selects is in exactly one segment, and any other is in none.
func TestSegmentsPartitionTheirFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-10, 10)).Draw(t, "low")
		high := rapid.OneOf(
			rapid.Float64(), rapid.Float64Range(-10, 10), rapid.Just(low), rapid.Just(math.Nextafter(low, math.Inf(1))),
		).Draw(t, "high")
		if high < low {
			low, high = high, low
		}
		f := segmented(low, high,
			rapid.SampledFrom([]string{uniform, normal}).Draw(t, "distribution"),
			rapid.SampledFrom([]string{bucketCount, bucketSize, percentage}).Draw(t, "behavior"),
			rapid.Int64Range(1, 100).Draw(t, "value"),
			rapid.OneOf(
				rapid.Float64Range(math.SmallestNonzeroFloat64, math.MaxFloat64), rapid.Float64Range(0.1, 10),
			).Draw(t, "stddev"),
		)
		crowd := rapid.Int64Range(0, 1e6).Draw(t, "crowd")
		population := segmentation.Population{"all": crowd, "another": 1e6}
		runs, err := segmentation.Expand(poolOf(f), population)
		if err != nil {
			if strings.Contains(err.Error(), "more than 256") || math.IsInf(low, 0) || math.IsInf(high, 0) {
				return
			}
			t.Fatal(err)
		}
		if len(runs) > segmentation.MaxSegments {
			t.Fatalf("%d runs", len(runs))
		}
		again, err := segmentation.Expand(poolOf(f), population)
		if err != nil || !slices.Equal(ends(runs), ends(again)) {
			t.Fatalf("the same filter gave other segments: %v, %v", ends(again), err)
		}

		probes := []float64{low, high, rapid.Float64().Draw(t, "probe")}
		if low < high {
			probes = append(probes, rapid.Float64Range(low, high).Draw(t, "probe within"))
		}
		for _, end := range ends(runs) {
			probes = append(probes, end, math.Nextafter(end, math.Inf(-1)), math.Nextafter(end, math.Inf(1)))
		}
		for _, v := range probes {
			in := 0
			for _, run := range runs {
				if selects(run["all"].Filters[0], v) {
					in++
				}
			}
			want := 0
			if selects(f, v) {
				want = 1
			}
			if in != want {
				t.Fatalf("%v is in %d segments of [%v, %v), want %d: ends %v", v, in, low, high, want, ends(runs))
			}
		}
	})
}
