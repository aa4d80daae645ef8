package wasm

// The instructions that count.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opLocalTee     = 0x22
	opVector       = 0xfd
)

// instruction is an instruction and what is known without its context.
type instruction struct {
	op       byte
	unknown  bool   // not of the versions that the engine accepts
	argument uint32 // the index of what it names: a label, local, function, type
	blockOf  int64  // the type of a block: -64 for none, other negative ones for a value, or the index of a type
	labels   reader // of a br_table, the default one included
	targets  int
	pops     int // operands; those of blocks, branches and calls depend on what they name
	pushes   int
	memory   bool // accesses the memory at an address of its own
	work     int  // that it makes for the compiler besides, in nanoseconds
	fill     bool // becomes a loop
}

// readInstruction reads one.
func readInstruction(r *reader) (i instruction) {
	i.op = r.byte()
	switch op := i.op; {
	case op <= 0x01, op == opElse, op == opEnd, op == opReturn: // unreachable, nop
	case op >= opBlock && op <= opIf:
		i.blockOf = r.blockType()
	case op == opBr, op == opBrIf, op == opCall:
		i.argument = r.number()
	case op == opBrTable:
		i.targets = r.count() + 1
		i.labels = *r
		for n := i.targets; n > 0 && !r.failed; n-- {
			r.number()
		}
	case op == opCallIndirect:
		i.argument = r.number()
		r.number()
	case op == 0x1a: // drop
		i.pops = 1
	case op == 0x1b: // select
		i.pops, i.pushes = 3, 1
	case op == 0x1c: // select of given types
		r.skip(uint32(r.count()))
		i.pops, i.pushes = 3, 1
	case op == 0x20, op == 0x23: // local.get, global.get
		i.argument = r.number()
		i.pushes = 1
	case op == 0x21, op == 0x24: // local.set, global.set
		i.argument = r.number()
		i.pops = 1
	case op == 0x22: // local.tee
		i.argument = r.number()
		i.pops, i.pushes = 1, 1
	case op == 0x25: // table.get
		r.number()
		i.pops, i.pushes = 1, 1
	case op == 0x26: // table.set
		r.number()
		i.pops = 2
	case op >= 0x28 && op <= 0x35: // loads
		r.address()
		i.pops, i.pushes, i.memory = 1, 1, true
	case op >= 0x36 && op <= 0x3e: // stores
		r.address()
		i.pops, i.memory = 2, true
	case op == 0x3f: // memory.size
		r.number()
		i.pushes = 1
	case op == 0x40: // memory.grow
		r.number()
		i.pops, i.pushes = 1, 1
	case op == 0x41: // i32.const
		r.leb(5)
		i.pushes = 1
	case op == 0x42: // i64.const
		r.leb(10)
		i.pushes = 1
	case op == 0x43: // f32.const
		r.skip(4)
		i.pushes = 1
	case op == 0x44: // f64.const
		r.skip(8)
		i.pushes = 1
	case op == 0x45, op == 0x50, op >= 0x67 && op <= 0x69, op >= 0x79 && op <= 0x7b, // eqz, clz, ctz, popcnt
		op >= 0x8b && op <= 0x91, op >= 0x99 && op <= 0x9f, // floats of one operand
		op >= 0xa7 && op <= 0xc4: // conversions, extensions
		i.pops, i.pushes = 1, 1
	case op >= 0x46 && op <= 0xa6: // comparisons, arithmetic
		i.pops, i.pushes = 2, 1
	case op == 0xd0: // ref.null
		r.byte()
		i.pushes = 1
	case op == 0xd1: // ref.is_null
		i.pops, i.pushes = 1, 1
	case op == 0xd2: // ref.func
		r.number()
		i.pushes = 1
	case op == 0xfc:
		i.bulk(r)
		return i
	case op == opVector:
		i.vector(r)
		return i
	default:
		i.unknown = true
	}
	i.work = workOf(i.op)
	return i
}

// bulk reads the rest of a saturating conversion, or of an instruction for bulk memory or tables.
func (i *instruction) bulk(r *reader) {
	op := r.number()
	i.work = bulkWork(op)
	switch op {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		i.pops, i.pushes = 1, 1
	case 8, 10, 12, 14: // memory.init, memory.copy, table.init, table.copy
		r.number()
		r.number()
		i.pops = 3
	case 9, 13: // data.drop, elem.drop
		r.number()
	case 11, 17: // memory.fill, table.fill
		r.number()
		i.pops, i.fill = 3, true
	case 15: // table.grow
		r.number()
		i.pops, i.pushes = 2, 1
	case 16: // table.size
		r.number()
		i.pushes = 1
	default:
		i.unknown = true
	}
}

// vector reads the rest of a vector instruction.
func (i *instruction) vector(r *reader) {
	op := r.number()
	i.work = perVector
	switch {
	case op <= 10, op == 92, op == 93: // loads
		r.address()
		i.pops, i.pushes, i.memory = 1, 1, true
	case op == 11: // v128.store
		r.address()
		i.pops, i.memory = 2, true
	case op == 12: // v128.const
		r.skip(16)
		i.pushes = 1
	case op == 13: // i8x16.shuffle
		r.skip(16)
		i.pops, i.pushes = 2, 1
	case op >= 21 && op <= 34: // lanes
		r.byte()
		i.pops, i.pushes = 1, 1
		if op == 23 || op == 26 || op == 28 || op == 30 || op == 32 || op == 34 { // replaced
			i.pops = 2
		}
	case op >= 84 && op <= 87: // loads of a lane
		r.address()
		r.byte()
		i.pops, i.pushes, i.memory = 2, 1, true
	case op >= 88 && op <= 91: // stores of a lane
		r.address()
		r.byte()
		i.pops, i.memory = 2, true
	case op == 82: // v128.bitselect
		i.pops, i.pushes = 3, 1
	case op <= 0xff:
		i.pops, i.pushes = 2, 1
		if isUnary(op) {
			i.pops = 1
		}
	default:
		i.unknown = true
	}
}

// address reads the alignment and offset of an access to memory.
func (r *reader) address() {
	if align := r.number(); align >= 0x40 { // of one of several memories
		r.fail()
	}
	r.number()
}

// blockType reads the type of a block, a signed number of 33 bits.
func (r *reader) blockType() int64 {
	var n int64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		if n |= int64(b&0x7f) << shift; b < 0x80 {
			if b&0x40 != 0 {
				n |= -1 << (shift + 7)
			}
			return n
		}
	}
	r.fail()
	return 0
}

// isUnary returns whether a vector instruction has one operand: splats, sums of one, conversions, and so on.
func isUnary(op uint32) bool {
	switch {
	case op >= 0x0f && op <= 0x14, op == 0x4d, op == 0x53, op >= 0x5e && op <= 0x64, op >= 0x67 && op <= 0x6a,
		op == 0x74, op == 0x75, op == 0x7a, op >= 0x7c && op <= 0x81, op == 0x83, op == 0x84, op >= 0x87 && op <= 0x8a,
		op == 0x94, op == 0xa0, op == 0xa1, op == 0xa3, op == 0xa4, op >= 0xa7 && op <= 0xaa, op == 0xc0, op == 0xc1,
		op == 0xc3, op == 0xc4, op >= 0xc7 && op <= 0xca, op == 0xe0, op == 0xe1, op == 0xe3, op == 0xec, op == 0xed,
		op == 0xef, op >= 0xf8:
		return true
	}
	return false
}
