package histogram

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A quantile is never below the true one, and above it by a fifth at most.
func TestQuantilesAreCloseEnough(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var here, there, both Counts
	values := make([]int64, 0, 10_000)
	for range cap(values) {
		value := int64(1 + random.ExpFloat64()*20_000)
		values = append(values, value)
		if random.IntN(2) == 0 {
			here.Add(value)
		} else {
			there.Add(value)
		}
	}
	both.Merge(here.List())
	both.Merge(there.List())
	slices.Sort(values)
	for _, share := range []float64{0.001, 0.5, 0.9, 0.99, 1} {
		want := values[max(0, int(share*float64(len(values)))-1)]
		got := both.Quantile(share)
		if got < want-1 || float64(got) > 1.2*float64(want)+1 {
			t.Errorf("the quantile %v is %d, the true one %d", share, got, want)
		}
	}
}

func TestExtremes(t *testing.T) {
	var c Counts
	if c.Quantile(0.5) != 0 || len(c.List()) != 0 {
		t.Error("an empty histogram has values")
	}
	c.Add(-5)
	c.Add(0)
	if got := c.Quantile(1); got != 1 {
		t.Errorf("values below 1 count as %d", got)
	}
	c.Add(1 << 62)
	if got := c.Quantile(1); got < 200_000_000 {
		t.Errorf("the last bucket ends at %d", got)
	}
	c.Merge(make([]uint32, 2*Buckets)) // of a later version
	if got := c.List(); len(got) != Buckets || got[0] != 2 {
		t.Errorf("the list is %v", got)
	}
}
