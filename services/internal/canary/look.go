package canary

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/report"
	"matchmaker.dev/services/internal/statistics"
)

const (
	// Alpha is the probability at most that a canary is withdrawn although it is like the other upload.
	Alpha = 0.05
	// Power is the probability with which a difference is found that is said to be found.
	Power = 0.8
	// Tolerance is by which part in percent the mean may be worse in any case, unless the studio says another one: with
	// many matches, less than that is found.
	Tolerance = 5
	// fewest is which part of the matches a second the canary must make that the other upload made before.
	fewest = 0.5
	// firstRuns is after how many runs of the canary it is looked whether they fail. The next look is after twice as many.
	firstRuns = 10
	// mostUnseen is by which part waits may be longer that would not be found, for a canary to grow.
	mostUnseen = 2.0
	// leastBlocks is how many blocks of each upload are compared at least.
	leastBlocks = 4
	// storedAfter is how long after a match it is surely in the report.
	storedAfter = 7 * time.Second
	// Before is how long before the canary the matches were made that its own are compared with.
	Before = time.Hour
)

// Evidence is what is known of a canary.
type Evidence struct {
	Function *pb.Function
	Now      time.Time
	// Slots are those of the project's report since Before the canary began, or since its step for one of blocks.
	Slots map[int64]*pb.ReportSlot
	// Runs and Failed are those of the canary since it began, and the others those of the upload that it is compared with.
	Runs, Failed, OtherRuns, OtherFailed int64
}

// Finding is what was found of one quantity.
type Finding struct {
	// Name says which: failures, matches, wait, or spread, gap or measure with a name.
	Name string
	// Canary and Other are the shares, numbers a minute, or means of both uploads.
	Canary, Other float64
	// Change is how much worse the canary is, as a part of the other, less how much worse others became: negative if it is
	// better. It is not a number for failures.
	Change float64
	// P is the probability of a difference like this, or greater, when both uploads are alike. The canary is worse if it
	// is less than Limit.
	P, Limit float64
	// Seen is which difference would be found with a probability of Power: a change, or for failures the share that fails.
	// It is infinite or not a number if that is not known.
	Seen  float64
	Worse bool
}

// Result is what was found of a canary.
type Result struct {
	Findings []Finding
	// Matches is how many of the canary's the step has. Compared is false as long as too little is known of the other
	// upload to decide, and Sure as long as waits could be much longer and that would not be found.
	Matches        int64
	Compared, Sure bool
	// ByRuns and ByMatches tell whether it may be decided by runs, or by waits and measures: enough is known.
	ByRuns, ByMatches bool
}

// Worse are the findings that say that the canary is worse, of those by which it may be decided.
func (r *Result) Worse() (all []Finding) {
	for _, f := range r.Findings {
		if f.Worse && (r.ByMatches || r.ByRuns && f.byRuns()) {
			all = append(all, f)
		}
	}
	return all
}

func (f *Finding) byRuns() bool { return f.Name == failures || f.Name == fewMatches }

// The quantities that every canary has.
const (
	failures   = "failures"
	fewMatches = "matches"
)

// limit is the probability that a look may use up: all of the looks of a kind have half of Alpha together.
func limit(looks int32, tests int) float64 {
	return Alpha / 2 / float64(looks+1) / float64(looks+2) / float64(max(tests, 1))
}

// Look finds what can be said of a canary.
func Look(e *Evidence) *Result {
	c := e.Function.GetCanary()
	b := collect(e)
	r := &Result{Matches: b.stepMatches}
	r.ByRuns = e.Runs >= firstRuns<<min(c.GetRunLooks(), 40)
	perRun := limit(c.GetRunLooks(), 2)
	r.Findings = append(r.Findings, e.failures(perRun))
	var found []Finding
	if c.GetBlock() > 0 {
		found, r.Compared = b.compareBlocks(limit(c.GetLooks(), len(b.quantities)), perRun)
	} else {
		found, r.Compared = b.compareRanks(limit(c.GetLooks(), len(b.quantities)))
		r.Findings = append(r.Findings, b.rate(perRun))
	}
	r.Findings = append(r.Findings, found...)
	r.ByMatches = r.Compared && r.Matches >= Needed(c)
	r.Sure = slices.ContainsFunc(found, func(f Finding) bool {
		return f.Name == report.Wait && f.Seen <= max(mostUnseen, b.tolerance())
	})
	return r
}

