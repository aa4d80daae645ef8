// Package languages holds the tests of match functions in other languages than
// Go: those of functions/examples. They are built as the README of functions
// says, run in the sandbox, and compared with what their authors were promised:
// the vectors of the block format, and a function that is the same in all of them.
package languages

import "matchmaker.dev/pkg/matchfn"

// Pair is that function in Go: it matches neighbours in skill, and how far apart
// they may be widens by a point for every second that both have waited.
func Pair(r *matchfn.Run) error {
	skill, wait := r.Attribute("skill"), r.Wait()
	order := matchfn.SortBy(skill)
	for i := 0; i+1 < len(order); i++ {
		a, b := order[i], order[i+1]
		gap := skill[b] - skill[a]
		both := wait[a]
		if wait[b] < both { // not min, which for floats is a call in Go's WebAssembly
			both = wait[b]
		}
		if gap <= 25+both {
			r.Propose(-gap, a, b)
			i++ // both are taken
		}
	}
	return nil
}
