package wasm

// What an instruction takes the engine's compiler besides perInstruction, in nanoseconds, its operands not counted.
// Most of what is expensive can trap, or is a call of the engine: each place has code of its own for that.
const (
	perOperation = 500   // arithmetic and comparisons
	perMinimum   = 4_000 // min and max of floats, with blocks of their own
	perCheck     = 4_000 // access to memory: that of an address for the first time
	perDivision  = 4_000
	perTrunc     = 7_000 // of a float to an integer, with a trap
	perVector    = 2_500 // half of them take less, the dearest twice as much
	perTable     = 7_000 // table.get, table.set
	perIndirect  = 22_000
	perMemory    = 1_500 // memory.size, memory.grow
	perReference = 4_000 // ref.func
	perDrop      = 6_000
	perCopy      = 30_000 // within the memory or a table, or from a segment
	perFill      = 60_000 // besides its blocks
)

// workOf is that of an instruction of one byte.
func workOf(op byte) int {
	switch {
	case op >= 0x28 && op <= 0x3e: // loads and stores
		return perCheck
	case op == 0x3f, op == 0x40:
		return perMemory
	case op >= 0x6d && op <= 0x70, op >= 0x7f && op <= 0x82: // div and rem of integers
		return perDivision
	case op >= 0xa8 && op <= 0xab, op >= 0xae && op <= 0xb1:
		return perTrunc
	case op == 0x96, op == 0x97, op == 0xa4, op == 0xa5:
		return perMinimum
	case op >= 0x45 && op <= 0xc4:
		return perOperation
	case op == 0x1b, op == 0x1c: // select
		return perOperation
	case op == 0x25, op == 0x26:
		return perTable
	case op == opCallIndirect:
		return perIndirect
	case op == 0xd2:
		return perReference
	}
	return 0
}

// bulkWork is that of an instruction for bulk memory or tables, or of a saturating conversion.
func bulkWork(op uint32) int {
	switch op {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		return perTrunc
	case 8, 10, 12, 14: // memory.init, memory.copy, table.init, table.copy
		return perCopy
	case 9, 13: // data.drop, elem.drop
		return perDrop
	case 11, 17: // memory.fill, table.fill
		return perFill
	case 15: // table.grow
		return perMemory
	}
	return 0
}