func (e *Evidence) failures(alpha float64) Finding {
	f := Finding{Name: failures, Canary: share(e.Failed, e.Runs), Other: share(e.OtherFailed, e.OtherRuns),
		Change: math.NaN(), P: 1, Limit: alpha, Seen: seenShare(e.Runs, e.OtherFailed, e.OtherRuns, alpha)}
	if e.Runs > 0 && e.OtherRuns > 0 {
		f.P = Fisher(e.Failed, e.Runs, e.OtherFailed, e.OtherRuns)
	}
	f.Worse = f.P < alpha
	return f
}

func share(part, of int64) float64 { return float64(part) / float64(max(of, 1)) }

// quantity is something that is told of matches.
type quantity struct {
	kind, name string
	more       bool // more is better
}

func (q quantity) String() string { return strings.TrimSpace(q.kind + " " + q.name) }

// worse turns a difference so that it is positive if it is for the worse.
func (q quantity) worse(difference float64) float64 {
	if q.more {
		return -difference
	}
	return difference
}

// cell is where values are collected: those of a config or queue, or of a block.
type cell struct {
	stratum  string
	mark     int64 // of blocks
	canary   bool  // the canary made the matches
	during   bool  // while the canary runs
	quantity quantity
}

// book is what is known, sorted.
type book struct {
	*Evidence
	members    []string // the configs or queues that have the canary
	quantities []quantity
	cells      map[cell]*values
	slots      map[int64]map[cell]*values // the same of each slot
	// matches are those of each cell without a quantity, and stepMatches those of the canary in its step.
	matches     map[cell]int64
	stepMatches int64
	// insteadMatches are those that the other upload made in this step for configs or queues that have the canary: no
	// instance of it was ready yet.
	insteadMatches int64
}

// collect sorts what reports have.
func collect(e *Evidence) *book {
	c := e.Function.GetCanary()
	b := &book{Evidence: e, members: slices.Concat(c.GetConfigs(), c.GetQueues()), cells: map[cell]*values{},
		slots: map[int64]map[cell]*values{}, matches: map[cell]int64{}}
	found := map[quantity]bool{}
	for number, slot := range e.Slots {
		b.slots[number] = map[cell]*values{}
		for _, s := range slot.GetSeries() {
			isCanary := s.GetUpload() == c.GetUpload() && s.GetCanary() >= c.GetBegan()
			if s.GetFunction() != e.Function.GetName() || !isCanary && s.GetUpload() != e.Function.GetVersion() {
				continue
			}
			at := cell{canary: isCanary, during: s.GetCanary() >= c.GetBegan()}
			switch {
			case c.GetBlock() > 0:
				if s.GetCanary() < c.GetStepBegan() {
					continue
				}
				at.mark = s.GetCanary()
			case len(c.GetQueues()) > 0:
				at.stratum = s.GetQueue()
			default:
				at.stratum = s.GetConfig()
			}
			b.matches[at] += s.GetMatches()
			switch {
			case s.GetCanary() < c.GetStepBegan():
			case isCanary:
				b.stepMatches += s.GetMatches()
			case slices.Contains(b.members, at.stratum):
				b.insteadMatches += s.GetMatches()
			}
			for _, d := range s.GetDistributions() {
				q, known := quantityOf(c, d)
				if !known {
					continue
				}
				found[q] = true
				at.quantity = q
				for _, cells := range []map[cell]*values{b.cells, b.slots[number]} {
					if cells[at] == nil {
						cells[at] = &values{}
					}
					cells[at].add(d.GetBuckets(), d.GetCounts(), d.GetSum(), s.GetMatches())
				}
				at.quantity = quantity{}
			}
		}
	}
	b.quantities = slices.SortedFunc(maps.Keys(found), func(a, b quantity) int {
		return cmp.Or(-cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) // wait, spread, measure, gap
	})
	return b
}

// quantityOf is what values are of, if it is known which are better: shorter waits, smaller differences of attributes,
// and what the studio said of measures.
func quantityOf(c *pb.Canary, d *pb.ReportDistribution) (q quantity, known bool) {
	q = quantity{kind: d.GetKind(), name: d.GetName()}
	if q.kind != report.Measure {
		return q, true
	}
	for _, m := range c.GetMeasures() {
		if m.GetName() == q.name {
			q.more = m.GetMore()
			return q, true
		}
	}
	return q, false
}

