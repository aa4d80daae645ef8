package sandbox_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/sandbox"
)

// BenchmarkRun measures a request and its answer. 3.2 MB are 100,000 tickets with 4 attributes.
func BenchmarkRun(b *testing.B) {
	box := newBox(b, sandbox.Limits{Memory: 64 << 20})
	big := reactor(echo())
	big.pages = 64
	for _, guest := range []struct {
		name string
		wasm []byte
	}{{"Go", guest(b)}, {"bare", big.bytes()}} {
		m := load(b, box, guest.wasm)
		for _, size := range []int{0, 32_000, 3_200_000} {
			b.Run(fmt.Sprintf("%s/%d", guest.name, size), func(b *testing.B) {
				i, _ := start(b, box, m)
				request := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := i.Run(b.Context(), request, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkStart measures the start of an instance with its machine code on disk, and the memory that the instance then
// takes.
func BenchmarkStart(b *testing.B) {
	box := newBox(b, sandbox.Limits{})
	for _, guest := range []struct {
		name string
		wasm []byte
	}{{"Go", guest(b)}, {"bare", reactor(echo()).bytes()}} {
		m := load(b, box, guest.wasm)
		b.Run(guest.name, func(b *testing.B) {
			memory := 0.0
			for b.Loop() {
				i, err := box.Start(b.Context(), m, "bench", func(string) {})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if _, _, err := i.Run(b.Context(), nil, 0); err != nil {
					b.Fatal(err)
				}
				memory = anonymous(b, i.Pid())
				i.Close()
				b.StartTimer()
			}
			b.ReportMetric(memory, "MB-anonymous")
		})
	}
}

// anonymous is the memory of a process that no other process can share, in MB.
func anonymous(b *testing.B, pid int) (mb float64) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(rollup)) {
		if rest, ok := strings.CutPrefix(line, "Anonymous:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			mb += kb / 1000
		}
	}
	return mb
}
