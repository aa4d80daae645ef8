package wasm_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/sandbox/sandboxtest"
	"matchmaker.dev/services/internal/wasm"
)

// small is what a module of the tests consists of.
type small struct {
	types     [][]byte // beside (i32) -> ()
	locals    int      // of the function, of type i64
	body      []byte   // of the function, without the final end
	functions int      // empty ones beside it
	pages     int
	table     int
	exports   int
}

func (s small) bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, items [][]byte) {
		body := cat(uleb(len(items)), cat(items...))
		out = append(out, cat([]byte{id}, uleb(len(body)), body)...)
	}
	body := cat([]byte{1}, uleb(s.locals), []byte{0x7e}, s.body, []byte{0x0b})
	functions, code := [][]byte{{0}}, [][]byte{cat(uleb(len(body)), body)}
	for range s.functions {
		functions, code = append(functions, []byte{0}), append(code, []byte{2, 0, 0x0b})
	}
	section(1, append([][]byte{{0x60, 1, 0x7f, 0}}, s.types...))
	section(3, functions)
	section(4, [][]byte{cat([]byte{0x70, 0}, uleb(s.table))})
	section(5, [][]byte{cat([]byte{0}, uleb(s.pages))})
	var exports [][]byte
	for n := range s.exports {
		exports = append(exports, cat([]byte{4}, binary.LittleEndian.AppendUint32(nil, uint32(n)), []byte{0, 0}))
	}
	section(7, exports)
	section(10, code)
	return out
}

