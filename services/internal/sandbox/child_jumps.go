package sandbox

// shortenJumps shortens jumps of a module, in place. The module does the same as before.
//
// When Go's compiler writes WebAssembly it does not know the structure of functions any more: each function is a loop
// around a table of its basic blocks, and each jump sets a variable and goes round the loop,
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
// where a jump to the end of a block is enough, if the block lies ahead. So shortenJumps replaces the label of such a
// br, in as many bytes as before. It leaves jumps back as they are.
//
// The child calls it, since the module is not trusted. It leaves what it does not understand to the engine.
func shortenJumps(module []byte) {
	const preamble, code = 8, 10
	c := cursor{bytes: module}
	c.skip(preamble)
	for c.hasMore() {
		id := c.byte()
		section := cursor{bytes: c.skip(c.number())}
		if id != code {
			continue
		}
		var j jumpShortener
		for n := section.number(); n > 0 && !section.failed; n-- {
			j = jumpShortener{cursor: cursor{bytes: section.skip(section.number())}, targets: j.targets}
			j.run()
		}
	}
}

// jumpShortener reads the body of a function.
type jumpShortener struct {
	cursor
	depth int // number of labels

	// The loop around a table that is being read, if any:
	inLoop      bool
	outerLabels int      // labels outside of the loop
	blocks      int      // at the beginning of the loop; the innermost ends first
	ended       int      // number of blocks that have ended
	next        uint32   // the variable
	targets     []uint32 // block by value of the variable, counted from the innermost; the last is for all other values
}

func (j *jumpShortener) run() {
	for n := j.number(); n > 0 && !j.failed; n-- {
		j.number()
		j.byte()
	}
	var i, last, before instruction
	for j.hasMore() {
		before, last, i = last, i, j.instruction()
		switch i.op {
		case opBlock, opIf:
			j.depth++
		case opLoop:
			if !j.inLoop && i.isVoid() {
				j.enterLoop()
			}
			j.depth++
		case opEnd:
			j.leaveBlock()
		case opBr:
			if j.inLoop && before.op == opConst && last.op == opSet && last.argument == j.next &&
				int(i.argument) == j.depth-j.outerLabels-1 {
				j.shortenJump(i, before.argument)
			}
		}
	}
}

// enterLoop reads the beginning of a loop, after the loop instruction. It reads nothing unless the loop has a table.
func (j *jumpShortener) enterLoop() {
	ahead := j.cursor
	blocks := 0
	i := ahead.instruction()
	for ; i.op == opBlock && i.isVoid(); i = ahead.instruction() {
		blocks++
	}
	table := ahead.instruction()
	if i.op != opGet || table.op != opBrTable || ahead.failed {
		return
	}
	j.cursor = ahead
	j.inLoop, j.outerLabels, j.blocks, j.ended, j.next = true, j.depth, blocks, 0, i.argument
	j.depth += blocks
	j.targets = j.targets[:0]
	for targets := (cursor{bytes: j.bytes[table.start:table.end]}); targets.hasMore(); {
		j.targets = append(j.targets, targets.number())
	}
}

// leaveBlock reads the end of the innermost block, if or loop.
func (j *jumpShortener) leaveBlock() {
	j.depth--
	switch {
	case !j.inLoop:
	case j.depth == j.outerLabels:
		j.inLoop = false
	case j.depth == j.outerLabels+j.blocks-j.ended:
		j.ended++
	}
}

// shortenJump changes a jump to the loop with a value of the variable into one to the target.
func (j *jumpShortener) shortenJump(br instruction, value uint32) {
	target := int(j.targets[min(int(value), len(j.targets)-1)])
	if target < j.ended || target >= j.blocks {
		return // the block has ended, or is outside of the loop
	}
	outside := j.outerLabels + j.blocks - target // labels outside of the block: the loop and the blocks around it
	label := j.depth - outside - 1
	at := j.bytes[br.start:br.end]
	for ; len(at) > 1; at = at[1:] { // a number may have more bytes than it needs
		at[0] = byte(label) | 0x80
		label >>= 7
	}
	at[0] = byte(label)
}
