package matchfn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"matchmaker.dev/pkg/matchfn"
)

// distributions are columns on which a radix sort could be wrong or slow.
var distributions = map[string]func(r *rand.Rand) float64{
	"uniform":  func(r *rand.Rand) float64 { return r.Float64()*2 - 1 },
	"normal":   func(r *rand.Rand) float64 { return 1500 + 300*r.NormFloat64() },
	"whole":    func(r *rand.Rand) float64 { return float64(r.IntN(20) - 10) },
	"any bits": func(r *rand.Rand) float64 { return math.Float64frombits(r.Uint64()) },
	"constant": func(*rand.Rand) float64 { return 7 },
	"clusters": func(r *rand.Rand) float64 {
		return []float64{-1e300, 1.7e12, math.NaN()}[r.IntN(3)] + float64(r.IntN(1000))
	},
	"times": func(r *rand.Rand) float64 { return 1.7e12 + float64(r.IntN(100_000)) },
	"with gaps": func(r *rand.Rand) float64 {
		return []float64{math.NaN(), math.Inf(-1), math.Inf(1), math.Copysign(0, -1), 0, 1}[r.IntN(6)]
	},
}

// before is the promised order, without ties.
func before(a, b float64) bool {
	return a < b || !math.IsNaN(a) && math.IsNaN(b)
}

func TestSortByIsStable(t *testing.T) {
	for name, draw := range distributions {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 1000, 5000, 70_000} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, uint64(n)))
				values := make([]float64, n)
				for i := range values {
					values[i] = draw(r)
				}
				want := make([]uint32, n)
				for i := range want {
					want[i] = uint32(i)
				}
				sort.SliceStable(want, func(i, j int) bool { return before(values[want[i]], values[want[j]]) })
				if got := matchfn.SortBy(values); !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
				if got := matchfn.SortBy(slices.Sorted(slices.Values(values))); !slices.IsSorted(got) && name == "uniform" {
					t.Errorf("sorted values are changed: %v", got)
				}

				pool := slices.Clone(want[:n/2])
				r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
				given := slices.Clone(pool)
				want = slices.Clone(pool)
				sort.SliceStable(want, func(i, j int) bool { return before(values[want[i]], values[want[j]]) })
				if got := matchfn.SortPool(pool, values); !slices.Equal(got, want) {
					t.Errorf("pool %v, want %v", got, want)
				}
				if !slices.Equal(pool, given) {
					t.Error("the pool itself was changed")
				}
			})
		}
	}
}

func TestSortPoolPutsUnknownNumbersLast(t *testing.T) {
	if got := matchfn.SortPool([]uint32{9, 1, 0}, []float64{1, 2}); !slices.Equal(got, []uint32{0, 1, 9}) {
		t.Error(got)
	}
}

func BenchmarkSortBy(b *testing.B) {
	for _, name := range []string{"normal", "whole", "any bits", "clusters"} {
		for _, n := range []int{100, 1_000, 10_000, 100_000, 1_000_000} {
			r := rand.New(rand.NewPCG(1, 2))
			values := make([]float64, n)
			for i := range values {
				values[i] = distributions[name](r)
			}
			b.Run(fmt.Sprintf("radix/%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					matchfn.SortBy(values)
				}
			})
			b.Run(fmt.Sprintf("slice/%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					order := make([]uint32, n)
					for i := range order {
						order[i] = uint32(i)
					}
					sort.Slice(order, func(i, j int) bool { return values[order[i]] < values[order[j]] })
				}
			})
		}
	}
}