// compareRanks compares a canary of configs or queues with what the other upload did for them before, less what became
// of the others meanwhile.
func (b *book) compareRanks(alpha float64) (all []Finding, known bool) {
	strata := map[string]bool{}
	for at := range b.matches {
		strata[at.stratum] = true
	}
	for _, q := range b.quantities {
		var own, others []effect
		var of compared
		before, during := &values{}, &values{}
		for _, stratum := range slices.Sorted(maps.Keys(strata)) {
			at := cell{stratum: stratum, quantity: q}
			member := slices.Contains(b.members, stratum)
			was, is := &values{}, &values{}
			is.merge(b.cells[cell{stratum: stratum, quantity: q, canary: member, during: true}])
			was.merge(b.cells[at])
			if member { // it got the canary in a later step than others
				was.merge(b.cells[cell{stratum: stratum, quantity: q, during: true}])
				before.merge(was)
				during.merge(is)
			}
			e, ok := mannWhitney(is, was)
			switch {
			case ok && member:
				own, of.members = append(own, e), append(of.members, stratum)
			case ok:
				others, of.others = append(others, e), append(of.others, stratum)
			}
		}
		if len(own) == 0 {
			continue
		}
		mine, theirs := stratified(own), stratified(others)
		by, shift := b.chanceOf(q, &of, mine.variance+theirs.variance), q.worse(mine.shift-theirs.shift)
		f := Finding{
			Name: q.String(), Canary: during.mean(), Other: before.mean(), Change: before.changeOf(shift),
			P: by.exceeds(shift), Limit: alpha, Seen: before.changeOf(by.found(alpha)),
		}
		f.Worse = b.isWorse(&f)
		all = append(all, f)
		known = known || q.kind == report.Wait
	}
	return all, known
}

// isWorse returns whether a difference is no chance, and more than is tolerated.
func (b *book) isWorse(f *Finding) bool { return f.P < f.Limit && f.Change > b.tolerance() }

// tolerance is by which part the mean may be worse in any case.
func (b *book) tolerance() float64 { return float64(ToleranceOf(b.Function.GetCanary())) / 100 }

// ToleranceOf is by which part in percent the means of a canary may be worse in any case.
func ToleranceOf(c *pb.Canary) int32 { return cmp.Or(c.GetTolerance(), Tolerance) }

// Needed is how many matches of a canary its step needs for the next look.
func Needed(c *pb.Canary) int64 { return max(c.GetLeast(), c.GetWanted()) }

func (v *values) merge(other *values) {
	if other == nil {
		return
	}
	for bucket, n := range other.counts {
		v.add([]int32{bucket}, []int64{n}, 0, 0)
	}
	v.sum += other.sum
	v.matches += other.matches
}

// rate compares how many matches a minute the canary makes in this step with those that the other upload made for the
// same configs or queues before it began. The canary may make half as many: players do not come evenly.
func (b *book) rate(alpha float64) Finding {
	c := b.Function.GetCanary()
	from := c.GetBegan() - Before.Milliseconds()
	from -= from % report.SlotTime.Milliseconds()
	before, other := float64(c.GetBegan()-from)/1000, int64(0)
	during := (b.Now.Sub(time.UnixMilli(c.GetStepBegan())) - storedAfter).Seconds()
	for at, n := range b.matches {
		if !at.during && slices.Contains(b.members, at.stratum) {
			other += n
		}
	}
	f := Finding{Name: fewMatches, Limit: alpha, Seen: math.NaN(),
		P:      fewer(b.stepMatches+b.insteadMatches, during, other, before),
		Canary: 60 * float64(b.stepMatches+b.insteadMatches) / max(during, 1), Other: 60 * float64(other) / before}
	f.Change = (f.Other - f.Canary) / max(f.Other, math.SmallestNonzeroFloat64)
	f.Worse = f.P < alpha
	return f
}

