package pool

import (
	"cmp"
	"maps"
	"slices"
)

// Names are names of attributes or properties of a selection's tickets.
type Names struct {
	// Most are those that most tickets have, sorted by name.
	Most []string
	// Left is how many others there are, at least, and Some names a few of them that many tickets have.
	Left int
	Some []string
}

// someNames is how many of the names that are left out are named.
const someNames = 8

// Attributes returns the names of the attributes that tickets of a selection have, without those in wanted: at most
// limit, those that most of the selected tickets have. Tickets can have any names, and a reader needs memory for each.
// The wanted names that a selected ticket has become true.
func (v View) Attributes(s *Selection, wanted map[string]bool, limit int) Names {
	var t tally
	columns := make([]*column, 0, len(v.ix.columns))
	for _, c := range v.ix.columns {
		if c.uses == 0 {
			continue
		}
		if _, ok := wanted[c.name]; !ok {
			columns = append(columns, c)
			continue
		}
		n, cells := c.usesIn(s, false)
		v.work.Count(cells)
		wanted[c.name] = n > 0
	}
	exact := len(columns) > limit || v.ix.spilled != nil // otherwise all travel, and only whether they are used matters
	for _, c := range columns {
		if v.work.Late() {
			return Names{}
		}
		n, cells := c.usesIn(s, exact)
		v.work.Count(cells)
		t.add(c.name, n)
	}
	v.tallyRest(s, wanted, &t)
	return t.names(limit)
}

// WithoutColumn returns which of some attributes have no column: to read them takes a look at every ticket that keeps
// values. Index.Use gives them one.
func (v View) WithoutColumn(names []string) (without []string) {
	for _, name := range names {
		if v.ix.columns[name] == nil {
			without = append(without, name)
		}
	}
	return without
}

// usesIn is how many tickets of a selection have a value in the column; if exact is not set, 1 for any number.
func (c *column) usesIn(s *Selection, exact bool) (n, cells int) {
	if !c.dense {
		for _, slot := range c.slots { // a slot that was cleared is in no selection
			cells++
			if s.union.has(slot) {
				if n++; !exact {
					return n, cells
				}
			}
		}
		return n, cells
	}
	for _, slot := range s.slots {
		cells++
		if c.keys[slot] != absent {
			if n++; !exact {
				return n, cells
			}
		}
	}
	return n, cells
}

// sampledRests is how many tickets are looked at for names without a column. Only invented names make so many.
const sampledRests = 4096

// tallyRest counts the names without a column: of all tickets of the selection if they are few, otherwise of a sample.
func (v View) tallyRest(s *Selection, wanted map[string]bool, t *tally) {
	if v.ix.spilled == nil {
		return
	}
	tickets := 0
	for w, word := range v.ix.spilled {
		tickets += popcount(word & s.union[w])
	}
	step, i := tickets/sampledRests+1, 0
	for _, slot := range s.slots {
		if !v.ix.spilled.has(slot) {
			continue
		}
		if i++; i%step != 0 {
			continue
		}
		eachRest(v.ix.slots[slot].rest, func(name string, _ uint64) {
			v.work.Count(1)
			if _, ok := wanted[name]; ok {
				wanted[name] = true
			} else {
				t.add(name, step)
			}
		})
	}
}

// PropertyNames returns the names of the properties that the tickets have, as View.Attributes does for attributes.
func (s *Selection) PropertyNames(w *Work, wanted map[string]bool, limit int) Names {
	var t tally
	var last []Property // the ticket that the run of tickets with the same names began with
	run := 0
	flush := func() {
		for _, p := range last {
			if _, ok := wanted[p.Name]; ok {
				wanted[p.Name] = true
			} else {
				t.add(p.Name, run)
			}
		}
	}
	for i, ticket := range s.tickets {
		if i%lateStep == 0 && w.Late() {
			return Names{}
		}
		w.Count(len(ticket.properties))
		if run > 0 && sameNames(last, ticket.properties) {
			run++
			continue
		}
		flush()
		last, run = ticket.properties, 1
	}
	flush()
	return t.names(limit)
}

// sameNames reports whether two lists of properties have the same names. It is fast when they share them.
func sameNames(a, b []Property) bool {
	return slices.EqualFunc(a, b, func(a, b Property) bool { return a.Name == b.Name })
}

// tally counts names in bounded memory, whatever players invent. It is exact for up to tallied different names. Beyond
// that it forgets the rarest, and a name that comes later may have been counted and forgotten before: it is kept as
// long as one with the highest count that was forgotten. So a name that makes up more than one in tallied of all values
// is never lost.
type tally struct {
	uses map[string]use
	base int // the highest count that was forgotten
}

// use is how often a name was counted, and at most how often before it was forgotten.
type use struct{ n, before int }

const tallied = 1024

func (t *tally) add(name string, n int) {
	if n == 0 {
		return
	}
	u, known := t.uses[name]
	if !known {
		if t.uses == nil {
			t.uses = map[string]use{}
		}
		if len(t.uses) >= 2*tallied {
			t.forget()
		}
		u.before = t.base
	}
	u.n += n
	t.uses[name] = u
}

// forget keeps the half of the names that may be used most.
func (t *tally) forget() {
	for _, name := range t.sorted(func(u use) int { return u.n + u.before })[tallied:] {
		u := t.uses[name]
		t.base = max(t.base, u.n+u.before)
		delete(t.uses, name)
	}
}

// sorted returns the names, those with the most uses first.
func (t *tally) sorted(by func(use) int) []string {
	return slices.SortedFunc(maps.Keys(t.uses), func(a, b string) int {
		return cmp.Or(cmp.Compare(by(t.uses[b]), by(t.uses[a])), cmp.Compare(a, b))
	})
}

// names returns the most used names and says what is left.
func (t *tally) names(limit int) Names {
	if len(t.uses) == 0 {
		return Names{}
	}
	all := t.sorted(func(u use) int { return u.n })
	limit = min(limit, len(all))
	most, left := all[:limit:limit], all[limit:]
	slices.Sort(most)
	return Names{Most: most, Left: len(left), Some: left[:min(len(left), someNames)]}
}
