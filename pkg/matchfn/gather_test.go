package matchfn_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"matchmaker.dev/pkg/matchfn"
)

func TestGatherReturnsNaNForUnknownNumbers(t *testing.T) {
	values := []float64{10, 11, math.NaN(), 13}
	got := matchfn.Gather(values, []uint32{3, 0, 0, 4, 2, math.MaxUint32, 1})
	want := []float64{13, 10, 10, math.NaN(), math.NaN(), math.NaN(), 11}
	if !slices.EqualFunc(got, want,
		func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := matchfn.Gather(nil, nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func ExampleGather() {
	skill := []float64{1500, 900, 1210}
	order := matchfn.SortBy(skill)
	fmt.Println(order, matchfn.Gather(skill, order))
	// Output: [1 2 0] [900 1210 1500]
}
