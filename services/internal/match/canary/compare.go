// Package canary decides which runs of a function get its canary, an upload that runs for a part of them, and compares
// its matches and runs with the other upload's. It has no I/O.
package canary

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/observe/statistics"
)

const (
	// before is how long before a canary of configs or queues the matches were made that its own are compared with.
	before = time.Hour
	// leastUnits is from how many units of time on, and leastRuns from how many runs on, it is said how sure a difference
	// is.
	leastUnits, leastRuns = 4, 10
	// storedAfter is how long after a match it is surely in the report.
	storedAfter = 7 * time.Second
	// normalCritical is what the standard normal distribution exceeds with a probability of 2.5 %.
	normalCritical = 1.959964
	// mostQuantities is how many are compared.
	mostQuantities = 64
)

// The quantities that every canary has. The others are report.Wait, and report.Spread, Gap and Measure with a name.
const (
	failures = "failures" // share of the runs
	rate     = "matches"  // a minute
)

// Quantity compares a canary with the other upload in one respect.
type Quantity struct {
	Name          string
	Canary, Other Value
	// Difference is how much more the canary has, with a 95 % interval; nil if too little is known to say that.
	Difference *Interval
}

// Value is the mean of an upload, of so many matches, or runs for failures.
type Value struct {
	Mean float64
	Of   int64
}

// Interval is a difference, and what it lies between.
type Interval struct{ Value, Low, High float64 }

// Comparison collects what reports have of a canary and the other upload, by units of time: blocks, or slots of the
// report. Matches of the same minutes are alike, so that a unit counts as one.
type Comparison struct {
	f        *pb.Function
	now      int64
	samples  map[string]*samples
	replaced map[int64]bool // blocks of the canary whose runs the other upload had: no instance was ready yet
}

// samples are values by unit, of the other upload and of the canary.
type samples [2]map[int64]*sample

// sample is what was counted in a unit.
type sample struct {
	sum, n  float64
	matches int64
}

// Compare begins to compare the canary of a function.
func Compare(f *pb.Function, now time.Time) *Comparison {
	c := &Comparison{f, now.UnixMilli(), map[string]*samples{}, map[int64]bool{}}
	c.of(rate)
	c.of(report.Wait)
	return c
}

// First is the first slot of the report that counts.
func (c *Comparison) First() int64 {
	at := time.UnixMilli(c.f.GetCanary().GetBegan())
	if c.f.GetCanary().GetBlock() == 0 {
		at = at.Add(-before)
	}
	return report.SlotOf(at)
}

// of returns the samples of a quantity, nil if there are too many quantities.
func (c *Comparison) of(quantity string) *samples {
	s := c.samples[quantity]
	if s == nil && len(c.samples) < mostQuantities {
		s = &samples{{}, {}}
		c.samples[quantity] = s
	}
	return s
}

func (s *samples) add(side int, unit int64, sum, n float64, matches int64) {
	if s == nil {
		return
	}
	if s[side][unit] == nil {
		s[side][unit] = &sample{}
	}
	one := s[side][unit]
	one.sum, one.n, one.matches = one.sum+sum, one.n+n, one.matches+matches
}

// Add adds a slot of the project's report.
func (c *Comparison) Add(number int64, slot *pb.ReportSlot) {
	for _, s := range slot.GetSeries() {
		side, unit, counts := c.place(number, s)
		if !counts {
			continue
		}
		c.of(rate).add(side, unit, float64(s.GetMatches()), 0, s.GetMatches())
		for _, d := range s.GetDistributions() {
			n := int64(0)
			for _, count := range d.GetCounts() {
				n += count
			}
			c.of(strings.TrimSpace(d.GetKind()+" "+d.GetName())).add(side, unit, d.GetSum(), float64(n), s.GetMatches())
		}
	}
}

// place says whose the matches of a series are, 1 for the canary's, and in which unit they are.
func (c *Comparison) place(number int64, s *pb.ReportSeries) (side int, unit int64, counts bool) {
	canary := c.f.GetCanary()
	own := s.GetUpload() == canary.GetUpload() && s.GetCanary() >= canary.GetChanged()
	if own {
		side = 1
	}
	if s.GetFunction() != c.f.GetName() || !own && s.GetUpload() != c.f.GetVersion() {
		return 0, 0, false
	}
	if canary.GetBlock() > 0 {
		if !own && has(c.f.GetName(), canary, "", "", s.GetCanary()) {
			c.replaced[s.GetCanary()] = true
		}
		return side, s.GetCanary(), s.GetCanary() >= canary.GetChanged()
	}
	if !has(c.f.GetName(), canary, s.GetConfig(), s.GetQueue(), 0) {
		return 0, 0, false
	}
	began := report.SlotOf(time.UnixMilli(canary.GetBegan()))
	return side, number, own || s.GetCanary() < canary.GetBegan() && number >= c.First() && number <= began
}

// Runs are an upload's runs, and how many of them failed.
type Runs struct{ All, Failed int64 }

