package wasm_test

import (
	"testing"

	"matchmaker.dev/services/internal/wasm"
	"matchmaker.dev/services/internal/wasm/wasmtest"
)

// estimateOf is the estimate for a module without limits, in nanoseconds.
func estimateOf(t *testing.T, module []byte) int {
	t.Helper()
	s, err := wasm.Read(module, wasm.Unlimited())
	if err != nil {
		t.Fatal(err)
	}
	return s.TotalWork
}

// TestEstimateSeesWhatIsExpensive: what was measured to take the compiler about a second is expected to take between
// two fifths of one and four, whatever it is that takes the time. More of it is expected to take longer.
func TestEstimateSeesWhatIsExpensive(t *testing.T) {
	n := 0
	for _, c := range append(wasmtest.Structures(), wasmtest.Instructions()...) {
		if c.Size == 0 {
			continue
		}
		n++
		if got := estimateOf(t, c.Module(c.Size, 1)); got < 4e8 || got > 4e9 {
			t.Errorf("%s: %d of it are expected to take %d ms, measured was about a second", c.Name, c.Size, got/1e6)
		}
		last := 0
		for _, size := range []int{c.Size / 8, c.Size / 4, c.Size / 2, c.Size} {
			now := estimateOf(t, c.Module(size, 1))
			if now < last*9/5 {
				t.Errorf("%s: twice as much is expected to take %d ms instead of %d", c.Name, now/1e6, last/1e6)
			}
			last = now
		}
		if two, one := estimateOf(t, c.Module(c.Size/8, 2)), estimateOf(t, c.Module(c.Size/8, 1)); two < one*19/10 {
			t.Errorf("%s: two functions are expected to take %d, one %d", c.Name, two, one)
		}
	}
	if n < 20 {
		t.Errorf("only %d cases", n)
	}
}

// TestEstimateOrdersInstructions: as they were measured, the cheap ones first.
func TestEstimateOrdersInstructions(t *testing.T) {
	cases := map[string]wasmtest.Case{}
	for _, c := range wasmtest.Instructions() {
		cases[c.Name] = c
	}
	last, before := 0, ""
	for _, name := range []string{
		"table.size", "i32.add", "memory.grow", "i8x16.shuffle", "i32.div_s", "i32.trunc_f32_s", "table.get", "call_indirect",
		"memory.copy", "memory.fill",
	} {
		now := estimateOf(t, cases[name].Module(2000, 1))
		if now <= last {
			t.Errorf("%s is expected to take %d, %s %d", name, now, before, last)
		}
		last, before = now, name
	}
}

// TestLocalsWithoutNumber: what is counted of locals does not grow with the number that a module declares, and the
// estimate counts those that are set in a block once, however many blocks are within it.
func TestLocalsWithoutNumber(t *testing.T) {
	nested := func(depth, times int) []byte {
		code := repeat(depth, 0x02, 0x40)
		for l := 1; l <= 20; l++ {
			code = cat(code, repeat(times, 0x42, 1, 0x21, byte(l)))
		}
		return small{locals: 20, body: cat(code, repeat(depth, 0x20, 0, 0x0d, 0, 0x0b))}.bytes()
	}
	once, often := estimateOf(t, nested(50, 1)), estimateOf(t, nested(50, 10))
	if extra := often - once; extra > 20*9*2*150*2 {
		t.Errorf("locals that are set ten times are expected to take %d more than %d", extra, once)
	}
}
