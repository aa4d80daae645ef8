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

// commonOf finds what all players of some tickets have in common, by the names of Common. It skips players without a
// value. The elements ascend by their text, as numbers of names differ from one pool to another.
func (s *search) commonOf(tickets []uint32) *More {
	of, p := &s.common, s.pool
	if len(of.columns) == 0 {
		return nil
	}
	lists := piece(&of.lists, len(of.columns))
	for i, c := range of.columns {
		of.numbers, _ = s.b.together(of.numbers[:0], c, rules.Intersection, tickets)
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

// together appends the union or the intersection of the sets of all players of some tickets, if there is a set. The
// elements of the intersection are in ascending order, as sets are.
func (b *builder) together(all []uint32, c *column, how rules.Merge, group []uint32) (_ []uint32, some bool) {
	for _, t := range group {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			set, has := c.set(p)
			switch {
			case !has:
				continue
			case !some || how == rules.Union:
				b.comparisons += len(set)
				all = append(all, set...)
			default:
				b.comparisons += len(set) + len(all)
				all = retain(all, set)
			}
			some = true
		}
	}
	return all, some
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