func cat(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func uleb(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func repeat(n int, code ...byte) []byte { return []byte(strings.Repeat(string(code), n)) }

// signature is a type of so many parameters and results of type i32.
func signature(params, results int) []byte {
	return cat([]byte{0x60}, uleb(params), repeat(params, 0x7f), uleb(results), repeat(results, 0x7f))
}

// Everything here keeps the engine's compiler busy for tens of seconds or for more memory than it may have, or makes
// machine code without end. The refusal names the limit.
func TestHostileModulesAreRefused(t *testing.T) {
	live := func(locals, blocks int) (body []byte) { // set all locals, then branch, then use them
		for n := 1; n <= locals; n++ {
			body = cat(body, []byte{0x42, 1, 0x21}, uleb(n))
		}
		return cat(body, repeat(blocks, 0x02, 0x40, 0x20, 0, 0x0d, 0, 0x0b))
	}
	tests := map[string]struct {
		module small
		says   string
	}{
		"locals":              {small{locals: 61_234}, "function 0 has 61,235 locals, at most 10,000 are allowed"},
		"four billion locals": {small{locals: 1 << 31, body: nil}, "locals, at most 10,000"},
		"long body":           {small{body: repeat(3<<20, 0x01)}, "function 0 has 3,145,732 bytes, at most 2,097,152"},
		"functions":           {small{functions: 60_000}, "the module has 60,001 functions, at most 50,000 are allowed"},
		"exports":             {small{exports: 20_000}, "the module has 20,000 exports, at most 10,000 are allowed"},
		"parameters":          {small{types: [][]byte{signature(1001, 0)}}, "type 1 has 1,001 parameters, at most 1,000"},
		"results":             {small{types: [][]byte{signature(0, 1001)}}, "type 1 has 1,001 results, at most 1,000"},
		"memory":              {small{pages: 5000}, "the module starts with 320000 KiB of memory, the limit is 262144 KiB"},
		"table": {small{table: 1 << 28},
			"the module's tables have 268,435,456 entries at the start, at most 1,000,000"},
		"nested blocks": {small{body: cat(repeat(10_001, 0x02, 0x40), repeat(10_001, 0x0b))},
			"function 0 has 10,001 blocks within each other, at most 10,000"},
		"nested loops": {small{body: cat(repeat(101, 0x03, 0x40), repeat(101, 0x0b))},
			"function 0 has 101 loops within each other, at most 100"},
		"a large br_table": {small{body: cat([]byte{0x20, 0, 0x0e}, uleb(100_000), repeat(100_001, 0))},
			"function 0 has a br_table of 100,001 targets, at most 65,520"},
		"many br_tables": {small{body: repeat(1000, cat([]byte{0x02, 0x40, 0x20, 0, 0x0e}, uleb(300), repeat(301, 0),
			[]byte{0x0b})...)}, "function 0 is too complex"},
		"locals in many blocks": {small{locals: 5000, body: live(5000, 5000)}, "function 0 is too complex"},
		"values on the stack in many blocks": {small{body: cat(repeat(5000, 0x42, 0),
			repeat(5000, 0x02, 0x40, 0x20, 0, 0x0d, 0, 0x0b), repeat(5000, 0x1a))}, "function 0 is too complex"},
		"a chain of ifs": {small{body: repeat(30_000, 0x20, 0, 0x04, 0x40, 0x0b)}, "function 0 is too complex"},
		"a chain of branches": {small{body: cat([]byte{0x02, 0x40}, repeat(30_000, 0x20, 0, 0x0d, 0), []byte{0x0b})},
			"too complex"},
		"loads and blocks": {small{body: cat(repeat(5000, 0x20, 0, 0x29, 3, 0, 0x1a),
			repeat(5000, 0x02, 0x40, 0x20, 0, 0x0d, 0, 0x0b))}, "function 0 is too complex"},
		"locals in nested loops": {small{locals: 1000, body: cat(repeat(100, 0x03, 0x40), live(1000, 0),
			repeat(100, 0x20, 0, 0x0d, 0, 0x0b))}, "function 0 is too complex"},
		"branches with many results": {small{types: [][]byte{signature(0, 1000)}, body: cat([]byte{0x02, 1},
			repeat(1000, 0x20, 0), repeat(5000, 0x20, 0, 0x0d, 0), []byte{0x0b}, repeat(1000, 0x1a))},
			"function 0 is too complex"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := wasm.Read(test.module.bytes(), wasm.DefaultLimits())
			if large, ok := errors.AsType[*wasm.TooLarge](err); !ok || !strings.Contains(large.Reason, test.says) {
				t.Errorf("Read = %v, want %q", err, test.says)
			}
			if _, err := wasm.Read(test.module.bytes(), wasm.Unlimited()); err != nil {
				t.Errorf("without limits: %v", err)
			}
		})
	}
}

func TestManyFunctionsTogetherAreTooMuch(t *testing.T) {
	l := wasm.DefaultLimits()
	l.TotalWork = 1_000 * 20_000
	if _, err := wasm.Read(small{functions: 700}.bytes(), l); err != nil {
		t.Error(err)
	}
	_, err := wasm.Read(small{functions: 1100}.bytes(), l)
	if err == nil || !strings.Contains(err.Error(), "the module's 1,101 functions of") {
		t.Errorf("Read = %v", err)
	}
}

func TestMalformedModulesAreRefused(t *testing.T) {
	good := small{exports: 2, functions: 3, body: []byte{0x20, 0, 0x1a}}.bytes()
	if _, err := wasm.Read(good, wasm.DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	for end := range len(good) - 1 {
		_, err := wasm.Read(good[:end], wasm.DefaultLimits())
		if _, ok := errors.AsType[*wasm.Malformed](err); !ok && !sectionEnds(good, end) {
			t.Errorf("cut at %d of %d bytes: %v", end, len(good), err)
		}
	}
	for name, body := range map[string][]byte{
		"unknown instruction": {0x06}, "threads": {0xfe, 0}, "no function": {0x10, 99}, "no type": {0x11, 99, 0},
		"block of no type": {0x02, 99}, "number without end": {0x41, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"one end too many": {0x0b}, "one end too few": {0x02, 0x40},
		"more labels than bytes": {0x0e, 0xff, 0xff, 0xff, 0xff, 0x0f},
	} {
		_, err := wasm.Read(small{body: body}.bytes(), wasm.DefaultLimits())
		if bad, ok := errors.AsType[*wasm.Malformed](err); !ok || !strings.Contains(bad.Reason, "function 0") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sectionEnds returns whether a module that ends there has only whole sections, the code not being among them.
func sectionEnds(module []byte, end int) bool {
	at := 8
	for at < end {
		n, size := binary.Uvarint(module[at+1:])
		at += 1 + size + int(n)
	}
	return at == end
}

// The limits leave room for what Go makes of a program of 8 MB: each number is at most a half of its limit.
func TestRealModulesHaveRoom(t *testing.T) {
	module, err := sandboxtest.Module(t.TempDir(), ".", "cmd/gofmt")
	if err != nil {
		t.Fatal(err)
	}
	s, err := wasm.Read(module, wasm.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	l := wasm.DefaultLimits()
	for what, n := range map[string][2]int{
		"functions": {s.Functions, l.Functions}, "types": {s.Types, l.Types}, "body": {s.Body, l.Body},
		"locals": {s.Locals, l.Locals}, "nesting": {s.Nesting, l.Nesting}, "targets": {s.Targets, l.Targets},
		"work": {s.Work, l.Work}, "total work": {s.TotalWork, l.TotalWork},
	} {
		if n[0] == 0 || 2*n[0] > n[1] {
			t.Errorf("%s: %d of %d", what, n[0], n[1])
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(small{exports: 2, functions: 3, body: []byte{0x20, 0, 0x1a}}.bytes())
	f.Add(small{types: [][]byte{signature(3, 2)},
		body: []byte{0x02, 1, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b, 0x0e, 1, 0, 0}}.bytes())
	f.Fuzz(func(t *testing.T, module []byte) {
		s, err := wasm.Read(module, wasm.DefaultLimits())
		if err == nil && (s.Work > wasm.DefaultLimits().Work || s.Code > len(module) || s.Functions > len(module)) {
			t.Errorf("%+v", s)
		}
	})
}
