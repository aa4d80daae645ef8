package segmentation_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/segmentation"
)

// inTickets is a filter with segments of so many tickets.
func inTickets(low, high float64, value int64) *pb.Filter {
	return segmented(low, high, normal, bucketSize, value, 10)
}

func TestCrowds(t *testing.T) {
	pools := map[string]*pb.Pool{
		"plain": {Filters: []*pb.Filter{below("skill", 1)}},
		"count": {Filters: []*pb.Filter{segmented(0, 1, normal, bucketCount, 3, 1)}},
		"width": {Filters: []*pb.Filter{segmented(0, 1, uniform, bucketSize, 3, 1)}},
		"crowd": {Filters: []*pb.Filter{below("level", 1), inTickets(0, 1, 3)}},
	}
	if got := slices.Collect(maps.Keys(segmentation.Crowds(pools))); !slices.Equal(got, []string{"crowd"}) {
		t.Errorf("%q depend on their tickets", got)
	}
	delete(pools, "crowd")
	if got := segmentation.Crowds(pools); got != nil {
		t.Errorf("%v depend on their tickets", got)
	}
}

// Only tickets that pass all filters of the pool are counted.
func TestPopulationCountsThePoolsTickets(t *testing.T) {
	ix := pool.New()
	for i := range 100 {
		text, err := proto.Marshal(&pb.Ticket{
			Id: fmt.Sprint(i), Created: 1, AttributeNames: []string{"skill", "side"},
			AttributeValues: []float64{float64(i), float64(i % 2)},
		})
		if err == nil {
			err = ix.Put(fmt.Sprint(i), text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	side := 1.0
	pools := map[string]*pb.Pool{"half": {Filters: []*pb.Filter{
		{Attribute: "side", Min: &side, Max: &side}, inTickets(0, 80, 10),
	}}}
	var population segmentation.Population
	ix.View(func(v pool.View) { population = v.Count(segmentation.Crowds(pools)) })
	if population["half"] != 40 {
		t.Fatalf("%d tickets are counted, want the 40 of one side below 80", population["half"])
	}
	runs := expand(t, pools, population)
	if len(runs) != 4 {
		t.Fatalf("%d segments of 40 tickets, want 4 of 10", len(runs))
	}
	in := map[string]int{}
	var s pool.Selection
	for _, run := range runs {
		ix.View(func(v pool.View) { v.Select(run, &s) })
		for i := range s.N() {
			in[s.ID(i)]++
		}
	}
	for id, n := range in {
		if n != 1 {
			t.Errorf("ticket %s is in %d segments", id, n)
		}
	}
	if len(in) != 40 {
		t.Errorf("%d tickets are in segments, want 40", len(in))
	}
}

func TestFits(t *testing.T) {
	pools := poolOf(inTickets(0, 100, 100), below("skill", 1))
	for _, c := range []struct {
		made, now int64
		fits      bool
	}{
		{0, 0, true}, {0, 150, true}, {0, 151, false}, {149, 0, true}, {149, 150, true},
		{200, 300, true}, {200, 301, false}, {200, 100, true}, {200, 99, false},
		{1000, 1500, true}, {1000, 1501, false}, {1000, 500, true}, {1000, 499, false}, {1000, 0, false},
		{1e6, 1e9, true}, {1e9, 1e6, true}, {1e9, 1e4, false},
	} {
		made, now := segmentation.Population{"all": c.made}, segmentation.Population{"all": c.now}
		if got := segmentation.Fits(pools, made, now); got != c.fits {
			t.Errorf("segments made for %d tickets fit %d: %t", c.made, c.now, got)
		}
	}
	fixed := poolOf(segmented(0, 1, normal, bucketCount, 2, 1))
	if !segmentation.Fits(fixed, nil, segmentation.Population{"all": 1e6}) {
		t.Error("segments that do not depend on tickets do not fit them")
	}
}

func TestPopulationIsCountedOncePerInterval(t *testing.T) {
	d := segmentation.Divide(map[string]*pb.Pool{"all": {}, "crowd": {Filters: []*pb.Filter{inTickets(0, 100, 10)}}})
	now := time.Unix(1_700_000_000, 0)
	if pools := d.Count(now, time.Second); len(pools) != 1 || pools["crowd"] == nil {
		t.Errorf("first counts %v", pools)
	}
	if pools := d.Count(now.Add(999*time.Millisecond), time.Second); pools != nil {
		t.Errorf("soon afterwards counts %v", pools)
	}
	if pools := d.Count(now.Add(time.Second), time.Second); len(pools) != 1 {
		t.Errorf("a second later counts %v", pools)
	}
}

func TestNilDivisionDividesByNoPopulation(t *testing.T) {
	pools := map[string]*pb.Pool{"all": {Filters: []*pb.Filter{segmented(0, 1, uniform, bucketCount, 3, 1)}}}
	none := segmentation.Divide(pools)
	if none != nil || none.Count(time.Unix(1_700_000_000, 0), time.Second) != nil {
		t.Error("pools whose segments do not depend on their tickets are counted")
	}
	if runs, err := none.Expand(pools); err != nil || len(runs) != 3 {
		t.Errorf("%d segments, want 3: %v", len(runs), err)
	}
}

// A population that varies around one size changes the segments twice at most, and new segments fit.
func TestSegmentsDoNotFlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Int64Range(1, 1000).Draw(t, "value")
		pools := poolOf(inTickets(0, 100, value))
		base := rapid.Int64Range(0, 300*value).Draw(t, "base")
		spread := int64(math.Floor(float64(base) * 0.19))
		made := segmentation.Population{"all": rapid.Int64Range(0, 300*value).Draw(t, "before")}
		changes := 0
		for _, n := range rapid.SliceOfN(rapid.Int64Range(base-spread, base+spread), 1, 50).Draw(t, "populations") {
			now := segmentation.Population{"all": n}
			if segmentation.Fits(pools, made, now) {
				continue
			}
			if was, is := len(expand(t, pools, made)), len(expand(t, pools, now)); was == is {
				t.Fatalf("%d segments for %v do not fit %v, which has as many", was, made, now)
			}
			made = now
			changes++
			if !segmentation.Fits(pools, made, now) {
				t.Fatalf("segments for %v do not fit it", made)
			}
		}
		if changes > 2 {
			t.Fatalf("the segments changed %d times around %d tickets, of %d each", changes, base, value)
		}
	})
}

