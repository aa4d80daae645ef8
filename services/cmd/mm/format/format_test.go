package format_test

import (
	"testing"

	"matchmaker.dev/services/cmd/mm/format"
)

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"0 runs": format.Plural(0, "run"), "1 run": format.Plural(int64(1), "run"), "2 runs": format.Plural(uint64(2), "run"),
		"1 match": format.Plural(1, "match"), "2 matches": format.Plural(2, "match"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A number has at most so many digits as people read.
func TestNumber(t *testing.T) {
	for f, want := range map[float64]string{
		70.39500000000001: "70.4", 1e308: "1e+308", 1234.5: "1235", 0.1 + 0.2: "0.3", -1e15: "-1e+15", 0: "0",
	} {
		if got := format.Number(f); got != want {
			t.Errorf("%v is %q, want %q", f, got, want)
		}
	}
}
