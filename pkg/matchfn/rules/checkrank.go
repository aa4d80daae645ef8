package rules

import "fmt"

// ranks order the statistics of the same numbers: one is never less than one of a lower rank. The averages and medians
// of infinite numbers may be none at all.
var ranks = map[Stat]int{StatMin: 1, StatAverage: 2, StatMedian: 2, StatMax: 3}

// stats returns the statistics of both sides, if they are of the same numbers.
func (n *Compare) stats() (left, right Stat, same bool) {
	switch l := n.Left.(type) {
	case *StatOf:
		r, is := n.Right.(*StatOf)
		if !is || l.Value == "" || l.Value != r.Value || !l.Scope.covers(r.Scope) || !r.Scope.covers(l.Scope) {
			return "", "", false
		}
		return l.Stat, r.Stat, true
	case *Reduce:
		r, is := n.Right.(*Reduce)
		if !is || string(oneLine(nil, l.Of.written())) != string(oneLine(nil, r.Of.written())) {
			return "", "", false
		}
		return l.Stat, r.Stat, true
	}
	return "", "", false
}

// rankFate compares statistics of the same numbers, such as the greatest and the least. Some is whether there are any.
func (n *Compare) rankFate(some bool) (fate, string) {
	left, right, same := n.stats()
	l, r := ranks[left], ranks[right]
	if !same || l == 0 || r == 0 || l == r && left != right {
		return open, ""
	}
	if some && (n.Op == Less && l >= r || n.Op == Greater && l <= r) {
		return never, fmt.Sprintf("of the same numbers, %s is never %s %s", left, n.Op, right)
	}
	_, players := n.Left.(*StatOf)
	if players && l != 2 && r != 2 && (n.Op == GreaterEqual && l >= r || n.Op == LessEqual && l <= r) {
		return always, ""
	}
	return open, ""
}
