package wasm

import (
	"slices"
	"sort"
)

// What the engine's compiler takes for a function, in nanoseconds on a core of 2024, about. Most grow faster than the
// function: a module of 100 kB can take minutes. Each number was measured with modules that have much of the one thing
// and little of all others; package wasmtest makes them, and BenchmarkEstimate of package sandbox measures them. Those
// of instructions are in cost.go.
const (
	perInstruction = 150
	perBlock       = 3_000
	perTarget      = 6_000 // of a br_table: a block of its own
	perValue       = 1_000 // that a branch, a call or a block hands over: code for each
	perDepth       = 15    // block and block that dominates it: a walk up for each
	perLive        = 250   // block and value that may be alive in it, for each loop around it
	perBound       = 150   // block and access to memory that was checked before it
	perFunction    = 20_000
	// The compiler goes through the values that a branch hands over again for each of them, until nothing changes: it
	// looks for those that are the same on all ways.
	perJoin = 7 // branch to a block, and pair of locals that are set in the block
	perBack = 4 // branch back to a loop, and pair of locals that are used in the loop
	// livePairs is how many pairs of values that may be alive take a nanosecond of each way into a block.
	livePairs = 6
)

// function reads the body of a function. It follows the structure of its blocks as the compiler does, without values:
// where it cannot know it takes the worst.
type function struct {
	reader
	m     *module
	index int

	locals int
	seen   [kinds][]int // by local: where it was used and set last, 0 for nowhere
	live   int          // locals that were used so far
	frames []frame
	loops  int // around the current instruction
	point
	dead bool // the current instruction cannot be reached
	work int

	nesting, loopNesting, targets int // the most
}

// point is what is known at an instruction.
type point struct {
	height int // of the operand stack
	depth  int // blocks that dominate this one
	bounds int // accesses to memory before it on all ways
}

// frame is a block, loop or if that has not ended.
type frame struct {
	op       byte
	start    point // without the parameters
	in, out  int   // values
	end      point // the least of all branches to its end
	branches int   // to its end
	began    int   // where
	// seen is how many locals were used and set last while it was the innermost one that has not ended. So those since it
	// began are its own and those of all frames within it.
	seen [kinds]int
}

// Kinds of what is seen of a local.
const (
	used = iota
	set
	kinds
)

// read reads a body and adds what it has to the module's shape.
func (f *function) read(m *module, index int, body reader) error {
	*f = function{reader: body, m: m, index: index, seen: f.seen, frames: f.frames[:0]}
	s, l := &m.shape, &m.limits
	if err := atMost(len(body.bytes), l.Body, f.text("has %s bytes")); err != nil {
		return err
	}
	if index >= len(m.functions) || int(m.functions[index]) >= len(m.types) {
		return malformed("function %d has a type that does not exist", index)
	}
	of := m.types[m.functions[index]]
	f.locals = of.params
	for n := f.count(); n > 0; n-- {
		f.locals += int(f.number())
		f.byte()
		if err := atMost(f.locals, l.Locals, f.text("has %s locals")); err != nil {
			return err
		}
	}
	for kind := range f.seen {
		n := min(f.locals, mostLocals)
		f.seen[kind] = slices.Grow(f.seen[kind][:0], n)[:n]
		clear(f.seen[kind])
	}
	f.frames = append(f.frames, frame{op: opBlock, out: of.results})
	f.work = perFunction
	for f.more() && len(f.frames) > 0 {
		if err := f.step(); err != nil {
			return err
		}
		if f.work > l.Work {
			return f.tooMuchWork()
		}
	}
	if f.failed || f.more() || len(f.frames) > 0 {
		return malformed("function %d cannot be read", index)
	}
	s.Body, s.Locals = max(s.Body, len(body.bytes)), max(s.Locals, f.locals)
	s.Nesting, s.Loops, s.Targets = max(s.Nesting, f.nesting), max(s.Loops, f.loopNesting), max(s.Targets, f.targets)
	s.Work = max(s.Work, f.work)
	s.TotalWork += f.work
	if s.TotalWork > l.TotalWork {
		return m.tooMuchWork()
	}
	return nil
}

// step reads an instruction.
func (f *function) step() error {
	at := f.at
	i := readInstruction(&f.reader)
	if i.unknown {
		return malformed("function %d has the instruction 0x%02x at byte %d, which is not supported", f.index, i.op, at)
	}
	if f.failed {
		return nil
	}
	f.work += perInstruction + i.work
	switch i.op {
	case opBlock, opLoop, opIf:
		return f.enter(i)
	case opElse:
		f.otherwise()
	case opEnd:
		f.leave()
	case opBr, opBrIf:
		if i.op == opBrIf {
			f.pop(1)
		}
		f.branch(i.argument)
		if i.op == opBr {
			f.end()
		} else {
			f.newBlock()
		}
	case opBrTable:
		return f.table(i)
	case opReturn:
		f.branch(uint32(len(f.frames) - 1))
		f.end()
	case opUnreachable:
		f.end()
	case opCall:
		if int(i.argument) >= len(f.m.functions) || int(f.m.functions[i.argument]) >= len(f.m.types) {
			return malformed("function %d calls function %d, which does not exist", f.index, i.argument)
		}
		f.call(f.m.types[f.m.functions[i.argument]])
	case opCallIndirect:
		if int(i.argument) >= len(f.m.types) {
			return malformed("function %d calls one of type %d, which does not exist", f.index, i.argument)
		}
		f.pop(1)
		f.call(f.m.types[i.argument])
	default:
		f.simple(i)
	}
	return nil
}

// simple is an instruction that goes to the next one.
func (f *function) simple(i instruction) {
	if i.op >= opLocalGet && i.op <= opLocalTee && int(i.argument) < len(f.seen[used]) {
		if f.seen[used][i.argument] == 0 {
			f.live++
		}
		f.see(used, i.argument)
		if i.op != opLocalGet {
			f.see(set, i.argument)
		}
	}
	if i.fill {
		f.fill()
	}
	if i.memory && !f.dead {
		f.bounds++
	}
	f.pop(i.pops)
	f.height += i.pushes
}

// pop takes values from the stack. Behind a branch there may be fewer than an instruction takes.
func (f *function) pop(n int) {
	f.height = max(f.height-n, f.frames[len(f.frames)-1].start.height)
}

// see notes that a local was used or set here.
func (f *function) see(kind int, local uint32) {
	last, top := f.seen[kind][local], len(f.frames)-1
	f.seen[kind][local] = f.at
	if last > 0 {
		if last > f.frames[top].began {
			return
		}
		// The innermost frame that has not ended and began before that.
		at := sort.Search(top, func(i int) bool { return f.frames[i].began >= last })
		f.frames[at-1].seen[kind]--
	}
	f.frames[top].seen[kind]++
}

// mostLocals is how many locals are told apart where no limit is lower.
const mostLocals = 1 << 20

// farAway is how many frames within each other are looked through.
const farAway = 256

// seenSince is how many locals were used or set since a frame began, at most.
func (f *function) seenSince(kind, frame int) (n int) {
	if len(f.frames)-frame > farAway {
		return f.live
	}
	for i := frame; i < len(f.frames); i++ {
		n += f.frames[i].seen[kind]
	}
	return n
}

// fill is a loop that the compiler makes of one instruction.
func (f *function) fill() {
	if f.dead {
		return
	}
	f.loops++
	f.edge()
	f.edge()
	f.loops--
	f.newBlock()
}

func (f *function) call(s signature) {
	f.pop(s.params)
	f.height += s.results
	f.pass(s.params + s.results)
}

// pass charges values that are handed over.
func (f *function) pass(values int) {
	if !f.dead {
		f.work += values * perValue
	}
}

// newBlock charges a basic block that begins here, and follows the one before it.
func (f *function) newBlock() {
	if f.dead {
		return
	}
	f.depth++
	f.edge()
	f.work += perBlock
}

// edge charges a way into a block.
func (f *function) edge() {
	live := f.live + f.height
	f.work += f.depth*perDepth + live*(perLive+live/livePairs)*(f.loops+1) + f.bounds*perBound
}

func (f *function) enter(i instruction) error {
	in, out := 0, 0
	switch {
	case i.blockOf >= 0:
		if i.blockOf >= int64(len(f.m.types)) {
			return malformed("function %d has a block of type %d, which does not exist", f.index, i.blockOf)
		}
		in, out = f.m.types[i.blockOf].params, f.m.types[i.blockOf].results
	case i.blockOf != -64:
		out = 1
	}
	if i.op == opIf {
		f.pop(1)
	}
	f.pop(in)
	if err := atMost(len(f.frames), f.m.limits.Nesting, f.text("has %s blocks within each other")); err != nil {
		return err
	}
	f.frames = append(f.frames, frame{op: i.op, start: f.point, in: in, out: out, began: f.at})
	f.nesting = max(f.nesting, len(f.frames)-1)
	f.height += in
	f.pass(in + out)
	if i.op == opLoop {
		f.loops++
		f.loopNesting = max(f.loopNesting, f.loops)
		if err := atMost(f.loops, f.m.limits.Loops, f.text("has %s loops within each other")); err != nil {
			return err
		}
	}
	if i.op != opBlock {
		f.newBlock()
	}
	return nil
}

// otherwise is an else.
func (f *function) otherwise() {
	top := &f.frames[len(f.frames)-1]
	if !f.dead {
		f.arrive(len(f.frames) - 1)
	}
	f.point, f.dead = top.start, false
	f.height += top.in
	top.op = opElse
	f.newBlock()
}

// leave is an end.
func (f *function) leave() {
	top := &f.frames[len(f.frames)-1]
	if !f.dead {
		f.arrive(len(f.frames) - 1)
	}
	if top.op == opIf { // without an else
		f.point = top.start
		f.dead = false
		f.depth++
		f.arrive(len(f.frames) - 1)
	}
	if top.op == opLoop {
		f.loops--
	}
	f.point, f.dead = top.start, top.branches == 0
	if top.branches > 0 {
		f.depth, f.bounds = top.end.depth, top.end.bounds
		if top.op == opIf || top.op == opElse {
			f.depth = min(f.depth, top.start.depth)
		}
	}
	f.height += top.out
	if n := len(f.frames); n > 1 {
		for kind, seen := range top.seen {
			f.frames[n-2].seen[kind] += seen
		}
	}
	f.frames = f.frames[:len(f.frames)-1]
	f.newBlock()
}

// arrive is a way to the end of a frame.
func (f *function) arrive(at int) {
	to := &f.frames[at]
	if to.branches == 0 {
		to.end = f.point
	} else {
		values := f.seenSince(set, at)
		f.work += values * values * perJoin
	}
	to.end.depth, to.end.bounds = min(to.end.depth, f.depth), min(to.end.bounds, f.bounds)
	to.branches++
	f.edge()
}

// branch is a jump to a label.
func (f *function) branch(label uint32) {
	if f.dead || int(label) >= len(f.frames) {
		return
	}
	at := len(f.frames) - 1 - int(label)
	to := &f.frames[at]
	if to.op == opLoop {
		f.pass(to.in)
		f.edge()
		values := f.seenSince(used, at)
		f.work += values * values * perBack
		return
	}
	f.pass(to.out)
	f.arrive(at)
}

func (f *function) table(i instruction) error {
	f.pop(1)
	f.targets = max(f.targets, i.targets)
	if err := atMost(i.targets, f.m.limits.Targets, f.text("has a br_table of %s targets")); err != nil {
		return err
	}
	for range i.targets {
		if f.branch(i.labels.number()); !f.dead {
			f.work += perTarget
		}
		if f.work > f.m.limits.Work {
			return f.tooMuchWork()
		}
	}
	f.end()
	return nil
}

// end is that of a way: what follows cannot be reached until a block begins to which somebody jumps.
func (f *function) end() {
	f.dead = true
	f.height = f.frames[len(f.frames)-1].start.height
}
