package sandbox_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"pgregory.net/rapid"

	"matchmaker.dev/services/internal/sandbox"
)

// Instructions of functions as Go's compiler writes them: local 0 says which block is next.

func set(local int) []byte          { return cat([]byte{0x21}, uleb(local)) }
func br(label ...byte) []byte       { return cat([]byte{0x0c}, label) }
func when(code ...[]byte) []byte    { return cat([]byte{0x04, 0x40}, cat(code...), []byte{0x0b}) }
func jump(to int, loop byte) []byte { return cat(i32c(to), set(0), br(loop)) }
func table(targets ...byte) []byte  { return cat([]byte{0x0e}, uleb(len(targets)-1), targets) }
func blocks(n int, of []byte) []byte {
	return cat([]byte{0x03, 0x40}, bytes.Repeat([]byte{0x02, 0x40}, n), get(0), of)
}

func TestShortenJumps(t *testing.T) {
	// In the first of three blocks the loop is label 2, in the second one label 1. The values 1 and 3 are the second
	// block, and values from 128 on are the loop itself.
	targets := append([]byte{0, 1, 2, 1}, bytes.Repeat([]byte{2}, 124)...)
	around := func(first, second, behind []byte) []byte {
		end := []byte{0x0b}
		code := cat(blocks(3, table(append(targets, 3)...)), end, first, end, second, end, end, behind, get(0))
		return module{pages: 1, funcs: []function{{export: "f", params: []byte{i32}, results: []byte{i32},
			code: code}}}.bytes()
	}
	for name, test := range map[string]struct{ code, becomes []byte }{
		"ahead":              {jump(2, 2), jump(2, 1)},
		"to the next":        {jump(1, 2), jump(1, 0)},
		"by another value":   {jump(3, 2), jump(3, 0)},
		"a long label":       {cat(i32c(2), set(0), br(0x82, 0x80, 0)), cat(i32c(2), set(0), br(0x81, 0x80, 0))},
		"in a condition":     {cat(get(0), when(jump(2, 3))), cat(get(0), when(jump(2, 2)))},
		"behind a condition": {cat(get(0), when(), jump(2, 2)), cat(get(0), when(), jump(2, 1))},
		"in another loop": {cat([]byte{0x03, 0x40}, jump(2, 3), []byte{0x0b}),
			cat([]byte{0x03, 0x40}, jump(2, 2), []byte{0x0b})},
		"behind all numbers": {cat(i32c(-1<<31), drop, i64c(-1<<63), drop, []byte{0x43, 1, 2, 3, 4}, drop, jump(2, 2)),
			cat(i32c(-1<<31), drop, i64c(-1<<63), drop, []byte{0x43, 1, 2, 3, 4}, drop, jump(2, 1))},
		"behind much memory": {cat(i32c(0), i32c(0), i32c(0), []byte{0xfc, 11, 0}, jump(2, 2)),
			cat(i32c(0), i32c(0), i32c(0), []byte{0xfc, 11, 0}, jump(2, 1))},
		"to itself":          {jump(0, 2), nil},
		"out of the table":   {jump(128, 2), nil},
		"far out of it":      {jump(1<<31-1, 2), nil},
		"a negative value":   {jump(-1, 2), nil}, // the byte is 127's
		"another variable":   {cat(i32c(2), set(1), br(2)), nil},
		"not to the loop":    {jump(1, 1), nil},
		"an unknown value":   {cat(get(0), set(0), br(2)), nil},
		"something between":  {cat(i32c(2), set(0), []byte{0x01}, br(2)), nil},
		"only sometimes":     {cat(i32c(2), set(0), get(0), []byte{0x0d, 2}), nil},
		"looks like it":      {cat([]byte{0x44}, jump(2, 2), []byte{0, 0}, drop), nil}, // it is a number
		"behind what is new": {cat([]byte{0xfe, 0x03, 0}, jump(2, 2)), nil},
		"two memories":       {cat(i32c(0), []byte{0x28, 0x42, 0, 0}, drop, jump(2, 2)), nil},
		"in a second table":  {cat(blocks(1, table(0, 0)), jump(0, 1), []byte{0x0b, 0x0b}), nil},
		// type 64
		"a type that is void": {cat([]byte{0x02, 0xc0, 0}, jump(2, 3), []byte{0x0b}),
			cat([]byte{0x02, 0xc0, 0}, jump(2, 2), []byte{0x0b})},
	} {
		t.Run(name, func(t *testing.T) {
			// After the loop, a jump only looks like one of the loop, and there is a second table.
			lost := cat([]byte{0x02, 0x40}, jump(2, 0), []byte{0x0b})
			second := func(label byte) []byte {
				return cat(lost, blocks(2, table(0, 1)), []byte{0x0b}, jump(1, label), []byte{0x0b, 0x0b})
			}
			before := around(test.code, jump(2, 1), second(1))
			want := around(test.code, jump(2, 0), second(0))
			if test.becomes != nil {
				want = around(test.becomes, jump(2, 0), second(0))
			} else if name == "behind what is new" || name == "two memories" {
				want = before
			}
			got := bytes.Clone(before)
			if sandbox.Shorten(got); !bytes.Equal(got, want) {
				t.Errorf("\n%x became\n%x, want\n%x", before, got, want)
			}
		})
	}
}