// compareBlocks compares the canary's blocks of time with the others, of all blocks of this step that are over. The
// matches of one block are not independent: a block is one value.
func (b *book) compareBlocks(alpha, perRun float64) (all []Finding, known bool) {
	c := b.Function.GetCanary()
	length := c.GetBlock()
	first := (c.GetStepBegan() + length - 1) / length
	last := b.Now.Add(-storedAfter).UnixMilli()/length - 1
	var marks [2][]int64
	for block := first; block <= last; block++ {
		of := side(isBlock(b.Function.GetName(), Percent(c), block))
		at := cell{mark: block * length, during: true}
		if of == 1 && b.matches[at] > 0 {
			continue // no instance of the canary was ready yet: the other upload took its runs
		}
		marks[of] = append(marks[of], block*length)
	}
	if len(marks[0]) < leastBlocks || len(marks[1]) < leastBlocks {
		return nil, false
	}
	var made [2][]float64
	for of, list := range marks {
		for _, mark := range list {
			n := b.matches[cell{mark: mark, canary: of == 1, during: true}]
			made[of] = append(made[of], float64(n)*60_000/float64(length))
		}
	}
	all = append(all, b.compareMatches(made, perRun))
	for _, q := range b.quantities {
		if f, ok := b.compareValues(q, marks, alpha); ok {
			all = append(all, f)
			known = known || q.kind == report.Wait
		}
	}
	return all, known
}

// compareMatches compares how many matches a minute blocks have.
func (b *book) compareMatches(made [2][]float64, alpha float64) Finding {
	f := Finding{Name: fewMatches, Limit: alpha, Other: statistics.Mean(made[0]), Canary: statistics.Mean(made[1])}
	for _, list := range made {
		for i := range list {
			list[i] = -list[i] // fewer is worse
		}
	}
	size := max(f.Other, math.SmallestNonzeroFloat64)
	f.P, f.Seen = welch(made[1], made[0], alpha)
	f.Change, f.Seen = (f.Other-f.Canary)/size, f.Seen/size
	f.Worse = b.isWorse(&f)
	return f
}

// compareValues compares values of blocks. A block counts by how often one of its values exceeds one of the other
// upload's, so that one that is very great, which a player can make, is no more than one that is great.
func (b *book) compareValues(q quantity, marks [2][]int64, alpha float64) (f Finding, ok bool) {
	var blocks [2][]*values
	var whole [2]values
	for of, list := range marks {
		for _, mark := range list {
			if v := b.cells[cell{mark: mark, canary: of == 1, during: true, quantity: q}]; v != nil && v.n > 0 {
				blocks[of] = append(blocks[of], v)
				whole[of].merge(v)
			}
		}
	}
	var shifts [2][]float64
	for of, list := range blocks {
		if len(list) < leastBlocks {
			return Finding{}, false
		}
		for _, v := range list {
			e, _ := mannWhitney(v, &whole[0])
			shifts[of] = append(shifts[of], q.worse(e.shift))
		}
	}
	f = Finding{Name: q.String(), Limit: alpha, Other: whole[0].mean(), Canary: whole[1].mean()}
	f.P, f.Seen = welch(shifts[1], shifts[0], alpha)
	f.Change, f.Seen = whole[0].changeOf(statistics.Mean(shifts[1])-statistics.Mean(shifts[0])), whole[0].changeOf(f.Seen)
	f.Worse = b.isWorse(&f)
	return f, true
}

// side is 1 for the canary, 0 for the other upload.
func side(canary bool) int {
	if canary {
		return 1
	}
	return 0
}

// Text says for people what was found.
func (f *Finding) Text() string {
	var text string
	switch f.Name {
	case failures:
		text = fmt.Sprintf("failures %.3g%% against %.3g%%", 100*f.Canary, 100*f.Other)
	case fewMatches:
		text = fmt.Sprintf("matches a minute %.3g against %.3g", f.Canary, f.Other)
	case report.Wait:
		text = fmt.Sprintf("wait %.3g s against %.3g s", f.Canary, f.Other)
	default:
		text = fmt.Sprintf("%s %.4g against %.4g", f.Name, f.Canary, f.Other)
	}
	text += fmt.Sprintf(" (p %.2g, limit %.2g", f.P, f.Limit)
	if f.Seen < math.Inf(1) {
		of := "worse by "
		if f.Name == failures {
			of = ""
		}
		text += fmt.Sprintf("; %s%.2g%% is seen with %.0f%%", of, 100*f.Seen, 100*Power)
	}
	return text + ")"
}