// Report says what was found, after all slots were added.
func (c *Comparison) Report(canary, other Runs) []Quantity {
	c.countTime()
	list := []Quantity{compareRuns(canary, other)}
	for name, s := range c.samples {
		if q := s.compare(name); q.Canary.Of+q.Other.Of > 0 || name == rate {
			list = append(list, q)
		}
	}
	usual := []string{report.Wait, rate, failures}
	slices.SortFunc(list, func(a, b Quantity) int {
		return cmp.Or(-cmp.Compare(slices.Index(usual, a.Name), slices.Index(usual, b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// countTime gives the units in which matches are counted their minutes, also those without any. Only whole units count.
func (c *Comparison) countTime() {
	canary, made := c.f.GetCanary(), c.samples[rate]
	whole := &samples{{}, {}}
	span := func(side int, from, until, length int64, unitOf func(start int64) (unit int64, counts bool)) {
		for start := (from + length - 1) / length * length; start+length <= until; start += length {
			if unit, counts := unitOf(start); counts {
				whole.add(side, unit, 0, float64(length)/float64(time.Minute.Milliseconds()), 0)
				if s := made[side][unit]; s != nil {
					whole.add(side, unit, s.sum, 0, s.matches)
				}
			}
		}
	}
	until := min(c.now-storedAfter.Milliseconds(), canary.GetUntil())
	if length := canary.GetBlock(); length > 0 {
		for side := range whole {
			span(side, canary.GetChanged(), until, length, func(start int64) (int64, bool) {
				return start, has(c.f.GetName(), canary, "", "", start) == (side == 1) && !c.replaced[start]
			})
		}
		c.keepUnits(whole)
	} else {
		slot := report.SlotTime.Milliseconds()
		unit := func(start int64) (int64, bool) { return start / slot, true }
		span(1, canary.GetChanged(), until, slot, unit)
		span(0, max(c.First()*slot, c.f.GetUpdated()), canary.GetBegan(), slot, unit)
	}
	c.samples[rate] = whole
}

// keepUnits drops the samples of all units but some.
func (c *Comparison) keepUnits(units *samples) {
	for _, s := range c.samples {
		for side := range s {
			for unit := range s[side] {
				if units[side][unit] == nil {
					delete(s[side], unit)
				}
			}
		}
	}
}

// compare compares the means of both uploads. Each is the sum of all values by their number, and how much units differ
// from it says how sure it is. The interval is by Welch's method.
func (s *samples) compare(name string) Quantity {
	var means [2]mean
	for side := range s {
		means[side] = meanOf(s[side])
	}
	other, canary := means[0], means[1]
	q := Quantity{Name: name, Canary: Value{canary.value, canary.matches}, Other: Value{other.value, other.matches}}
	if canary.units < leastUnits || other.units < leastUnits {
		return q
	}
	v, w, half := canary.variance, other.variance, 0.0
	if all := v + w; all > 0 {
		freedom := all * all / (v*v/(canary.units-1) + w*w/(other.units-1))
		half = statistics.StudentCritical(0.025, freedom) * math.Sqrt(all)
	}
	more := canary.value - other.value
	q.Difference = &Interval{more, more - half, more + half}
	return q
}

// mean is a mean of units. One unit that has nearly all values counts for nearly all of them: units is how many equal
// ones would say as much.
type mean struct {
	value, variance, units float64
	matches                int64
}

func meanOf(all map[int64]*sample) (m mean) {
	sum, n, squares, apart := 0.0, 0.0, 0.0, 0.0
	units := slices.Sorted(maps.Keys(all)) // in one order, so that an answer is the same again
	for _, unit := range units {
		s := all[unit]
		sum, n, squares, m.matches = sum+s.sum, n+s.n, squares+s.n*s.n, m.matches+s.matches
	}
	if n == 0 {
		return m
	}
	m.value, m.units = sum/n, math.Round(n*n/squares*1e6)/1e6
	for _, unit := range units {
		beside := all[unit].sum - m.value*all[unit].n
		apart += beside * beside
	}
	if m.units > 1 {
		m.variance = apart / (n * n) * m.units / (m.units - 1)
	}
	return m
}

// compareRuns compares which shares of the runs fail. The interval is by the method of Agresti and Caffo: each upload
// counts as if it had two runs more, of which one failed.
func compareRuns(canary, other Runs) Quantity {
	share := func(r Runs, more float64) (p, variance float64) {
		n := float64(r.All) + 2*more
		p = (float64(r.Failed) + more) / max(n, 1)
		return p, p * (1 - p) / max(n, 1)
	}
	a, _ := share(canary, 0)
	b, _ := share(other, 0)
	q := Quantity{Name: failures, Canary: Value{a, canary.All}, Other: Value{b, other.All}}
	if canary.All >= leastRuns && other.All >= leastRuns {
		p, v := share(canary, 1)
		o, w := share(other, 1)
		half := normalCritical * math.Sqrt(v+w)
		q.Difference = &Interval{a - b, max(p-o-half, -1), min(p-o+half, 1)}
	}
	return q
}
