package simulation

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/services/internal/observe/statistics"
)

// Sample is numbers with weights: how many players each is for.
type Sample struct {
	values []weighted
	sorted bool
}

type weighted struct{ value, weight float64 }

// Add adds a number, unless it is none.
func (s *Sample) Add(value float64, players int) {
	if !math.IsNaN(value) {
		s.values, s.sorted = append(s.values, weighted{value, float64(players)}), false
	}
}

// Mean is not a number if there is none.
func (s *Sample) Mean() float64 {
	sum, weight := 0.0, 0.0
	for _, v := range s.values {
		sum, weight = sum+v.value*v.weight, weight+v.weight
	}
	return sum / weight
}

// Quantiles are in the order of the parts, which ascend. They are not numbers if there is none.
func (s *Sample) Quantiles(parts ...float64) []float64 {
	all := make([]float64, len(parts))
	if len(s.values) == 0 {
		for i := range all {
			all[i] = math.NaN()
		}
		return all
	}
	if !s.sorted {
		slices.SortFunc(s.values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
		s.sorted = true
	}
	total := 0.0
	for _, v := range s.values {
		total += v.weight
	}
	below, at := 0.0, 0
	for i, part := range parts {
		for at < len(s.values)-1 && below+s.values[at].weight <= part*total {
			below += s.values[at].weight
			at++
		}
		all[i] = s.values[at].value
	}
	return all
}

// Quantile is one of Quantiles.
func (s *Sample) Quantile(part float64) float64 { return s.Quantiles(part)[0] }

// Part is what happened to the tickets that came in a part of the time.
type Part struct {
	// From and To are in seconds.
	From, To float64
	// Waits are the waits of players.
	Waits Sample
	// Players is how many came, and Outcomes how many ended so.
	Players  int
	Outcomes [Missed + 1]int
	// Spread, Gap and Latency are values of matches that were made in that time, each once.
	Spread, Gap, Latency Sample
	Matches              int
}

// Whole is the whole measured time.
func (r *Result) Whole() *Part { return &r.Parts(1)[0] }

// Parts divides the measured time into as many equal parts.
func (r *Result) Parts(n int) []Part {
	from, to := r.Scenario.Measure.From.Seconds(), r.Scenario.Population.Duration.Seconds()
	if end := r.Scenario.Measure.To.Seconds(); end > 0 {
		to = min(to, end)
	}
	parts := make([]Part, n)
	step := (to - from) / float64(n)
	for i := range parts {
		parts[i].From, parts[i].To = from+float64(i)*step, from+float64(i+1)*step
	}
	part := func(at float64) *Part { return &parts[min(n-1, max(0, int((at-from)/step)))] }
	for _, w := range r.Waits {
		p := part(w.Arrived)
		p.Players += w.Players
		p.Outcomes[w.Outcome] += w.Players
		p.Waits.Add(w.Seconds, w.Players)
	}
	for _, m := range r.Matches {
		p := part(m.At)
		p.Matches++
		p.Spread.Add(m.Spread, 1)
		p.Gap.Add(m.Gap, 1)
		p.Latency.Add(m.Latency, 1)
	}
	return parts
}

// Number is a number that is measured.
type Number struct {
	Name   string
	Digits int
	Of     func(p *Part) float64
}

// Numbers are what tables have.
func Numbers() []Number {
	ended := func(how Outcome) func(p *Part) float64 {
		return func(p *Part) float64 { return 100 * float64(p.Outcomes[how]) / float64(p.Players) }
	}
	wait := func(part float64) func(p *Part) float64 {
		return func(p *Part) float64 { return p.Waits.Quantile(part) }
	}
	return []Number{
		{"players a second", 2, func(p *Part) float64 { return float64(p.Players) / (p.To - p.From) }},
		{"matches a minute", 1, func(p *Part) float64 { return 60 * float64(p.Matches) / (p.To - p.From) }},
		{"wait p50, s", 2, wait(0.5)},
		{"wait p90, s", 2, wait(0.9)},
		{"wait p99, s", 2, wait(0.99)},
		{"mean wait, s", 2, func(p *Part) float64 { return p.Waits.Mean() }},
		{"left, %", 2, ended(Left)},
		{"got an error, %", 2, ended(Failed)},
		{"missed their match, %", 2, ended(Missed)},
		{"spread", 1, func(p *Part) float64 { return p.Spread.Mean() }},
		{"gap of teams", 1, func(p *Part) float64 { return p.Gap.Mean() }},
		{"latency, ms", 1, func(p *Part) float64 { return p.Latency.Mean() }},
	}
}

// Difference is how much more a number is in the second of two scenarios.
type Difference struct {
	Number
	// First and Second are the numbers of the whole time.
	First, Second float64
	// Mean is the mean of the differences of the parts of the time, with half of its 95 % interval. Of fewer than two
	// there is none.
	Mean, Half float64
}

// compared is how many parts of the time are compared. They are longer than most waits, so that one part says little
// about the next.
const compared = 20

// Compare compares two results by the same parts of the time: where the same players come, what the day does to both is
// in no difference.
func Compare(first, second *Result) (all []Difference) {
	a, b := first.Parts(compared), second.Parts(compared)
	wholeFirst, wholeSecond := first.Whole(), second.Whole()
	for _, n := range Numbers() {
		d := Difference{Number: n, First: n.Of(wholeFirst), Second: n.Of(wholeSecond)}
		var differences []float64
		for i := range a {
			if more := n.Of(&b[i]) - n.Of(&a[i]); !math.IsNaN(more) {
				differences = append(differences, more)
			}
		}
		d.Mean, d.Half = math.NaN(), math.NaN()
		if len(differences) > 1 {
			d.Mean, d.Half = statistics.Interval(differences)
		}
		all = append(all, d)
	}
	return all
}

// Deciles are the waits of the tickets in each tenth of the measured attribute, and up to which value each goes. They
// are empty if tickets do not have it.
func (r *Result) Deciles() (waits []Sample, upTo []float64) {
	var values Sample
	for _, w := range r.Waits {
		values.Add(w.Value, w.Players)
	}
	if len(values.values) == 0 {
		return nil, nil
	}
	upTo = values.Quantiles(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
	waits = make([]Sample, len(upTo))
	for _, w := range r.Waits {
		if !math.IsNaN(w.Value) {
			at, _ := slices.BinarySearch(upTo, w.Value)
			waits[min(at, len(upTo)-1)].Add(w.Seconds, w.Players)
		}
	}
	return waits, upTo
}

// Tradeoff is how good matches are by how long their players waited: the means of as many parts of the matches, from
// the shortest waits to the longest.
func (r *Result) Tradeoff(n int) (waits, spreads []float64) {
	all := slices.DeleteFunc(slices.Clone(r.Matches), func(m Match) bool { return math.IsNaN(m.Spread) })
	slices.SortStableFunc(all, func(a, b Match) int { return cmp.Compare(a.Wait, b.Wait) })
	n = min(n, len(all))
	for i := range n {
		var wait, spread Sample
		for _, m := range all[i*len(all)/n : (i+1)*len(all)/n] {
			wait.Add(m.Wait, 1)
			spread.Add(m.Spread, 1)
		}
		waits, spreads = append(waits, wait.Mean()), append(spreads, spread.Mean())
	}
	return waits, spreads
}
