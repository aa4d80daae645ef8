package sandbox

import (
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	shape "matchmaker.dev/services/internal/wasm"
	"matchmaker.dev/services/internal/wasm/wasmtest"
)

// BenchmarkEstimate measures what the compiler takes for each kind of module, and how much of that was expected. It is
// for the numbers in package wasm, on a machine that does nothing else.
func BenchmarkEstimate(b *testing.B) {
	for _, c := range append(wasmtest.Structures(), wasmtest.Instructions()...) {
		b.Run(c.Name, func(b *testing.B) {
			size := c.Size
			if size == 0 {
				size = 2000
			}
			module := c.Module(size, 1)
			s, err := shape.Read(module, shape.Unlimited())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r := wazero.NewRuntimeWithConfig(b.Context(), wazero.NewRuntimeConfigCompiler())
				if _, err := r.CompileModule(b.Context(), module); err != nil {
					b.Fatal(err)
				}
				_ = r.Close(b.Context())
			}
			took := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(took.Nanoseconds())/float64(size), "ns/each")
			b.ReportMetric(float64(s.TotalWork)/float64(took.Nanoseconds()), "estimated")
		})
	}
}
