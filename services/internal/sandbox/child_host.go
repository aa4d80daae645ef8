package sandbox

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/tetratelabs/wazero/api"

	"matchmaker.dev/pkg/matchfn"
)

// maxSort is how many values mm.sort takes. Each needs 24 bytes besides the guest's memory, which must fit into the
// process.
const maxSort = 4 << 20

// sortNumbers is mm.sort(values, n, order): it fills the n u32 at order with the numbers of the n f64 at values, in the
// order of the SDK's SortBy, and returns 1. When n is more than maxSort it does nothing and returns 0. Guests sort
// slower than this process, those in Go several times.
func sortNumbers(_ context.Context, m api.Module, stack []uint64) {
	at, n, to := uint32(stack[0]), uint32(stack[1]), uint32(stack[2])
	values, a := column(m, at, min(n, maxSort), 8)
	order, b := column(m, to, min(n, maxSort), 4)
	if !a || !b {
		//nolint:forbidigo // how the engine is told to trap a guest
		panic(fmt.Sprintf("mm.sort(%#x, %d, %#x): misaligned, or outside of memory", at, n, to))
	}
	stack[0] = 0
	if n > maxSort {
		return
	}
	if n > 0 {
		matchfn.SortInto(
			unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(order))), n),
			unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(values))), n))
	}
	stack[0] = 1
}

// gather is mm.gather(values, n, numbers, m, to): the m u32 at numbers select from the n f64 at values, and it writes
// the selected m f64 to to, as the SDK's GatherInto does.
func gather(_ context.Context, m api.Module, stack []uint64) {
	from, n, at, count, to := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3]), uint32(stack[4])
	values, a := column(m, from, n, 8)
	numbers, b := column(m, at, count, 4)
	out, c := column(m, to, count, 8)
	if !a || !b || !c {
		//nolint:forbidigo // how the engine is told to trap a guest
		panic(fmt.Sprintf("mm.gather(%#x, %d, %#x, %d, %#x): misaligned, or outside of memory", from, n, at, count, to))
	}
	matchfn.GatherInto(
		unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(out))), count),
		unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(values))), n),
		unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(numbers))), count))
}

// column is n elements of a guest's memory, false when they are misaligned or not all inside. Memory begins at a page,
// so that what is aligned in it is aligned here.
func column(m api.Module, at, n, size uint32) ([]byte, bool) {
	if at%size != 0 || uint64(n)*uint64(size) > 1<<32-1 {
		return nil, false
	}
	return m.Memory().Read(at, n*size)
}
