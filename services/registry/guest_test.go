package registry

import "encoding/binary"

// guest writes a WebAssembly module by hand: the smallest that passes for a
// match function, or one with a given fault.
type guest struct {
	manifest string // what mm_manifest returns; not exported when empty
	evil     bool   // imports env.evil
	trap     bool   // _initialize traps
	missing  string // an export that is not there
	size     int    // of a section that means nothing: makes modules differ
}

func (g guest) wasm() []byte {
	const (
		i32, i64 = 0x7f, 0x7e
		at       = 16 // where the manifest is
	)
	module := []byte("\x00asm\x01\x00\x00\x00")
	module = section(module, 1, vector(
		signature(nil, []byte{i32}), signature([]byte{i32}, []byte{i32}), signature([]byte{i32}, []byte{i64}), signature(nil, []byte{i64}), signature(nil, nil)))
	first := byte(0) // the index of the first function that is not imported
	if g.evil {
		first = 1
		module = section(module, 2, vector(join(text("env"), text("evil"), []byte{0, 4})))
	}
	module = section(module, 3, vector([]byte{0}, []byte{1}, []byte{2}, []byte{3}, []byte{4}))
	module = section(module, 5, vector([]byte{0, 4}))

	exports := [][]byte{join(text("memory"), []byte{2, 0})}
	for i, name := range []string{"mm_abi", "mm_alloc", "mm_run", "mm_manifest", "_initialize"} {
		if name != g.missing && (name != "mm_manifest" || g.manifest != "") {
			exports = append(exports, join(text(name), []byte{0, first + byte(i)}))
		}
	}
	module = section(module, 7, vector(exports...))

	initialize := code() // nothing
	if g.trap {
		initialize = code(0x00) // unreachable
	}
	module = section(module, 10, vector(
		code(0x41, 1),                // i32.const 1
		code(0x41, 0x80, 0x80, 0x04), // i32.const 65536
		code(0x42, 0),                // i64.const 0
		code(append([]byte{0x42}, signed(at<<32|int64(len(g.manifest)))...)...),
		initialize))
	if g.manifest != "" {
		module = section(module, 11, vector(join([]byte{0, 0x41, at, 0x0b}, text(g.manifest))))
	}
	return section(module, 0, join(text("salt"), make([]byte, g.size)))
}

func section(module []byte, id byte, body []byte) []byte {
	return append(binary.AppendUvarint(append(module, id), uint64(len(body))), body...)
}

func vector(items ...[]byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(items))), join(items...)...)
}

func text(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

func signature(params, results []byte) []byte {
	return join([]byte{0x60}, text(string(params)), text(string(results)))
}

func code(body ...byte) []byte { return text("\x00" + string(body) + "\x0b") }

func join(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func signed(v int64) []byte {
	var all []byte
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(all, b)
		}
		all = append(all, b|0x80)
	}
}
