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
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		gap := skill[b] - skill[a]
		if gap <= 25+wait[a] && gap <= 25+wait[b] {
			r.Propose(-gap, a, b)
			i++ // both are taken
		}
	}
	return nil
}
