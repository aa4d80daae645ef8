package main

import (
	"fmt"
	"io"
	"strings"

	"matchmaker.dev/services/test/chaos/checker"
)

// shown is how many of a promise's breaches are told; the journal has all of them.
const shown = 12

// report says what was tried, and what became of each promise.
func report(out io.Writer, v *checker.Verdict) {
	for _, p := range v.Promises {
		name, fate := "also", "kept"
		if p.Number > 0 {
			name = fmt.Sprintf("promise %d", p.Number)
		}
		if len(p.Broken) > 0 {
			fate = fmt.Sprintf("BROKEN %d times", len(p.Broken))
		}
		fmt.Fprintf(out, "%s, %s: %s\n", name, fate, p.Text)
		for _, t := range p.Tried {
			fmt.Fprintf(out, "  %9d  %s\n", t.Count, t.What)
		}
		for n, b := range p.Broken {
			if n == shown {
				fmt.Fprintf(out, "  … and %d more\n", len(p.Broken)-shown)
				break
			}
			fmt.Fprintf(out, "  ! %s\n", strings.ReplaceAll(b, "\n", " "))
		}
	}
	fmt.Fprintln(out, v.Waits)
	fmt.Fprintln(out, v.Sums)
}
