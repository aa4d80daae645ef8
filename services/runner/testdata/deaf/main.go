// Command deaf is a match function that says that it works on changes, and takes in no tickets after its first run.
// With the setting "eat" it takes more memory than there is when it is to keep tickets.
package main

import "matchmaker.dev/pkg/matchfn"

var _ = matchfn.RegisterMatcher(begin, matchfn.Attributes("skill"), matchfn.Properties())

func main() {}

func begin(s *matchfn.Settings) (matchfn.Matcher, error) {
	return &deaf{eats: s.Bool("eat", false)}, s.Err()
}

type deaf struct{ began, eats bool }

var eaten [][]byte

// Match pairs tickets of the same skill.
func (d *deaf) Match(r *matchfn.Run) error {
	for d.eats && r.Keeps() {
		eaten = append(eaten, make([]byte, 1<<20))
	}
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
