package matchfn

import "math"

// Gather returns the elements of a column that numbers name, in their order: with an order from [SortBy], the column in
// that order. A number that the column does not have gets NaN.
//
// A loop through columns in their order is faster than one that looks up every element, in WebAssembly about twice: the
// runner gathers for the module.
func Gather(values []float64, numbers []uint32) []float64 {
	to := make([]float64, len(numbers))
	GatherInto(to, values, numbers)
	return to
}

// GatherInto is Gather for those who keep memory from run to run: it fills to, which must be as long as numbers.
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
