package languages

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
)

// native runs the function as a Go program of its own.
func native() *matchfn.Function {
	return matchfn.New(Pair, matchfn.Attributes("skill"), matchfn.Properties())
}

// In every language the function makes the same matches as in Go, from one instance, for all kinds of tickets.
func TestPairIsTheSameInEveryLanguage(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 10, 5000, 0, 97, 20_000, 300}
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			pair := start(t, build(t, l, "pair"))
			if m := pair.module.Manifest; !slices.Equal(m.Attributes, []string{"skill"}) || m.Properties == nil ||
				len(m.Properties) > 0 {
				t.Errorf("it wants %+v", m)
			}
			function, pairs := native(), 0
			for seed, n := range sizes {
				request := crowd(t, uint64(seed), n)
				got, want := matches(t, pair.answer(t, request), n), matches(t, function.Answer(request), n)
				if !slices.EqualFunc(got, want, func(a, b match) bool { return reflect.DeepEqual(a, b) }) {
					t.Fatalf("%d tickets, seed %d: %d matches, want %d: %v, want %v", n, seed, len(got), len(want), head(got),
						head(want))
				}
				pairs += len(got)
			}
			if pairs < 10_000 {
				t.Errorf("only %d matches were compared", pairs)
			}
		})
	}
}

// Each run frees its memory: instances answer runs for days.
func TestPairKeepsNoMemory(t *testing.T) {
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			memory(t, build(t, l, "pair"), 100)
		})
	}
	runs := 1500 // Go's collector runs about once in ten runs, and must not stop
	if testing.Short() {
		runs = 500
	}
	t.Run("Go", func(t *testing.T) { memory(t, buildGo(t), runs) })
}

func memory(t *testing.T, wasm []byte, runs int) {
	t.Helper()
	pair, request := start(t, wasm), crowd(t, 1, 10_000)
	for i := range runs {
		_, stats, err := pair.Run(t.Context(), request, 0)
		if err != nil {
			t.Fatal(err)
		}
		if limit := 16 << 20; stats.Memory > limit { // a run takes less than one MiB
			t.Fatalf("run %d: %d bytes of memory are more than %d", i, stats.Memory, limit)
		}
	}
}

type match struct {
	score   float64
	tickets []uint32
}

func matches(t *testing.T, answer []byte, tickets int) (out []match) {
	t.Helper()
	a, err := block.ParseAnswer(answer, tickets, 0)
	if err != nil {
		t.Fatal(err)
	}
	if a.Failure != "" {
		t.Fatalf("the run fails: %s", a.Failure)
	}
	for p := range a.Len() {
		if a.Teams(p) != 1 || a.Extras(p) != nil {
			t.Fatalf("proposal %d: %d teams, %+v", p, a.Teams(p), a.Extras(p))
		}
		out = append(out, match{a.Score(p), slices.Clone(a.Tickets(p))})
	}
	return out
}

func head(m []match) string { return fmt.Sprint(m[:min(len(m), 20)]) }

// crowd is a request with n tickets of all kinds: equal skills, close ones, negative ones, zeros of both signs, the
// greatest numbers, and none.
func crowd(tb testing.TB, seed uint64, n int) []byte {
	tb.Helper()
	const now = 1_900_000_000_000
	r := rand.New(rand.NewPCG(seed, 0))
	var b block.RequestBuilder
	b.Start(block.Meta{Now: now, Seed: seed, Budget: 5000, Tickets: n})
	for i, created := 0, b.Created(); i < n; i++ {
		created[i] = now - float64(r.IntN(60_000))
	}
	odd := []float64{0, math.Copysign(0, -1), math.NaN(), math.Copysign(math.NaN(), -1), math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64}
	for i, skill := 0, b.Numbers(block.KindAttribute, "skill"); i < n; i++ {
		switch skill[i] = r.NormFloat64() * 300 * math.Sqrt(float64(n)); r.IntN(8) {
		case 0:
			skill[i] = odd[r.IntN(len(odd))]
		case 1:
			skill[i] = math.Round(skill[i] / 100)
		}
	}
	request, err := b.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	return request
}
