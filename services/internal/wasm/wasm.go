// Package wasm looks at the shape of a WebAssembly module, in one pass over its bytes, before a compiler sees it: how
// many things of each kind it has, how long its functions are, and how much work they make for a compiler. It refuses
// what is malformed and what is beyond the [Limits]. It does not check types: the compiler does.
//
// Its own time and memory are linear in the module's size. It does not recurse, and believes no number before it has
// compared it with the bytes that are there.
package wasm

import (
	"bytes"
	"fmt"
)

// Shape is what a module has. Work is explained at [Limits].
type Shape struct {
	Types, Imports, Functions, Tables, Globals, Exports, Elements, Data int // how many

	Arity  int // most parameters, or results, of a type
	Memory int // pages of memory at the start
	Table  int // entries of the tables at the start
	Code   int // bytes of all functions

	Body, Locals, Nesting, Loops, Targets, Work int // the most that a function has

	TotalWork int // of all functions
}

// A Malformed error says where a module cannot be read.
type Malformed struct{ Reason string }

func (m *Malformed) Error() string { return m.Reason }

// A TooLarge error says which limit a module exceeds.
type TooLarge struct{ Reason string }

func (t *TooLarge) Error() string { return t.Reason }

func malformed(format string, args ...any) error { return &Malformed{fmt.Sprintf(format, args...)} }

// Preamble is how a module begins: magic and version.
var Preamble = []byte("\x00asm\x01\x00\x00\x00")

// The sections.
const (
	customSection = iota
	typeSection
	importSection
	functionSection
	tableSection
	memorySection
	globalSection
	exportSection
	startSection
	elementSection
	codeSection
	dataSection
	dataCountSection
	tagSection
)

var sectionNames = [...]string{
	"custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code", "data",
	"data count", "tag",
}

// signature is how many values a function takes and returns.
type signature struct{ params, results int }

// module is a module while it is read.
type module struct {
	limits    Limits
	shape     Shape
	types     []signature
	functions []uint32 // the type of each, those that are imported first
	imported  int      // functions
	body      function // scratch
}

// Read reads a module. The error is *Malformed, or *TooLarge when it exceeds the limits.
func Read(code []byte, l Limits) (Shape, error) {
	m := &module{limits: l}
	if !bytes.HasPrefix(code, Preamble) {
		return m.shape, malformed("it does not begin with \\0asm and version 1")
	}
	r := reader{bytes: code, at: len(Preamble)}
	for r.more() {
		id := r.byte()
		section := r.part()
		if r.failed {
			return m.shape, malformed("it ends within a section")
		}
		if int(id) >= len(sectionNames) {
			return m.shape, malformed("it has a section of the unknown kind %d", id)
		}
		if err := m.section(id, &section); err != nil {
			return m.shape, err
		}
		if section.failed {
			return m.shape, malformed("its %s section cannot be read", sectionNames[id])
		}
	}
	return m.shape, nil
}

func (m *module) section(id byte, r *reader) error {
	s, l := &m.shape, &m.limits
	switch id {
	case typeSection:
		return m.list(r, &s.Types, l.Types, "types", m.readType)
	case importSection:
		return m.list(r, &s.Imports, l.Imports, "imports", m.readImport)
	case functionSection:
		return m.list(r, &s.Functions, l.Functions, "functions", m.readFunction)
	case tableSection:
		return m.list(r, &s.Tables, l.Tables, "tables", m.readTable)
	case memorySection:
		var memories int
		return m.list(r, &memories, 1, "memories", m.readMemory)
	case globalSection:
		return m.list(r, &s.Globals, l.Globals, "globals", m.readGlobal)
	case exportSection:
		return m.list(r, &s.Exports, l.Exports, "exports", m.readExport)
	case elementSection:
		return m.list(r, &s.Elements, l.Elements, "element segments", m.readElement)
	case codeSection:
		return m.readCode(r)
	case dataSection:
		return m.list(r, &s.Data, l.Data, "data segments", m.readData)
	}
	return nil
}

// list reads a list of things. have is how many there were before, and is counted up.
func (m *module) list(r *reader, have *int, most int, what string, read func(*reader) error) error {
	n := r.count()
	if err := atMost(*have+n, most, "the module has %s "+what); err != nil {
		return err
	}
	*have += n
	for range n {
		if err := read(r); err != nil || r.failed {
			return err
		}
	}
	return nil
}

