//go:build wasip1

package matchfn

import "unsafe"

//go:wasmimport mm sort
//go:noescape
func mmSort(values unsafe.Pointer, n uint32, order unsafe.Pointer) uint32

// hostSort asks the runner to sort, and reports whether it did. There must be values.
func hostSort(order []uint32, values []float64) bool {
	return mmSort(unsafe.Pointer(unsafe.SliceData(values)), uint32(len(values)),
		unsafe.Pointer(unsafe.SliceData(order))) != 0
}

//go:wasmimport mm gather
//go:noescape
func mmGather(values unsafe.Pointer, n uint32, numbers unsafe.Pointer, m uint32, to unsafe.Pointer)

// hostGather asks the runner to gather. There must be numbers.
func hostGather(to, values []float64, numbers []uint32) bool {
	mmGather(unsafe.Pointer(unsafe.SliceData(values)), uint32(len(values)), unsafe.Pointer(unsafe.SliceData(numbers)),
		uint32(len(numbers)), unsafe.Pointer(unsafe.SliceData(to)))
	return true
}
