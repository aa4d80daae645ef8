package sandbox

import "math"

// instruction is one of a function, as far as shorten looks at it.
type instruction struct {
	op       byte
	argument uint32 // its only one
	start    int    // of the argument, or of all targets of a br_table
	end      int
}

// The instructions that mean something to shorten.
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

// void is the type of a block that takes and leaves nothing; it is one byte.
const void = 0x40

// void tells whether a block takes and leaves nothing.
func (i instruction) void() bool { return i.argument == void && i.end == i.start+1 }

// cursor reads a module. When it meets what it does not know it is lost: it is at the end then, and reads zeros.
type cursor struct {
	bytes []byte
	at    int
	lost  bool
}

func (c *cursor) more() bool { return c.at < len(c.bytes) }

func (c *cursor) lose() { c.at, c.lost = len(c.bytes), true }

// skip passes over so many bytes, and returns them.
func (c *cursor) skip(n uint32) []byte {
	if uint64(n) > uint64(len(c.bytes)-c.at) {
		c.lose()
		return nil
	}
	c.at += int(n)
	return c.bytes[c.at-int(n) : c.at]
}

func (c *cursor) byte() byte {
	if !c.more() {
		c.lose()
		return 0
	}
	c.at++
	return c.bytes[c.at-1]
}

// number reads a number in LEB128 and returns its lowest 32 bits, as those of an unsigned one.
func (c *cursor) number() uint32 {
	if b := c.byte(); b < 0x80 {
		return uint32(b)
	} else { //nolint:revive // most numbers end here
		return c.long(uint32(b & 0x7f))
	}
}

// long reads on in a number.
func (c *cursor) long(n uint32) uint32 {
	for shift := 7; shift < 64; shift += 7 {
		b := c.byte()
		if n |= uint32(b&0x7f) << shift; b < 0x80 { // nothing is left of it from 32 on
			return n
		}
	}
	c.lose()
	return 0
}

// instruction reads one of those that compilers of the first versions of WebAssembly write; vectors and references are beyond it.
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
		if op == opConst && !c.lost && c.bytes[c.at-1]&0x40 != 0 {
			i.argument = math.MaxUint32 // negative: as an unsigned number, beyond any table
		}
	case op >= 0x45 && op <= 0xc4, // comparisons and arithmetic
		op == opEnd, op == 0x00, op == 0x01, op == 0x05, op == 0x0f, op == 0x1a, op == 0x1b: // unreachable, nop, else, return, drop, select
	case op >= 0x28 && op <= 0x3e: // loads and stores
		if align := c.number(); align >= 0x40 { // names one of several memories
			c.lose()
		}
		c.number()
	case op == opBrTable:
		n := uint64(c.number()) + 1
		i.start = c.at
		for ; n > 0 && !c.lost; n-- {
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
		c.lose()
	}
	return i
}

// bulk reads the rest of a saturating conversion, or of an instruction on much memory or a table.
func (c *cursor) bulk() {
	switch op := c.number(); {
	case op < 8:
	case op == 8, op == 10, op == 12, op == 14: // memory.init, memory.copy, table.init, table.copy
		c.number()
		c.number()
	case op < 18:
		c.number()
	default:
		c.lose()
	}
}
