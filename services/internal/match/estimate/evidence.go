package estimate

import "math"

// evidence is what was lately seen of the tickets of a class: for how long they waited at each age, and how many were
// matched then. Both fade with time. A ticket that leaves waits no longer, so it counts for the ages that it reached:
// that is what makes the curve right although many leave.
type evidence struct {
	memory  float64 // seconds after which what was seen counts e times less
	waited  [bins]float64
	matched [bins]float64
	// squares are the squares of how many tickets of the class were matched together: they are one observation.
	squares float64
}

// wait adds that a ticket waited from one age to another, in seconds.
func (e *evidence) wait(from, to float64) {
	for i := binOf(from); from < to && i < bins; i++ {
		end := min(to, bounds[i+1])
		e.waited[i] += end - from
		from = end
	}
}

func (e *evidence) fade(elapsed float64) {
	by := math.Exp(-elapsed / e.memory)
	for i := range bins {
		e.waited[i] *= by
		e.matched[i] *= by
	}
	e.squares *= by
}

// together is about how many tickets of the class are matched at a time.
func (e *evidence) together() float64 {
	sum := 0.0
	for _, n := range e.matched {
		sum += n
	}
	if sum == 0 {
		return 1
	}
	return max(1, e.squares/sum)
}

// contradicts reports whether newer evidence shows that tickets are matched at another rate than this evidence says.
func (e *evidence) contradictedBy(newer *evidence) bool {
	expected, seen := 0.0, 0.0
	for i := range bins {
		seen += newer.matched[i]
		if e.waited[i] > 0 {
			expected += newer.waited[i] * e.matched[i] / e.waited[i]
		}
	}
	// Of what fades, n that are seen have the variance n/2. A small number has about the variance of the expected one.
	spread := math.Sqrt(together(e, newer) * max(expected, seen, 1) / 2)
	off := math.Abs(seen - expected)
	return off > surprise*spread && off > change*max(expected, seen)
}

func together(a, b *evidence) float64 { return max(a.together(), b.together()) }

// A rate of matches is another one if it is off by so many standard deviations, and by such a part.
const (
	surprise = 3
	change   = 0.2
)
