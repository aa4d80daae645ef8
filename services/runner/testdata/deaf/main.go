// Command deaf is a match function that says that it works on changes, and takes in no tickets but those of its first
// run.
package main

import "matchmaker.dev/pkg/matchfn"

var _ = matchfn.RegisterMatcher(begin, matchfn.Attributes("skill"), matchfn.Properties())

func main() {}

func begin(*matchfn.Settings) (matchfn.Matcher, error) { return &deaf{}, nil }

type deaf struct{ began bool }

// Match pairs tickets of the same skill.
func (d *deaf) Match(r *matchfn.Run) error {
	if d.began {
		return nil
	}
	d.began = true
	skill := r.Attribute("skill")
	order := matchfn.SortBy(skill)
	for i := 0; i+1 < len(order); i++ {
		if a, b := order[i], order[i+1]; skill[a] == skill[b] {
			r.Propose(1, a, b)
			i++
		}
	}
	return nil
}
