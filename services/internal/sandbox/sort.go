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
