package search

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

const (
	// maxCommon is how many elements of a value More.Common has.
	maxCommon = 16
	// maxCommonText is the most bytes of an element there, as of names in rules.
	maxCommonText = 256
)

// Common names what More.Common has: the strings and sets that rules ask players to have in common, in their order.
func Common(r *rules.Rules) (names []string) {
	name := func(value string) {
		if v := r.ValueOf(value); v != nil && v.Kind != rules.Number && !slices.Contains(names, value) {
			names = append(names, value)
		}
	}
	for _, rule := range r.Rules {
		rules.Walk(rule.Need, func(need rules.Condition) {
			switch c := need.(type) {
			case *rules.Same:
				if !c.Different {
					name(c.Value)
				}
			case *rules.Share:
				name(c.Value)
			}
		}, func(rules.Expression) {})
	}
	return names
}

// common finds what the players of matches have in common.
type common struct {
	columns []*column
	numbers []uint32 // scratch
	// Memory for matches.
	lists [][]string
	texts []string
}

// findCommon finds out of which values it has to be known.
func (s *search) findCommon() {
	for _, name := range Common(s.rules) {
		s.common.columns = append(s.common.columns, s.column(name))
	}
}

// commonOf finds what all players of some tickets have in common, by the names of Common. It skips players without a
// value. The elements ascend by their text, as numbers of names differ from one pool to another.
func (s *search) commonOf(tickets []uint32) *More {
	of, p := &s.common, s.pool
	if len(of.columns) == 0 {
		return nil
	}
	lists := piece(&of.lists, len(of.columns))
	for i, c := range of.columns {
		of.numbers = p.intersection(of.numbers[:0], c, tickets)
		all := slices.DeleteFunc(of.numbers, func(name uint32) bool { return len(p.names.texts[name]) > maxCommonText })
		if len(all) > 1 {
			slices.SortFunc(all, p.byName)
		}
		all = all[:min(len(all), maxCommon)]
		lists[i] = piece(&of.texts, len(all))
		for j, name := range all {
			lists[i][j] = p.names.texts[name]
		}
	}
	return &More{Common: lists}
}

// intersection appends the elements that the sets of all players of some tickets have.
func (p *pool) intersection(all []uint32, c *column, tickets []uint32) []uint32 {
	some := false
	for _, t := range tickets {
		for player := p.first[t]; player < p.first[t+1]; player++ {
			set, has := c.set(player)
			switch {
			case !has:
			case !some:
				all, some = append(all, set...), true
			default:
				all = retain(all, set)
			}
		}
	}
	return all
}

// retain keeps those elements that are in a set. Both are in ascending order.
func retain(all, set []uint32) []uint32 {
	kept, at := all[:0], 0
	for _, e := range all {
		for at < len(set) && set[at] < e {
			at++
		}
		if at == len(set) {
			break
		}
		if set[at] == e {
			kept = append(kept, e)
		}
	}
	return kept
}
