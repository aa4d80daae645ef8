package main

import (
	"fmt"
	"slices"
	"time"
)

// times are durations that were measured.
type times []time.Duration

// quantile is 0 when nothing was measured. It sorts.
func (t times) quantile(q float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	slices.Sort(t)
	return t[min(int(q*float64(len(t))), len(t)-1)]
}

// ms is a duration as a cell of a table.
func ms(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// median of an even number of values is the upper of the two in the middle.
func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

// first is the first error. The others are mostly the same.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
