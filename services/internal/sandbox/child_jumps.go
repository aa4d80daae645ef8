package sandbox

// shorten makes jumps of a module shorter, in place; what the module does stays the same.
//
// Go's compiler has forgotten how a function is structured when it writes WebAssembly: each is a loop around a table of its
// basic blocks, and whatever jumps sets a variable and goes round that loop,
//
//	loop
//	  block … block block
//	    local.get $next
//	    br_table …
//	  end
//	  …
//	    i32.const 7
//	    local.set $next
//	    br $loop
//
// where a jump straight to the end of a block would do, if that lies ahead. This is what such a br becomes: its label is
// written anew, in as many bytes as before. Jumps back stay.
//
// It is for the child, since the module is a stranger's. What makes no sense is left as it is, for the engine to judge.
func shorten(module []byte) {
	const preamble, code = 8, 10
	c := cursor{bytes: module}
	c.skip(preamble)
	for c.more() {
		id := c.byte()
		section := cursor{bytes: c.skip(c.number())}
		if id != code {
			continue
		}
		var f function
		for n := section.number(); n > 0 && !section.lost; n-- {
			f = function{cursor: cursor{bytes: section.skip(section.number())}, targets: f.targets}
			f.shorten()
		}
	}
}

// function is a function's body, as far as it is known.
type function struct {
	cursor
	depth int // how many labels there are here

	// The loop around a table, in which this is, if any.
	looping bool
	loop    int      // the labels outside of it
	blocks  int      // that it begins with, the innermost of which ends first
	ended   int      // of them
	next    uint32   // the variable
	targets []uint32 // by its value: the block, counted from the innermost; the last is for all other values
}

func (f *function) shorten() {
	for n := f.number(); n > 0 && !f.lost; n-- {
		f.number()
		f.byte()
	}
	var i, last, before instruction
	for f.more() {
		before, last, i = last, i, f.instruction()
		switch i.op {
		case opBlock, opIf:
			f.depth++
		case opLoop:
			if !f.looping && i.void() {
				f.enter()
			}
			f.depth++
		case opEnd:
			f.leave()
		case opBr:
			if f.looping && before.op == opConst && last.op == opSet && last.argument == f.next && int(i.argument) == f.depth-f.loop-1 {
				f.redirect(i, before.argument)
			}
		}
	}
}

// enter reads the beginning of a loop, behind the loop instruction. If there is a table it is now in there, else nothing was read.
func (f *function) enter() {
	ahead := f.cursor
	blocks := 0
	i := ahead.instruction()
	for ; i.op == opBlock && i.void(); i = ahead.instruction() {
		blocks++
	}
	table := ahead.instruction()
	if i.op != opGet || table.op != opBrTable || ahead.lost {
		return
	}
	f.cursor = ahead
	f.looping, f.loop, f.blocks, f.ended, f.next = true, f.depth, blocks, 0, i.argument
	f.depth += blocks
	f.targets = f.targets[:0]
	for targets := (cursor{bytes: f.bytes[table.start:table.end]}); targets.more(); {
		f.targets = append(f.targets, targets.number())
	}
}

// leave reads the end of whatever began last.
func (f *function) leave() {
	f.depth--
	switch {
	case !f.looping:
	case f.depth == f.loop:
		f.looping = false
	case f.depth == f.loop+f.blocks-f.ended:
		f.ended++
	}
}

// redirect lets a jump to the loop, with this value of the variable, go to its target.
func (f *function) redirect(br instruction, value uint32) {
	target := int(f.targets[min(int(value), len(f.targets)-1)])
	if target < f.ended || target >= f.blocks {
		return // it lies behind, or outside
	}
	outside := f.loop + f.blocks - target // labels outside of the block: the loop and the blocks around it
	label := f.depth - outside - 1
	at := f.bytes[br.start:br.end]
	for ; len(at) > 1; at = at[1:] { // numbers may be longer than they need to be
		at[0] = byte(label) | 0x80
		label >>= 7
	}
	at[0] = byte(label)
}
