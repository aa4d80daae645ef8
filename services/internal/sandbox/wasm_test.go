package sandbox_test

import "slices"

// A small assembler for modules that no compiler writes.

const (
	i32 = 0x7f
	i64 = 0x7e
)

// function is a function that a module defines.
type function struct {
	export          string // "" when it is not exported
	params, results []byte
	locals          int    // of type i64
	code            []byte // without the final end
}

// imported is a function that a module imports. Imports take the first indices.
type imported struct {
	from, name      string
	params, results []byte
}

type module struct {
	imports []imported
	globals [][2]string // imported ones of type i32: module, and name
	funcs   []function
	pages   int    // least size of the memory
	memory  string // its export, "memory" when empty, none when "-"
	text    string // lies in memory at 16
}

// ask is where reactor's mm_alloc puts requests.
const ask = 4096

// reactor is a good match function whose mm_run is the given code, with a buffer for requests of 60 KiB. After imports,
// mm_alloc is the first function, mm_run the second.
func reactor(run []byte, imports ...imported) module {
	return module{imports: imports, pages: 1, funcs: []function{
		{export: "mm_alloc", params: []byte{i32}, results: []byte{i32}, code: i32c(ask)},
		{export: "mm_run", params: []byte{i32}, results: []byte{i64}, locals: 1, code: run},
		{export: "mm_abi", results: []byte{i32}, code: i32c(1)},
	}}
}

// with replaces the function of the same export, or adds one.
func (m module) with(f function) module {
	m.funcs = slices.Clone(m.funcs)
	if i := slices.IndexFunc(m.funcs, func(g function) bool { return g.export == f.export }); i >= 0 {
		m.funcs[i] = f
	} else {
		m.funcs = append(m.funcs, f)
	}
	return m
}

// without removes an export.
func (m module) without(export string) module {
	m.funcs = slices.DeleteFunc(slices.Clone(m.funcs), func(f function) bool { return f.export == export })
	return m
}

func (m module) bytes() []byte {
	var types, imports, funcs, exports, code [][]byte
	addType := func(params, results []byte) []byte {
		types = append(types, cat([]byte{0x60}, vec(params), vec(results)))
		return uleb(len(types) - 1)
	}
	for _, f := range m.imports {
		imports = append(imports, cat(name(f.from), name(f.name), []byte{0}, addType(f.params, f.results)))
	}
	for _, g := range m.globals {
		imports = append(imports, cat(name(g[0]), name(g[1]), []byte{3, i32, 0}))
	}
	for i, f := range m.funcs {
		funcs = append(funcs, addType(f.params, f.results))
		if f.export != "" {
			exports = append(exports, cat(name(f.export), []byte{0}, uleb(len(m.imports)+i)))
		}
		body := cat([]byte{1}, uleb(f.locals), []byte{i64}, f.code, []byte{0x0b})
		code = append(code, vec(body))
	}
	switch m.memory {
	case "":
		exports = append(exports, cat(name("memory"), []byte{2, 0}))
	case "-":
	default:
		exports = append(exports, cat(name(m.memory), []byte{2, 0}))
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, items [][]byte) {
		out = append(out, cat([]byte{id}, vec(cat(uleb(len(items)), cat(items...))))...)
	}
	section(1, types)
	section(2, imports)
	section(3, funcs)
	section(5, [][]byte{cat([]byte{0}, uleb(m.pages))})
	section(7, exports)
	section(10, code)
	if m.text != "" {
		section(11, [][]byte{cat([]byte{0}, i32c(16), []byte{0x0b}, name(m.text))})
	}
	return out
}

func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }
func vec(b []byte) []byte        { return cat(uleb(len(b)), b) }
func name(s string) []byte       { return vec([]byte(s)) }

func uleb(n int) (b []byte) {
	for {
		if n < 0x80 {
			return append(b, byte(n))
		}
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
}

func sleb(n int64) (b []byte) {
	for {
		if n >= -64 && n < 64 {
			return append(b, byte(n)&0x7f)
		}
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
}

// Instructions.

func i32c(n int) []byte    { return append([]byte{0x41}, sleb(int64(n))...) }
func i64c(n int64) []byte  { return append([]byte{0x42}, sleb(n)...) }
func call(f int) []byte    { return append([]byte{0x10}, uleb(f)...) }
func get(local int) []byte { return append([]byte{0x20}, uleb(local)...) }

var (
	unreachable = []byte{0x00}
	drop        = []byte{0x1a}
	store       = []byte{0x36, 2, 0} // i32.store
	grow        = []byte{0x40, 0}    // memory.grow
)

// loop repeats code for ever. What comes after it must be unreachable.
func loop(code []byte) []byte {
	return cat([]byte{0x03, 0x40}, code, []byte{0x0c, 0, 0x0b}, unreachable)
}

// answer is ptr<<32 | n for mm_run.
func answer(ptr, n uint32) []byte { return i64c(int64(uint64(ptr)<<32 | uint64(n))) }

// echo answers with the request.
func echo() []byte { return cat(get(0), []byte{0xad}, i64c(ask<<32), []byte{0x84}) }

// printing is the import that write needs.
func printing() imported {
	return imported{"wasi_snapshot_preview1", "fd_write", []byte{i32, i32, i32, i32}, []byte{i32}}
}

// write prints n bytes at ptr, given that printing is import 0. It uses the memory below 16.
func write(ptr, n int) []byte {
	return cat(
		i32c(0), i32c(ptr), store, i32c(4), i32c(n), store,
		i32c(1), i32c(0), i32c(1), i32c(8), call(0), drop)
}