// Output of Go's compiler has thousands of jumps to shorten.
func TestShortenGo(t *testing.T) {
	before := guest(t)
	after := bytes.Clone(before)
	sandbox.Shorten(after)
	changed := 0
	for i := range before {
		if before[i] != after[i] {
			changed++
		}
	}
	if changed < 1000 {
		t.Errorf("%d bytes of %d are different", changed, len(before))
	}
}

// A shortened module does the same as before, whatever its jumps are.
func TestShortenedModulesDoTheSame(t *testing.T) {
	shorter := 0
	rapid.Check(t, func(t *rapid.T) {
		before := wandering(t)
		after := bytes.Clone(before)
		if sandbox.Shorten(after); !bytes.Equal(after, before) {
			shorter++
		}
		a, b := instantiate(t, before), instantiate(t, after)
		for range 10 {
			args := []uint64{uint64(rapid.IntRange(0, 12).Draw(t, "first block")),
				uint64(rapid.IntRange(1, 60).Draw(t, "steps")), 1}
			want, wrong := a.Call(context.Background(), args...)
			got, err := b.Call(context.Background(), args...)
			if wrong != nil || err != nil || want[0] != got[0] {
				t.Fatalf("f%v is %v, %v; it was %v, %v", args, got, err, want, wrong)
			}
		}
	})
	if shorter == 0 {
		t.Error("nothing became shorter")
	}
}

// wandering is a module whose f(first block, steps, sum) jumps between blocks in all ways that there are.
func wandering(t *rapid.T) []byte {
	n := rapid.IntRange(1, 8).Draw(t, "blocks")
	var targets []byte
	for range rapid.IntRange(1, 12).Draw(t, "targets") {
		targets = append(targets, byte(rapid.IntRange(0, n-1).Draw(t, "target")))
	}
	code := blocks(n, table(targets...))
	for i := range n {
		loop := byte(n - 1 - i) // its label
		done := when(get(2), []byte{0x0f})
		code = cat(code, []byte{0x0b},
			get(1), i32c(1), []byte{0x6b, 0x22, 1, 0x45}, done, // a step less, and the sum when none is left
			get(2), i32c(31), []byte{0x6c}, i32c(i+1), []byte{0x6a}, set(2)) // what the sum is now tells the whole way
		to := rapid.IntRange(-1, 14).Draw(t, "to")
		switch rapid.IntRange(0, 4).Draw(t, "how") {
		case 0:
			code = cat(code, jump(to, loop))
		case 1:
			code = cat(code, get(2), i32c(1), []byte{0x71}, when(jump(to, loop+1)))
		case 2:
			code = cat(code, get(2), i32c(1), []byte{0x71, 0x04, 0x40}, jump(to, loop+1), []byte{0x05}, jump(n-1, loop+1),
				[]byte{0x0b})
		case 3:
			code = cat(code, get(2), i32c(15), []byte{0x71}, set(0), br(loop))
		case 4: // on to the next
		}
	}
	code = cat(code, []byte{0x0b}, get(2))
	return module{pages: 1, funcs: []function{{export: "f", params: []byte{i32, i32, i32}, results: []byte{i32},
		code: code}}}.bytes()
}

func instantiate(t *rapid.T, wasm []byte) api.Function {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { _ = r.Close(ctx) })
	m, err := r.Instantiate(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	return m.ExportedFunction("f")
}

// Damaged modules, and what is no module, keep their length, and nothing panics.
func FuzzShorten(f *testing.F) {
	f.Add(rapidExample())
	f.Fuzz(func(t *testing.T, module []byte) {
		before := bytes.Clone(module)
		sandbox.Shorten(module)
		again := bytes.Clone(module)
		if sandbox.Shorten(again); !bytes.Equal(again, module) {
			t.Errorf("%x became %x, and that %x", before, module, again)
		}
	})
}

func rapidExample() []byte { return rapid.Custom(wandering).Example(1) }
