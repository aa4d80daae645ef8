package checker

import (
	"slices"

	"matchmaker.dev/services/test/chaos/history"
)

// enemies checks promise 9: a function that misbehaves makes no match. What it does to other configs shows in promises
// 1 to 8, which are checked while it runs.
func enemies(m *model, p *Promise, _ *Sums) {
	var others, changes int
	for _, one := range m.matchesByID() {
		switch {
		case one.first == nil:
		case slices.Contains(m.h.Terms.Enemies, one.first.Config):
			p.fail("%s: match %s was made by config %s, whose function makes no valid proposal", one.project, one.id,
				one.first.Config)
		default:
			others++
		}
	}
	for _, c := range m.h.Changes {
		if c.Op == history.Put && c.Status/100 == 2 && slices.Contains(m.h.Terms.Enemies, c.Name) {
			changes++
		}
	}
	p.count("times that a function began to misbehave", changes)
	p.count("matches of other configs", others)
}
