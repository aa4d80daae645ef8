package rules

import "slices"

// Ordered reports whether rules put lists side by side that may have a number for each of several teams. Then it
// matters which team of a shape is the first. Otherwise the teams of a shape may change places.
func Ordered(r *Rules) bool {
	return slices.ContainsFunc(r.Rules, func(rule Rule) bool { return orderedIn(rule.Need) })
}

func orderedIn(need Condition) bool {
	if c, is := need.(*Compare); is {
		return severalIn(c.Left) && severalIn(c.Right) || pairsIn(c.Left) || pairsIn(c.Right)
	}
	return slices.ContainsFunc(need.parts().conditions, orderedIn)
}

// severalIn reports whether an expression may have several numbers.
func severalIn(e Expression) bool {
	switch e := e.(type) {
	case *StatOf:
		return e.Stat == StatEach || e.Scope.Of != InMatch
	case *Arithmetic, *Abs:
		return slices.ContainsFunc(e.parts().expressions, severalIn)
	case *LatencyOf:
		return true
	case *Reluctance:
		return e.Scope.Of != InMatch
	}
	return false
}

// pairsIn reports whether an expression puts two lists side by side.
func pairsIn(e Expression) bool {
	a, is := e.(*Arithmetic)
	return is && severalIn(a.Left) && severalIn(a.Right) || slices.ContainsFunc(e.parts().expressions, pairsIn)
}
