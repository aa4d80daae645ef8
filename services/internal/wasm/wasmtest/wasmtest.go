// Package wasmtest makes valid modules with much of one thing, to compare what a compiler takes for them with what was
// expected.
package wasmtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// Case is a kind of module, of which there are larger and smaller ones.
type Case struct {
	Name string
	// Size is how much of the thing takes the engine's compiler about a second, in one function; 0 for what cannot take as
	// long in a function of the size that is allowed.
	Size int
	// Body makes the locals and the code of the function, for as much of the thing.
	Body func(size int) (locals int, code []byte)
}

// Module is the module of a case, with so many functions that are the same.
func (c Case) Module(size, functions int) []byte {
	locals, code := c.Body(size)
	return module(locals, code, functions)
}

// Locals of the function: its parameter, one of each type, and then as many of i64 as a case wants.
const (
	param = iota
	ofI32
	ofI64
	ofF32
	ofF64
	ofV128
	others
)

// module has a memory, a table, a function to call, segments to copy from, and the functions with the code.
func module(locals int, code []byte, functions int) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, items ...[]byte) {
		body := cat(append([][]byte{uleb(len(items))}, items...)...)
		out = append(out, cat([]byte{id}, uleb(len(body)), body)...)
	}
	body := cat(uleb(6), []byte{1, i32, 1, i64, 1, f32, 1, f64, 1, v128}, uleb(locals), []byte{i64}, code, []byte{0x0b})
	callee := []byte{0, 0x20, 0, 0x0b}
	types, bodies := [][]byte{{1}}, [][]byte{cat(uleb(len(callee)), callee)}
	for range functions {
		types, bodies = append(types, []byte{0}), append(bodies, cat(uleb(len(body)), body))
	}
	section(1, []byte{0x60, 1, i32, 0}, []byte{0x60, 1, i32, 1, i32})
	section(3, types...)
	section(4, []byte{0x70, 0, 10})
	section(5, []byte{0, 1})
	section(9, []byte{1, 0, 1, 0}) // passive, with the callee
	out = append(out, 12, 1, 1)    // the number of data segments
	section(10, bodies...)
	section(11, []byte{1, 1, 'x'})
	return out
}

// Types of values.
const (
	i32  = 0x7f
	i64  = 0x7e
	f32  = 0x7d
	f64  = 0x7c
	v128 = 0x7b
)

// keep stores the locals, so that nothing was for nothing.
var keep = []byte{
	0x20, param, 0x20, ofI32, 0x36, 2, 0, 0x20, param, 0x20, ofI64, 0x37, 3, 0, 0x20, param, 0x20, ofF32, 0x38, 2, 0,
	0x20, param, 0x20, ofF64, 0x39, 3, 0, 0x20, param, 0x20, ofV128, 0xfd, 11, 4, 0,
}

// each repeats an instruction with its operands, which ends in a local so that it is needed.
func each(name string, code ...byte) Case {
	return Case{Name: name, Size: seconds[name], Body: func(n int) (int, []byte) {
		return 0, cat(bytes.Repeat(code, n), keep)
	}}
}

// seconds has the Size of instructions.
var seconds = map[string]int{
	"call_indirect": 40_000, "memory.init": 28_000, "memory.copy": 33_000, "memory.fill": 6_000, "table.init": 26_000,
	"table.copy": 25_000, "table.fill": 6_000, "ref.func": 95_000, "table.get": 72_000, "i32.load": 120_000,
	"i32.trunc_f32_s": 100_000,
}

