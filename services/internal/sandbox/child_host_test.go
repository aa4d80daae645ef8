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
	t.Parallel()
	const order, shiftRight = 32 << 10, 0x76
	b := newBox(t, sandbox.Limits{})
	// A request is a column, and the answer is its order.
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
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	// The answer is as long as the result.
	sort := func(values, n, order int) []byte {
		return reactor(cat(i32c(800), grow, drop, i32c(values), i32c(n), i32c(order), call(0), []byte{0xad}),
			sorting()).bytes()
	}
	const most = 4 << 20
	for name, test := range map[string]struct {
		module []byte
		traps  string
		answer int
	}{
		"none":           {sort(0, 0, 0), "", 1},
		"the most":       {sort(0, most, 34<<20), "", 1},
		"too many":       {sort(0, most+1, 34<<20), "", 0},
		"values outside": {sort(-8, 2, 64), "mm.sort(0xfffffff8, 2, 0x40): misaligned, or outside of memory", 0},
		"order outside":  {sort(64, 2, -4), "outside of memory", 0},
		"more than there is": {sort(32<<20, most, 0), "mm.sort(0x2000000, 4194304, 0x0): misaligned, or outside of memory",
			0},
		"values misaligned": {sort(4, 2, 64), "misaligned", 0},
		"order misaligned":  {sort(0, 2, 65), "misaligned", 0},
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

// gathering is the import of mm.gather.
func gathering() imported { return imported{"mm", "gather", []byte{i32, i32, i32, i32, i32}, nil} }

func TestGather(t *testing.T) {
	t.Parallel()
	const n, to = 500, 32 << 10
	b := newBox(t, sandbox.Limits{})
	// A request is a column of n values, and behind it the numbers of n of them.
	m := load(t, b, reactor(cat(
		i32c(ask), i32c(n), i32c(ask+8*n), i32c(n), i32c(to), call(0),
		i64c(to<<32|8*n),
	), gathering()).bytes())
	i, _ := start(t, b, m)
	r := rand.New(rand.NewPCG(1, 2))
	values, numbers := make([]float64, n), make([]uint32, n)
	var request []byte
	for k := range values {
		values[k] = r.NormFloat64()
		request = binary.LittleEndian.AppendUint64(request, math.Float64bits(values[k]))
	}
	for k := range numbers {
		numbers[k] = []uint32{r.Uint32N(n), r.Uint32N(n), n + r.Uint32N(3), math.MaxUint32}[r.IntN(4)]
		request = binary.LittleEndian.AppendUint32(request, numbers[k])
	}
	answer := []byte(run(t, i, string(request)))
	if len(answer) != 8*n {
		t.Fatalf("%d bytes", len(answer))
	}
	for k, want := range matchfn.Gather(values, numbers) {
		if got := math.Float64frombits(binary.LittleEndian.Uint64(answer[8*k:])); got != want &&
			(got == got || want == want) {
			t.Fatalf("number %d of %d values is %v, want %v", numbers[k], n, got, want)
		}
	}
}

func TestGatherRefuses(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	gather := func(values, n, numbers, m, to int) []byte {
		return reactor(cat(i32c(values), i32c(n), i32c(numbers), i32c(m), i32c(to), call(0), i64c(0)), gathering()).bytes()
	}
	for name, test := range map[string]struct {
		module []byte
		traps  bool
	}{
		"nothing":             {gather(0, 0, 0, 0, 0), false},
		"all there is":        {gather(0, 8192, 0, 4096, 0), false},
		"values outside":      {gather(8, 8192, 0, 1, 0), true},
		"numbers outside":     {gather(0, 1, 65536-4, 2, 0), true},
		"to outside":          {gather(0, 1, 0, 2, 65536-8), true},
		"so many":             {gather(0, 1<<29, 0, 1, 0), true},
		"so many numbers":     {gather(0, 1, 0, 1<<30, 0), true},
		"values misaligned":   {gather(4, 1, 0, 1, 8), true},
		"numbers misaligned":  {gather(0, 1, 2, 1, 8), true},
		"to misaligned":       {gather(0, 1, 0, 1, 12), true},
		"values far outside":  {gather(-8, 1, 0, 1, 0), true},
		"numbers far outside": {gather(0, 1, -4, 1, 0), true},
	} {
		t.Run(name, func(t *testing.T) {
			i, _ := start(t, b, load(t, b, test.module))
			if !test.traps {
				run(t, i, "x")
				return
			}
			if e := fails(t, i, "x", sandbox.Trap); !strings.Contains(e.Detail, "mm.gather(") ||
				!strings.Contains(e.Detail, "misaligned, or outside of memory") {
				t.Errorf("detail %q", e.Detail)
			}
		})
	}
}
