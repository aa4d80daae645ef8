package sandbox

import "math"

// instruction is an instruction, as far as shortenJumps needs it.
type instruction struct {
	op       byte
	argument uint32 // the only one
	start    int    // where the argument, or the targets of a br_table, start
	end      int
}

// The instructions that shortenJumps needs to know.
const (
	opBlock   = 0x02
	opLoop    = 0x03
	opIf      = 0x04
	opEnd     = 0x0b
	opBr      = 0x0c
	opBrTable = 0x0e
	opGet     = 0x20
	opSet     = 0x21
	opConst   = 0x41 // of 32 bits
)

// voidType is the type of a block without parameters and results, one byte.
const voidType = 0x40

// isVoid reports whether a block has neither parameters nor results.
func (i instruction) isVoid() bool { return i.argument == voidType && i.end == i.start+1 }

// cursor reads a module. When it meets what it does not know it fails: then it is at the end, and reads zeros.
type cursor struct {
	bytes  []byte
	at     int
	failed bool
}

func (c *cursor) hasMore() bool { return c.at < len(c.bytes) }

func (c *cursor) fail() { c.at, c.failed = len(c.bytes), true }

// skip skips n bytes, and returns them.
func (c *cursor) skip(n uint32) []byte {
	if uint64(n) > uint64(len(c.bytes)-c.at) {
		c.fail()
		return nil
	}
	c.at += int(n)
	return c.bytes[c.at-int(n) : c.at]
}

func (c *cursor) byte() byte {
	if !c.hasMore() {
		c.fail()
		return 0
	}
	c.at++
	return c.bytes[c.at-1]
}

// number reads a number in LEB128 and returns its lowest 32 bits.
func (c *cursor) number() uint32 {
	if b := c.byte(); b < 0x80 {
		return uint32(b)
	} else { //nolint:revive // most numbers end here
		return c.longNumber(uint32(b & 0x7f))
	}
}

// longNumber reads the rest of a number.
func (c *cursor) longNumber(n uint32) uint32 {
	for shift := 7; shift < 64; shift += 7 {
		b := c.byte()
		if n |= uint32(b&0x7f) << shift; b < 0x80 { // a shift of 32 or more leaves nothing
			return n
		}
	}
	c.fail()
	return 0
}

// instruction reads an instruction of the first versions of WebAssembly; it does not know vectors and references.
func (c *cursor) instruction() (i instruction) {
	i.op = c.byte()
	switch op := i.op; {
	case op == opBlock, op == opLoop, op == opIf, // a type
		op == opBr, op == 0x0d, op == 0x10, // br_if, call
		op >= opGet && op <= 0x24, // local.get to global.set
		op == 0x3f, op == 0x40,    // memory.size, memory.grow
		op == opConst, op == 0x42: // i64.const
		i.start = c.at
		i.argument = c.number()
		i.end = c.at
		if op == opConst && !c.failed && c.bytes[c.at-1]&0x40 != 0 {
			i.argument = math.MaxUint32 // negative: beyond any table
		}
	case op >= 0x45 && op <= 0xc4, // comparisons and arithmetic
		// unreachable, nop, else, return, drop, select
		op == opEnd, op == 0x00, op == 0x01, op == 0x05, op == 0x0f, op == 0x1a, op == 0x1b:
	case op >= 0x28 && op <= 0x3e: // loads and stores
		if align := c.number(); align >= 0x40 { // of one of several memories
			c.fail()
		}
		c.number()
	case op == opBrTable:
		n := uint64(c.number()) + 1
		i.start = c.at
		for ; n > 0 && !c.failed; n-- {
			c.number()
		}
		i.end = c.at
	case op == 0x11: // call_indirect
		c.number()
		c.number()
	case op == 0x43:
		c.skip(4)
	case op == 0x44:
		c.skip(8)
	case op == 0xfc:
		c.bulk()
	default:
		c.fail()
	}
	return i
}

// bulk reads the rest of a saturating conversion, or of an instruction for bulk memory or tables.
func (c *cursor) bulk() {
	switch op := c.number(); {
	case op < 8:
	case op == 8, op == 10, op == 12, op == 14: // memory.init, memory.copy, table.init, table.copy
		c.number()
		c.number()
	case op < 18:
		c.number()
	default:
		c.fail()
	}
}
