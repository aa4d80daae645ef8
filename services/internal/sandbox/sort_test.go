package sandbox_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/services/internal/sandbox"
)

// sorting is the import of mm.sort.
func sorting() imported { return imported{"mm", "sort", []byte{i32, i32, i32}, []byte{i32}} }

func TestSort(t *testing.T) {
	const order, shiftRight = 32 << 10, 0x76
	b := newBox(t, sandbox.Limits{})
	// A request is a column, and the answer its order.
	m := load(t, b, reactor(cat(
		i32c(ask), get(0), i32c(3), []byte{shiftRight}, i32c(order), call(0), drop,
		get(0), i32c(1), []byte{shiftRight, 0xad}, i64c(order<<32), []byte{0x84},
	), sorting()).bytes())
	i, _ := start(t, b, m)
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 65, 3000} {
		values := make([]float64, n)
		var request []byte
		for k := range values {
			values[k] = []float64{r.NormFloat64(), float64(r.IntN(3)), math.NaN()}[r.IntN(3)]
			request = binary.LittleEndian.AppendUint64(request, math.Float64bits(values[k]))
		}
		answer := []byte(run(t, i, string(request)))
		var got []uint32
		for ; len(answer) >= 4; answer = answer[4:] {
			got = append(got, binary.LittleEndian.Uint32(answer))
		}
		if want := matchfn.SortBy(values); !slices.Equal(got, want) {
			t.Errorf("%v are in the order %v, want %v", values, got, want)
		}
	}
}

func TestSortRefuses(t *testing.T) {
	b := newBox(t, sandbox.Limits{})
	// The answer is as long as the result.
	sort := func(values, n, order int) []byte {
		return reactor(cat(i32c(800), grow, drop, i32c(values), i32c(n), i32c(order), call(0), []byte{0xad}), sorting()).bytes()
	}
	const most = 4 << 20
	for name, test := range map[string]struct {
		module []byte
		traps  string
		answer int
	}{
		"none":               {sort(0, 0, 0), "", 1},
		"the most":           {sort(0, most, 34<<20), "", 1},
		"too many":           {sort(0, most+1, 34<<20), "", 0},
		"values outside":     {sort(-8, 2, 64), "mm.sort(0xfffffff8, 2, 0x40): misaligned, or outside of memory", 0},
		"order outside":      {sort(64, 2, -4), "outside of memory", 0},
		"more than there is": {sort(32<<20, most, 0), "mm.sort(0x2000000, 4194304, 0x0): misaligned, or outside of memory", 0},
		"values misaligned":  {sort(4, 2, 64), "misaligned", 0},
		"order misaligned":   {sort(0, 2, 65), "misaligned", 0},
	} {
		t.Run(name, func(t *testing.T) {
			i, _ := start(t, b, load(t, b, test.module))
			if test.traps == "" {
				if got := run(t, i, "x"); len(got) != test.answer {
					t.Errorf("the result is %d, want %d", len(got), test.answer)
				}
				return
			}
			if e := fails(t, i, "x", sandbox.Trap); !strings.Contains(e.Detail, test.traps) {
				t.Errorf("detail %q, want %q", e.Detail, test.traps)
			}
		})
	}
}
