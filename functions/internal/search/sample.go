package search

const (
	// minSample and maxSample are how many other tickets are looked at for each that is asked about, whatever the work.
	minSample = 4
	maxSample = 64
	// sampleShare is which part of the work may be for that: one of so many.
	sampleShare = 4
)

// sample finds which tickets are looked at for the tickets asked about, with each variant of the rules.
func (e *explainer) sample(times int) {
	for t := range uint32(e.pool.waiting) {
		if !e.taken[t] && !e.pool.gone[t] {
			e.others = append(e.others, t)
		}
	}
	e.sampleSize = min(max(minSample, min(maxSample, e.work/sampleShare/times)), len(e.others))
}

// pick looks which tickets of a sample fit with one, as a look at each says. It is the same sample for each variant.
func (e *explainer) pick(x *examiner, number int, t uint32, v *examination) {
	apart := len(e.others) / e.sampleSize
	v.lacking, v.roles = x.lacking, x.lacks(x.takers[x.keys[t]])
	for i := range e.sampleSize {
		o := e.others[i*apart+(number+1)%apart]
		if o == t {
			continue
		}
		if x.work--; x.work <= 0 {
			return
		}
		v.looked++
		if x.fits(t, o) {
			v.fit++
		}
	}
	v.known = true
	if x.sizes != nil && x.rank[t] >= 0 {
		v.counted, v.candidates = true, x.countOf(t)
	}
}

// fits reports whether two tickets fit with each other: the older one is the anchor.
func (x *examiner) fits(t, o uint32) bool {
	if x.rank[t] < 0 || x.rank[o] < 0 || !x.mayMeet(t, o) {
		return false
	}
	if x.rank[o] < x.rank[t] {
		t, o = o, t
	}
	return x.compatibleWith(t, o)
}

// countAll counts the tickets of each key by their players, if nothing else keeps two tickets apart.
func (x *examiner) countAll() {
	if len(x.pruners) > 0 || x.masks != nil {
		return
	}
	x.work -= len(x.order) / 8
	x.sizes = map[uint32][]int{}
	for _, t := range x.order {
		of := x.sizes[x.keys[t]]
		for size := x.pool.size(t); len(of) <= size; {
			of = append(of, 0)
		}
		of[x.pool.size(t)]++
		x.sizes[x.keys[t]] = of
	}
}

// countOf is how many tickets fit with one, by countAll.
func (x *examiner) countOf(t uint32) (n int) {
	size := x.pool.size(t)
	of := x.sizes[x.keys[t]]
	for _, tickets := range of[:max(0, min(len(of), x.most-size+1))] {
		n += tickets
	}
	if 2*size <= x.most {
		n-- // itself
	}
	return n
}

// countRoles counts the players that take each role, of all tickets that could be together with the tickets in
// question.
func (x *examiner) countRoles(tickets []uint32) {
	if x.roles.takes == nil {
		return
	}
	x.takers, x.allTakers = map[uint32][]int{}, make([]int, len(x.roles.names))
	for _, t := range tickets {
		x.takers[x.keys[t]] = make([]int, len(x.roles.names))
	}
	x.work -= len(x.order) / 8
	for _, t := range x.order {
		x.b.count(t, x.allTakers, 1)
		if takers := x.takers[x.keys[t]]; takers != nil {
			x.b.count(t, takers, 1)
		}
	}
}

// lacks returns the roles that too few players take for any match, with the number of these players.
func (x *examiner) lacks(takers []int) (lacks []Lack) {
	for i, n := range takers {
		least := x.fewestTeams[0].needs[i]
		for _, a := range x.fewestTeams {
			least = min(least, a.needs[i])
		}
		if n < least {
			lacks = append(lacks, Lack{Name: x.pool.names.texts[x.roles.names[i]], Takers: n, Needs: least})
		}
	}
	return lacks
}
