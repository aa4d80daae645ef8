package sandbox

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/tetratelabs/wazero/api"

	"matchmaker.dev/pkg/matchfn"
)

// maxSort is how many values sort takes: what it needs besides the guest's memory, 24 bytes for each, must fit
// into the process.
const maxSort = 4 << 20

// sort is mm.sort(values, n, order): it fills the n u32 at order with the numbers of the n f64 at values, as
// the SDK's SortBy orders them, and returns 1. It returns 0, and has done nothing, when n is more than it takes.
// Guests sort slower than this process, Go's several times.
func sort(_ context.Context, m api.Module, stack []uint64) {
	at, n, to := uint32(stack[0]), uint32(stack[1]), uint32(stack[2])
	values, inside := m.Memory().Read(at, 8*min(n, maxSort))
	order, insideToo := m.Memory().Read(to, 4*min(n, maxSort))
	if !inside || !insideToo || at%8 != 0 || to%4 != 0 {
		panic(fmt.Sprintf("mm.sort(%#x, %d, %#x): misaligned, or outside of memory", at, n, to)) //nolint:forbidigo // how the engine is told to trap a guest
	}
	stack[0] = 0
	if n == 0 {
		stack[0] = 1
	}
	if n == 0 || n > maxSort {
		return
	}
	// Memory begins at a page, so that what is aligned in it is aligned here.
	matchfn.SortInto(
		unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(order))), n),
		unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(values))), n))
	stack[0] = 1
}

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
