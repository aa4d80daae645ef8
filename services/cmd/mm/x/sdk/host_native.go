//go:build !wasip1

package matchfn

// hostSort does nothing: there is no runner.
func hostSort([]uint32, []float64) bool { return false }

// hostGather does nothing: there is no runner.
func hostGather([]float64, []float64, []uint32) bool { return false }