// Instructions are cases with one instruction each, and its operands.
func Instructions() []Case {
	const get, set, zero = 0x20, 0x21, 0x41
	all := []Case{
		each("i32.add", get, ofI32, get, param, 0x6a, set, ofI32),
		each("i64.mul", get, ofI64, get, ofI64, 0x7e, set, ofI64),
		each("i32.div_s", get, ofI32, get, param, 0x6d, set, ofI32),
		each("i64.rem_u", get, ofI64, get, ofI64, 0x82, set, ofI64),
		each("i32.popcnt", get, ofI32, 0x69, set, ofI32),
		each("f64.sqrt", get, ofF64, 0x9f, set, ofF64),
		each("f64.min", get, ofF64, get, ofF64, 0xa4, set, ofF64),
		each("f32.nearest", get, ofF32, 0x90, set, ofF32),
		each("i32.trunc_f32_s", get, ofF32, 0xa8, set, ofI32, get, ofI32, 0xb2, set, ofF32),
		each("i64.trunc_f64_u", get, ofF64, 0xb1, set, ofI64, get, ofI64, 0xba, set, ofF64),
		each("i64.trunc_sat_f64_u", get, ofF64, 0xfc, 7, set, ofI64, get, ofI64, 0xba, set, ofF64),
		each("f64.copysign", get, ofF64, get, ofF64, 0xa6, set, ofF64),
		each("select", get, ofI32, get, param, get, ofI32, 0x1b, set, ofI32),
		each("i32.load", get, ofI32, 0x28, 2, 0, set, ofI32),
		each("i64.store", get, param, get, ofI64, 0x37, 3, 0),
		each("call", get, ofI32, 0x10, 0, set, ofI32),
		each("call_indirect", get, ofI32, get, param, 0x11, 1, 0, set, ofI32),
		each("ref.func", get, param, 0xd2, 0, 0x26, 0),
		each("table.get", get, param, get, param, 0x25, 0, 0x26, 0),
		each("memory.size", 0x3f, 0, set, ofI32),
		each("memory.grow", get, param, 0x40, 0, set, ofI32),
		each("memory.init", get, param, get, param, zero, 1, 0xfc, 8, 0, 0),
		each("data.drop", 0xfc, 9, 0),
		each("memory.copy", get, param, get, param, get, param, 0xfc, 10, 0, 0),
		each("memory.fill", get, param, get, param, get, param, 0xfc, 11, 0),
		each("table.init", get, param, get, param, zero, 1, 0xfc, 12, 0, 0),
		each("elem.drop", 0xfc, 13, 0),
		each("table.copy", get, param, get, param, get, param, 0xfc, 14, 0, 0),
		each("table.grow", 0xd0, 0x70, get, param, 0xfc, 15, 0, set, ofI32),
		each("table.size", 0xfc, 16, 0, set, ofI32),
		each("table.fill", get, param, 0xd0, 0x70, get, param, 0xfc, 17, 0),
		each("v128.load", get, param, 0xfd, 0, 4, 0, set, ofV128),
		each("v128.store", get, param, get, ofV128, 0xfd, 11, 4, 0),
		each("v128.const", cat([]byte{0xfd, 12}, bytes.Repeat([]byte{7}, 16), []byte{set, ofV128})...),
		each("i8x16.shuffle", cat([]byte{get, ofV128, get, ofV128, 0xfd, 13},
			[]byte{0, 31, 2, 29, 4, 27, 6, 25, 8, 23, 10, 21, 12, 19, 14, 17}, []byte{set, ofV128})...),
		each("v128.bitselect", get, ofV128, get, ofV128, get, ofV128, 0xfd, 82, set, ofV128),
		each("v128.load8_lane", get, param, get, ofV128, 0xfd, 84, 0, 0, 3, set, ofV128),
		each("v128.store64_lane", get, param, get, ofV128, 0xfd, 91, 3, 0, 1),
		each("i8x16.extract_lane_s", get, ofV128, 0xfd, 21, 3, set, ofI32),
		each("f64x2.replace_lane", get, ofV128, get, ofF64, 0xfd, 34, 1, set, ofV128),
	}
	reserved := []int{
		0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2, 0xd3, 0xd4, 0xe2,
		0xee,
	}
	for op := 14; op <= 255; op++ {
		if slices.Contains(reserved, op) {
			continue
		}
		code := []byte{get, ofV128, get, ofV128, 0xfd}
		switch {
		case op >= 15 && op <= 20: // splats
			code = []byte{get, []byte{ofI32, ofI32, ofI32, ofI64, ofF32, ofF64}[op-15], 0xfd}
		case op >= 21 && op <= 34, op >= 82 && op <= 93: // above
			continue
		case op >= 0x6b && op <= 0x6d, op >= 0x8b && op <= 0x8d, op >= 0xab && op <= 0xad, op >= 0xcb && op <= 0xcd:
			code = []byte{get, ofV128, get, ofI32, 0xfd} // shifts
		case slices.Contains(unary, op):
			code = []byte{get, ofV128, 0xfd}
		}
		to := byte(ofV128)
		switch op {
		case 0x53, 0x63, 0x64, 0x83, 0x84, 0xa3, 0xa4, 0xc3, 0xc4: // any_true, all_true, bitmask
			to = ofI32
		}
		all = append(all, each(fmt.Sprintf("v128 0x%02x", op), cat(code, uleb(op), []byte{set, to})...))
	}
	return all
}

// unary are the vector instructions of one number that have one operand.
var unary = []int{
	0x4d, 0x53, 0x5e, 0x5f, 0x60, 0x61, 0x62, 0x63, 0x64, 0x67, 0x68, 0x69, 0x6a, 0x74, 0x75, 0x7a, 0x7c, 0x7d, 0x7e,
	0x7f, 0x80, 0x81, 0x83, 0x84, 0x87, 0x88, 0x89, 0x8a, 0x94, 0xa0, 0xa1, 0xa3, 0xa4, 0xa7, 0xa8, 0xa9, 0xaa, 0xc0,
	0xc1, 0xc3, 0xc4, 0xc7, 0xc8, 0xc9, 0xca, 0xe0, 0xe1, 0xe3, 0xec, 0xed, 0xef, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd,
	0xfe, 0xff,
}

func cat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func uleb(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }
