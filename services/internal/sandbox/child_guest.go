package sandbox

import (
	"encoding/binary"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"

	"matchmaker.dev/pkg/matchfn/block"
)

// guest is a started module. After the first error it must not be called again, because a trap leaves its memory in any
// state.
type guest struct {
	engine                     *engine
	mem                        api.Memory
	allocFn, runFn, manifestFn api.Function
	stack                      [1]uint64 // argument and result of the last call
}

// call calls a function with at most one argument and result, which are in g.stack.
func (g *guest) call(f api.Function) error {
	if err := f.CallWithStack(g.engine.ctx, g.stack[:]); err != nil {
		return g.engine.classify(err)
	}
	return nil
}

// alloc returns a buffer in the guest's memory for a request of n bytes, and its address. It is valid until the guest
// runs again.
func (g *guest) alloc(n int) (at uint32, buffer []byte, err error) {
	g.engine.memory.refused = false // an earlier run may have gone on after a refusal
	g.stack[0] = uint64(n)
	if err := g.call(g.allocFn); err != nil {
		return 0, nil, err
	}
	ptr := uint32(g.stack[0])
	buffer, ok := g.mem.Read(ptr, uint32(n))
	switch {
	case n == 0:
		return 0, nil, nil
	case ptr == 0 && g.engine.memory.refused:
		return 0, nil, failure(Memory, "mm_alloc(%d) found no room within the limit of %d MiB", n, g.engine.memory.limit/mib)
	case ptr == 0 || !ok:
		return 0, nil, failure(Garbage, "mm_alloc(%d) returned %#x, memory has %d bytes", n, ptr, g.mem.Size())
	}
	return ptr, buffer, nil
}

// run runs the function on a request of n bytes in the buffer that alloc returned. The answer is valid until the guest
// runs again.
func (g *guest) run(n int) (at uint32, answer []byte, err error) {
	g.stack[0] = uint64(n)
	if err := g.call(g.runFn); err != nil {
		return 0, nil, err
	}
	return g.result("mm_run", g.engine.settings.Answer)
}

// manifest returns the JSON of the function's manifest, {} when it has none.
func (g *guest) manifest() ([]byte, error) {
	if g.manifestFn == nil {
		return []byte("{}"), nil
	}
	if err := g.call(g.manifestFn); err != nil {
		return nil, err
	}
	_, b, err := g.result("mm_manifest", block.MaxManifest)
	if err != nil {
		return nil, err
	}
	if _, err := block.ParseManifest(b); err != nil {
		return nil, failure(Invalid, "mm_manifest: %v", err)
	}
	return b, nil
}

// result reads what ptr<<32 | len in g.stack points to.
func (g *guest) result(from string, limit int) (at uint32, b []byte, err error) {
	ptr, n := uint32(g.stack[0]>>32), uint32(g.stack[0])
	if uint64(n) > uint64(limit) {
		return 0, nil, failure(Garbage, "%s returned %d bytes, the limit is %d", from, n, limit)
	}
	b, ok := g.mem.Read(ptr, n)
	if !ok {
		return 0, nil, failure(Garbage, "%s returned %d bytes at %#x, memory has %d bytes", from, n, ptr, g.mem.Size())
	}
	return ptr, b, nil
}

// memory is the size of the linear memory in bytes, which never shrinks.
func (g *guest) memory() uint64 { return uint64(g.mem.Size()) }

// readString reads a string of AssemblyScript, in UTF-16 after its length in bytes, for the log. It is empty when the
// pointer is wrong.
func readString(mem api.Memory, ptr uint32) string {
	const maxBytes = 1024
	n, ok := mem.ReadUint32Le(ptr - 4)
	if !ok {
		return ""
	}
	b, ok := mem.Read(ptr, min(n, maxBytes)&^1)
	if !ok {
		return ""
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
