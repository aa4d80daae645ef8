package registry

import "encoding/binary"

// guest writes a WebAssembly module by hand: the smallest that passes for a match function, or one with a given fault.
type guest struct {
	manifest string // what mm_manifest returns; not exported when empty
	evil     bool   // imports env.evil
	trap     bool   // _initialize traps
	spin     bool   // _initialize does not return
	bomb     bool   // mm_run takes long to compile
	pages    int    // of memory at the start, 4 when 0
	borrows  bool   // imports its memory
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
		signature(nil, []byte{i32}), signature([]byte{i32}, []byte{i32}), signature([]byte{i32}, []byte{i64}),
		signature(nil, []byte{i64}), signature(nil, nil)))
	first := byte(0) // the index of the first function that is not imported
	switch {
	case g.evil:
		first = 1
		module = section(module, 2, vector(join(text("env"), text("evil"), []byte{0, 4})))
	case g.borrows:
		module = section(module, 2, vector(join(text("env"), text("memory"), []byte{2, 0, 4})))
	}
	module = section(module, 3, vector([]byte{0}, []byte{1}, []byte{2}, []byte{3}, []byte{4}))
	if !g.borrows {
		module = section(module, 5, vector(binary.AppendUvarint([]byte{0}, uint64(max(g.pages, 4)))))
	}

	exports := [][]byte{join(text("memory"), []byte{2, 0})}
	for i, name := range []string{"mm_abi", "mm_alloc", "mm_run", "mm_manifest", "_initialize"} {
		if name != g.missing && (name != "mm_manifest" || g.manifest != "") {
			exports = append(exports, join(text(name), []byte{0, first + byte(i)}))
		}
	}
	module = section(module, 7, vector(exports...))

	initialize := code() // nothing
	switch {
	case g.trap:
		initialize = code(0x00) // unreachable
	case g.spin:
		initialize = code(0x03, 0x40, 0x0c, 0, 0x0b) // loop br 0 end
	}
	run := code(0x42, 0) // i64.const 0
	if g.bomb {
		run = bombCode()
	}
	module = section(module, 10, vector(
		code(0x41, 1),                // i32.const 1
		code(0x41, 0x80, 0x80, 0x04), // i32.const 65536
		run,
		code(append([]byte{0x42}, signed(at<<32|int64(len(g.manifest)))...)...),
		initialize))
	if g.manifest != "" {
		module = section(module, 11, vector(join([]byte{0, 0x41, at, 0x0b}, text(g.manifest))))
	}
	return section(module, 0, join(text("salt"), make([]byte, g.size)))
}

// bombCode is a body of mm_run of some 100 kB that takes many seconds and much memory to compile: ifs that all touch
// many locals.
func bombCode() []byte {
	const locals, ifs = 2000, 8000
	body := join([]byte{1}, binary.AppendUvarint(nil, locals), []byte{0x7e})
	for n := range ifs {
		from, to := uint64(n%locals+1), uint64((n*7+3)%locals+1)
		body = binary.AppendUvarint(append(body, 0x20, 0, 0x04, 0x40, 0x20), from) // if the parameter is not 0: get a local,
		body = append(append(body, 0x42), signed(int64(n))...)                     // add n to it,
		body = append(binary.AppendUvarint(append(body, 0x7c, 0x21), to), 0x0b)    // and set another
	}
	return text(string(append(body, 0x42, 0, 0x0b)))
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
