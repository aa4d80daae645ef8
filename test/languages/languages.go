// Package languages has the tests of the match functions in functions/examples, in languages other than Go. They are
// built as the README of functions says, run in the sandbox, and checked against the vectors of the block format and
// against one function that is the same in all languages.
package languages

import "matchmaker.dev/pkg/matchfn"

// Pair is that function in Go. It matches neighbours in skill; the difference that is allowed grows by a point for
// every second that both have waited.
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