func (m *module) readType(r *reader) error {
	if form := r.byte(); form != 0x60 && !r.failed {
		return malformed("type %d is no function type, but of the form 0x%02x", len(m.types), form)
	}
	params := r.count()
	r.skip(uint32(params))
	results := r.count()
	r.skip(uint32(results))
	for what, n := range map[string]int{"parameters": params, "results": results} {
		if err := atMost(n, m.limits.Arity, fmt.Sprintf("type %d has %%s %s", len(m.types), what)); err != nil {
			return err
		}
	}
	m.shape.Arity = max(m.shape.Arity, params, results)
	m.types = append(m.types, signature{params, results})
	return nil
}

// The kinds of imports and exports.
const (
	functionKind = iota
	tableKind
	memoryKind
	globalKind
	tagKind
)

func (m *module) readImport(r *reader) error {
	r.part() // of a module
	r.part() // its name there
	switch kind := r.byte(); kind {
	case functionKind:
		m.imported++
		m.functions = append(m.functions, r.number())
	case tableKind:
		return m.readTable(r)
	case memoryKind:
		return m.readMemory(r)
	case globalKind:
		r.skip(2)
	case tagKind:
		r.byte()
		r.number()
	default:
		r.fail()
	}
	return nil
}

func (m *module) readFunction(r *reader) error {
	m.functions = append(m.functions, r.number())
	return nil
}

func (m *module) readTable(r *reader) error {
	r.byte() // what it holds
	m.shape.Table += int(min(readBounds(r), 1<<32))
	return atMost(m.shape.Table, m.limits.Table, "the module's tables have %s entries at the start")
}

func (m *module) readMemory(r *reader) error {
	m.shape.Memory += int(min(readBounds(r), 1<<32))
	if m.shape.Memory > m.limits.Memory {
		const page = 64 // KiB
		return &TooLarge{fmt.Sprintf("the module starts with %d KiB of memory, the limit is %d KiB", m.shape.Memory*page,
			m.limits.Memory*page)}
	}
	return nil
}

// readBounds returns the least size of a table or memory.
func readBounds(r *reader) uint64 {
	flags := r.byte()
	least := uint64(r.number())
	if flags&1 != 0 {
		r.number()
	}
	return least
}

func (m *module) readGlobal(r *reader) error {
	r.skip(2) // type, and whether it changes
	return m.expression(r)
}

func (m *module) readExport(r *reader) error {
	r.part() // its name
	r.byte()
	r.number()
	return nil
}

// readElement reads a segment of a table. The bits of its kind say which of its parts are there.
func (m *module) readElement(r *reader) error {
	kind := r.number()
	const passive, explicit, expressions = 1, 2, 4
	if kind > passive|explicit|expressions {
		r.fail()
		return nil
	}
	if kind&passive == 0 {
		if kind&explicit != 0 {
			r.number() // of the table
		}
		if err := m.expression(r); err != nil {
			return err
		}
	}
	if kind&(passive|explicit) != 0 {
		r.byte() // what it holds
	}
	for n := r.count(); n > 0 && !r.failed; n-- {
		if kind&expressions == 0 {
			r.number()
		} else if err := m.expression(r); err != nil {
			return err
		}
	}
	return nil
}

func (m *module) readData(r *reader) error {
	kind := r.number()
	if kind == 2 {
		r.number() // of the memory
	}
	if kind != 1 {
		if err := m.expression(r); err != nil {
			return err
		}
	}
	r.part()
	return nil
}

// expression reads a constant.
func (m *module) expression(r *reader) error {
	for r.more() {
		i := readInstruction(r)
		if i.op == opEnd {
			return nil
		}
		if i.unknown {
			return malformed("a constant has the instruction 0x%02x, which is not supported", i.op)
		}
	}
	r.fail()
	return nil
}

func (m *module) readCode(r *reader) error {
	n := r.count()
	if n != m.shape.Functions {
		return malformed("it declares %d functions and has the code of %d", m.shape.Functions, n)
	}
	for i := range n {
		index := m.imported + i
		body := r.part()
		if r.failed {
			return nil
		}
		m.shape.Code += len(body.bytes)
		if err := m.body.read(m, index, body); err != nil {
			return err
		}
	}
	return nil
}
