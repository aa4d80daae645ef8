package matchfn

import "math"

// Gather returns the elements of a column at the given numbers, in that order. With an order from [SortBy], it returns
// the sorted column. The element of a number outside of the column is NaN.
//
// A loop over a column in order is faster than one that looks up each element, in WebAssembly about twice as fast: the
// runner gathers for the module.
func Gather(values []float64, numbers []uint32) []float64 {
	to := make([]float64, len(numbers))
	GatherInto(to, values, numbers)
	return to
}

// GatherInto is Gather into memory that the caller reuses. It fills to, which must be as long as numbers.
func GatherInto(to, values []float64, numbers []uint32) {
	to = to[:len(numbers)]
	if len(numbers) > few && hostGather(to, values, numbers) {
		return
	}
	for i, number := range numbers {
		v := math.NaN()
		if int64(number) < int64(len(values)) {
			v = values[number]
		}
		to[i] = v
	}
}
