package languages

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

// BenchmarkPair measures the function in every language, including the way to the sandbox and back, beside Go without a
// sandbox.
func BenchmarkPair(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		request := queue(b, n)
		function := native()
		b.Run(fmt.Sprintf("native/%d", n), func(b *testing.B) {
			for b.Loop() {
				function.Answer(request)
			}
		})
		b.Run(fmt.Sprintf("Go/%d", n), func(b *testing.B) { runs(b, buildGo(b), request, n) })
		for _, l := range languages() {
			b.Run(fmt.Sprintf("%s/%d", l.name, n), func(b *testing.B) { runs(b, build(b, l, "pair"), request, n) })
		}
	}
}

func runs(b *testing.B, wasm, request []byte, n int) {
	pair := start(b, wasm)
	if a, err := block.ParseAnswer(pair.answer(b, request), n, 0); err != nil || a.Len() < n/3 {
		b.Fatalf("%d matches, %v", a.Len(), err)
	}
	memory := 0
	for b.Loop() {
		_, stats, err := pair.Run(b.Context(), request, 0)
		if err != nil {
			b.Fatal(err)
		}
		memory = stats.Memory
	}
	b.ReportMetric(float64(memory)/1e6, "MB-linear")
	b.ReportMetric(float64(len(wasm))/1e3, "kB-module")
}

// queue is a request as a runner sends it, with a normal distribution of skills.
func queue(tb testing.TB, n int) []byte {
	const now = 1_900_000_000_000
	r := rand.New(rand.NewPCG(1, 2))
	var b block.RequestBuilder
	b.Start(block.Meta{Now: now, Budget: 5000, Tickets: n})
	for i, created := 0, b.Created(); i < n; i++ {
		created[i] = now - float64(r.IntN(30_000))
	}
	for i, skill := 0, b.Numbers(block.KindAttribute, "skill"); i < n; i++ {
		skill[i] = 1500 + 300*r.NormFloat64()
	}
	for i, pool := 0, b.Members(block.KindPool, "everyone", n); i < n; i++ {
		pool[i] = uint32(i)
	}
	request, err := b.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	return request
}