// With two segmented filters and any population, a ticket of the pool is in exactly one run, and any other is in none.
func TestCombinationsPartitionTheirPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := func(attribute string) *pb.Filter {
			f := segmented(0, 100,
				rapid.SampledFrom([]string{uniform, normal, normal}).Draw(t, "distribution"),
				rapid.SampledFrom([]string{bucketCount, bucketSize, bucketSize}).Draw(t, "behavior"),
				rapid.Int64Range(7, 16).Draw(t, "value"), rapid.Float64Range(1, 1000).Draw(t, "stddev"))
			f.Attribute = attribute
			return f
		}
		base := poolOf(random("skill"), random("level"))
		runs := expand(t, base, segmentation.Population{"all": rapid.Int64Range(0, 1000).Draw(t, "population")})
		if len(runs) > segmentation.MaxSegments {
			t.Fatalf("%d runs", len(runs))
		}
		values := rapid.OneOf(rapid.Float64Range(-1, 101), rapid.SampledFrom([]float64{0, 50, 100}),
			rapid.Custom(func(t *rapid.T) float64 { return rapid.SampledFrom(runs).Draw(t, "run")["all"].Filters[0].GetMin() }))
		skill, level := values.Draw(t, "skill"), values.Draw(t, "level")
		in := func(p *pb.Pool) bool { return selects(p.Filters[0], skill) && selects(p.Filters[1], level) }
		got, want := 0, 0
		for _, run := range runs {
			if in(run["all"]) {
				got++
			}
		}
		if in(base["all"]) {
			want = 1
		}
		if got != want {
			t.Fatalf("a ticket with skill %v and level %v is in %d of %d runs, want %d", skill, level, got, len(runs), want)
		}
	})
}
