// Package languages holds the tests of match functions in other languages than
// Go: those of functions/examples. They are built as the README of functions
// says, run in the sandbox, and compared with what their authors were promised:
// the vectors of the block format, and a function that is the same in all of them.
package languages

import "matchmaker.dev/pkg/matchfn"

// Pair is that function in Go: it matches neighbours in skill, and how far apart
// they may be widens by a point for every second that both have waited.
func Pair(r *matchfn.Run) error {
	order := matchfn.SortBy(r.Attribute("skill"))
	skill, wait := matchfn.Gather(r.Attribute("skill"), order), matchfn.Gather(r.Wait(), order)
	for i := 1; i < len(order); i++ {
		gap := skill[i] - skill[i-1]
		if gap <= 25+wait[i-1] && gap <= 25+wait[i] {
			r.Propose(-gap, order[i-1], order[i])
			i++ // both are taken
		}
	}
	return nil
}
