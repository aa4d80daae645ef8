package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"matchmaker.dev/services/test/workload"
)

// times are durations that were measured.
type times []time.Duration

// quantile is 0 when nothing was measured. It sorts.
func (t times) quantile(q float64) time.Duration {
	return workload.Quantile(t, q)
}

// median of nothing is not a number.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	values = slices.Sorted(slices.Values(values))
	middle := len(values) / 2
	if len(values)%2 == 1 || values[middle-1] == values[middle] {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

// ratios divides each value by the one beside it.
func ratios(values, beside []float64) []float64 {
	all := make([]float64, min(len(values), len(beside)))
	for i := range all {
		all[i] = values[i] / beside[i]
	}
	return all
}

// Units of values.
const (
	millis  = "ms"
	micros  = "µs"
	seconds = "s"
	perSec  = "/s"
	mib     = "MiB"
	kib     = "KiB"
	cores   = "cores"
	percent = "%"
)

// in is a duration in a unit.
func in(unit string, d time.Duration) float64 {
	switch unit {
	case micros:
		return float64(d) / float64(time.Microsecond)
	case millis:
		return float64(d) / float64(time.Millisecond)
	default:
		return d.Seconds()
	}
}

// show is a value with its unit. What is infinite is of a load that was too much for the system.
func show(value float64, unit string) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return "too much"
	}
	return digits(value) + space(unit) + unit
}

func space(unit string) string {
	if unit == "" || unit == perSec {
		return ""
	}
	return " "
}

// spread is the least and the greatest of values, without the unit.
func spread(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	least, most := slices.Min(values), slices.Max(values)
	if math.IsInf(most, 0) || math.IsNaN(most) {
		return digits(least) + "–∞"
	}
	return digits(least) + "–" + digits(most)
}

// digits shows three digits, or all of the integer.
func digits(value float64) string {
	switch size := math.Abs(value); {
	case math.IsInf(value, 0) || math.IsNaN(value):
		return "∞"
	case size >= 999.5:
		return count(int(math.Round(value)))
	case size >= 99.5:
		return fmt.Sprintf("%.0f", value)
	case size >= 9.95:
		return fmt.Sprintf("%.1f", value)
	default:
		return fmt.Sprintf("%.2f", value)
	}
}

// count is an integer with a comma after each three digits.
func count(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
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
