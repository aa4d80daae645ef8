package main

import (
	"fmt"
	"io"
	"strings"

	"matchmaker.dev/services/test/chaos/checker"
)

// shown is how many violations of a promise are printed. The journal has all of them.
const shown = 12

// report prints how often each promise was exercised and whether it was kept.
func report(out io.Writer, r *checker.Result) {
	for _, p := range r.Promises {
		name, outcome := "also", "kept"
		if p.Number > 0 {
			name = fmt.Sprintf("promise %d", p.Number)
		}
		if len(p.Broken) > 0 {
			outcome = fmt.Sprintf("BROKEN %d times", len(p.Broken))
		}
		fmt.Fprintf(out, "%s, %s: %s\n", name, outcome, p.Text)
		for _, t := range p.Counts {
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
	fmt.Fprintln(out, r.Waits)
	fmt.Fprintln(out, r.Sums)
}
