package sandbox

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/tetratelabs/wazero/api"

	"matchmaker.dev/pkg/matchfn"
)

// gather is mm.gather(values, n, numbers, m, to): it fills the m f64 at to with those of the n f64 at values that the m u32 at numbers
// name, as the SDK's GatherInto does.
func gather(_ context.Context, m api.Module, stack []uint64) {
	from, n, at, count, to := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3]), uint32(stack[4])
	values, a := place(m, from, n, 8)
	numbers, b := place(m, at, count, 4)
	out, c := place(m, to, count, 8)
	if !a || !b || !c {
		panic(fmt.Sprintf("mm.gather(%#x, %d, %#x, %d, %#x): misaligned, or outside of memory", from, n, at, count, to)) //nolint:forbidigo // how the engine is told to trap a guest
	}
	matchfn.GatherInto(
		unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(out))), count),
		unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(values))), n),
		unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(numbers))), count))
}

// place is a column of n elements of a guest's memory, false when it is misaligned or not all in it. Memory begins at a page, so that what
// is aligned in it is aligned here.
func place(m api.Module, at, n, size uint32) ([]byte, bool) {
	if at%size != 0 || uint64(n)*uint64(size) > 1<<32-1 {
		return nil, false
	}
	return m.Memory().Read(at, n*size)
}
