package rules

import (
	"fmt"
	"slices"
	"strconv"
)

// conjunct is a condition that must hold together with others.
type conjunct struct {
	path string
	need Condition
}

// conjuncts adds a condition, and the conditions of which it says that all hold.
func conjuncts(all []conjunct, path string, need Condition) []conjunct {
	all = append(all, conjunct{path, need})
	if n, is := need.(*All); is {
		for i, one := range n.Of {
			all = conjuncts(all, path+".all["+strconv.Itoa(i)+"]", one)
		}
	}
	return all
}

// textOf is the same for equal conditions.
func textOf(need Condition) string { return string(oneLine(nil, need.written())) }

// clash looks for two conditions of which no new match satisfies both, and says where and why.
func (c *checker) clash(all []conjunct) (why Problem, found bool) {
	var same, different []conjunct
	for _, one := range all {
		if need, is := one.need.(*Same); is && need.Different {
			different = append(different, one)
		} else if is {
			same = append(same, one)
		}
	}
	for _, one := range different {
		for _, other := range same {
			if !c.step(1 + len(c.rules.Teams)) {
				return Problem{}, false
			}
			if c.excludes(one.need.(*Same), other.need.(*Same)) {
				return Problem{one.path + ".different", fmt.Sprintf("%s says that they are the same", other.path)}, true
			}
		}
	}
	return c.opposites(all)
}

// opposites looks for a condition and its negation.
func (c *checker) opposites(all []conjunct) (why Problem, found bool) {
	negated := map[string]string{} // places
	for _, one := range all {
		if not, is := one.need.(*Not); is && c.step(0) {
			text := textOf(not.Of)
			c.step(len(text))
			negated[text] = one.path + ".not"
		}
	}
	if len(negated) == 0 {
		return Problem{}, false
	}
	for _, one := range all {
		if !c.step(0) {
			break
		}
		text := textOf(one.need)
		c.step(len(text))
		if place := negated[text]; place != "" {
			return Problem{place, fmt.Sprintf("%s says that this holds", one.path)}, true
		}
	}
	return Problem{}, false
}

// excludes reports whether both conditions look at two players with the value, where one of them says that all have the
// same and the other that no two have.
func (c *checker) excludes(a, b *Same) bool {
	return a.Value == b.Value &&
		(a.Scope.covers(b.Scope) && c.several(b) || b.Scope.covers(a.Scope) && c.several(a))
}

// several reports whether a group of the scope surely has two players that have the value, each by himself.
func (c *checker) several(n *Same) bool {
	v := c.rules.ValueOf(n.Value)
	return v.Missing != Any && !v.Once &&
		slices.ContainsFunc(c.sizes.each(n.Scope), func(players interval) bool { return players.low >= 2 })
}

// covers reports whether each group of the other scope is within one of this.
func (s Scope) covers(o Scope) bool {
	switch s.Of {
	case InMatch:
		return true
	case InTeam:
		return o.Of == InTeam || o.Of == InTeams
	}
	return s.Of == o.Of && slices.Equal(s.Teams, o.Teams)
}
