package estimate

import (
	"math"
	"time"
)

// memories are for how many seconds each kind of evidence counts. The first is for finding out that conditions have
// changed; estimates are made from the others, the newest that suffices.
var memories = [...]float64{20, 90, 360, 1440, 5760}

// Range is for how much longer a ticket may wait.
type Range struct{ Low, High time.Duration }

const (
	// outside is which part of tickets is matched before a range, and as many are matched after it.
	outside = 0.1
	// sure is the largest standard deviation of what is outside.
	sure = 0.04
	// atOnce is for how many seconds a wait may last that begins a range at 0: then all of what is outside is after it.
	atOnce = 1
	// farthest is the smallest part that a forecast speaks of.
	farthest = 0.01
)

// Wait is what is known of how long the tickets of a class wait.
type Wait struct {
	seen  [len(memories)]evidence
	trial trial
}

func newWait() *Wait {
	w := new(Wait)
	for i, memory := range memories {
		w.seen[i].memory = memory
	}
	return w
}

func (w *Wait) fade(elapsed float64) {
	for i := range w.seen {
		w.seen[i].fade(elapsed)
	}
	w.trial.fade(elapsed)
}

// weight is how many tickets were lately matched, and for how many seconds tickets waited.
func (w *Wait) weight() (sum float64) {
	e := &w.seen[len(memories)-1]
	for i := range bins {
		sum += e.waited[i] + e.matched[i]
	}
	return sum
}

// Forecast says how much longer tickets wait.
type Forecast struct {
	curve curve
	left  [parts]float64
	ok    bool
}

// Forecast makes a forecast from what is known.
func (w *Wait) Forecast() *Forecast {
	f := &Forecast{left: w.trial.left()}
	for i := 1; i < len(memories); i++ {
		f.curve, f.ok = w.seen[i].curve(), true
		if _, enough := f.Range(0); !enough {
			continue
		}
		for newer := range i {
			f.ok = f.ok && !w.seen[i].contradictedBy(&w.seen[newer])
		}
		return f
	}
	f.ok = false
	return f
}

// Range is for how much longer a ticket of an age waits with a probability of 80 %. It is false where too little is
// known.
func (f *Forecast) Range(age time.Duration) (r Range, ok bool) {
	if !f.ok || age < 0 {
		return r, false
	}
	now := age.Seconds()
	left, ok := f.curve.at(now)
	if !ok {
		return r, false
	}
	low, ok := f.when(left, now, 1-outside)
	part := outside
	if low-now < atOnce {
		low, part = now, 2*outside
	}
	high, known := f.when(left, now, part)
	if !ok || !known {
		return r, false
	}
	return Range{duration(low - now), duration(high - now)}, true
}

// when is the age at which only part of the tickets that wait now still wait, now being the part that is left at their
// age.
func (f *Forecast) when(left, now, part float64) (age float64, ok bool) {
	at := said(&f.left, part*right(&f.left, left))
	if at < farthest {
		return 0, false
	}
	age, ok = f.curve.when(at)
	if !ok {
		return 0, false
	}
	// Few tickets of which none was matched prove little, though their spread is small.
	before, then := f.curve.spread[binOf(now)], f.curve.spread[binOf(age)+1]
	variance := max(then*then-before*before, (1-part)/part/f.curve.tickets[binOf(now)])
	if part*math.Sqrt(variance) > sure {
		return 0, false
	}
	return max(age, now), true
}

// parts are when a ticket that is created now comes to each part of its forecast, in milliseconds of its age. It is
// nil without a forecast.
func (f *Forecast) parts() *[parts]int64 {
	if !f.ok {
		return nil
	}
	all := new([parts]int64)
	for i := range parts {
		all[i] = math.MaxInt64
		if age, ok := f.curve.when(1 - float64(i)/parts); ok {
			all[i] = int64(age * 1000)
		}
	}
	return all
}
