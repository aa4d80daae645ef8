package canary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/report"
)

// trial is a canary whose matches a test makes up.
type trial struct {
	f      *pb.Function
	books  map[int64]*report.Book
	random *rand.Rand
	now    time.Time
	runs   [4]int64 // of the canary, of them failed, and those of the other upload
}

const began = 1_800_000_000_000

func newTrial(seed uint64, c *pb.Canary) *trial {
	c.Upload, c.Began, c.Least, c.Until = 2, began, max(c.GetLeast(), 100), began+12*3_600_000
	if c.GetStepBegan() == 0 {
		c.StepBegan = began
	}
	return &trial{
		f: &pb.Function{Name: "f", Version: 1, Canary: c}, books: map[int64]*report.Book{},
		random: rand.New(rand.NewPCG(seed, 1)), now: time.UnixMilli(began).Add(20 * time.Minute),
		runs: [4]int64{200, 0, 1000, 0},
	}
}

// play makes matches of two tickets, which wait equally long, so many a minute.
func (w *trial) play(from time.Duration, minutes int, config string, upload, mark int64, aMinute int, wait float64) {
	for m := range minutes {
		at := time.UnixMilli(began).Add(from + time.Duration(m)*time.Minute)
		slot := report.SlotOf(at)
		if w.books[slot] == nil {
			w.books[slot] = report.NewBook(slot)
		}
		for range aMinute {
			waited := wait * w.random.ExpFloat64()
			w.books[slot].Add(&report.Match{
				Key: report.Key{Config: config, Function: "f", Upload: upload, Canary: mark}, Players: 2,
				Waits:  []float64{waited, waited},
				Values: []report.Value{{Kind: report.Measure, Name: "quality", Value: 1 / (1 + waited)}},
			})
		}
	}
}

func (w *trial) look() *Result {
	slots := map[int64]*pb.ReportSlot{}
	for at, b := range w.books {
		slots[at] = b.Message()
	}
	return Look(&Evidence{Function: w.f, Now: w.now, Slots: slots, Runs: w.runs[0], Failed: w.runs[1],
		OtherRuns: w.runs[2], OtherFailed: w.runs[3]})
}

func (r *Result) finding(name string) *Finding {
	for i := range r.Findings {
		if r.Findings[i].Name == name {
			return &r.Findings[i]
		}
	}
	return &Finding{P: math.NaN()}
}

// What a canary of configs finds by its players' waits: whether they are longer than those of the same configs before.
// Others, whose players wait for much longer, say nothing, unless theirs grow likewise.
func TestWaitsOfConfigs(t *testing.T) {
	for name, c := range map[string]struct {
		canary, others float64 // how many times as long they wait since
		worse          bool
	}{
		"as before":             {1, 1, false},
		"longer":                {1.5, 1, true},
		"shorter":               {0.5, 1, false},
		"all wait longer":       {1.5, 1.5, false},
		"others wait for less":  {1, 0.6, true},
		"a little longer alone": {1.01, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTrial(7, &pb.Canary{Configs: []string{"a", "b"}})
			for config, wait := range map[string]float64{"a": 5, "b": 20, "c": 90, "d": 50} {
				w.play(-time.Hour, 60, config, 1, 0, 20, wait)
			}
			for config, wait := range map[string]float64{"a": 5, "b": 20} {
				w.play(0, 20, config, 2, began, 20, wait*c.canary)
			}
			for config, wait := range map[string]float64{"c": 90, "d": 50} {
				w.play(0, 20, config, 1, began, 20, wait*c.others)
			}
			r := w.look()
			f := r.finding("wait")
			if f.Worse != c.worse || !r.ByMatches || r.Matches != 800 || (len(r.Worse()) > 0) != c.worse {
				t.Errorf("found %+v of %d matches", r.Findings, r.Matches)
			}
			if q := r.finding("measure quality"); !math.IsNaN(q.P) {
				t.Errorf("compared by a measure of which nobody knows what is better: %+v", q)
			}
			if f.Seen < 0.05 || f.Seen > 0.4 {
				t.Errorf("what would be found: %v", f.Seen)
			}
		})
	}
}

func TestMeasuresOfWhichLessOrMoreIsBetter(t *testing.T) {
	for _, more := range []bool{true, false} {
		w := newTrial(3, &pb.Canary{Configs: []string{"a"}, Measures: []*pb.CanaryMeasure{{Name: "quality", More: more}}})
		w.play(-time.Hour, 60, "a", 1, 0, 20, 5)
		w.play(0, 20, "a", 2, began, 20, 12) // which makes the quality less
		if q := w.look().finding("measure quality"); q.Worse != more || q.Canary >= q.Other {
			t.Errorf("more is better: %v, found %+v", more, q)
		}
	}
}

// trials is how many trials a test makes that counts how many end as they should.
func trials(all int) int {
	if testing.Short() {
		return all / 4
	}
	return all
}

// However often it is looked, a canary that is like the other upload is taken for a worse one with a probability of
// Alpha at most; and one that is worse by what is said to be seen is found with a probability of Power, about.
func TestErrorsAreAsOftenAsPromised(t *testing.T) {
	trials := trials(300)
	wrong, found, seen := 0, 0, 0.0
	for seed := range uint64(trials) {
		w := newTrial(seed, &pb.Canary{Configs: []string{"a"}})
		w.play(-time.Hour, 60, "a", 1, 0, 5, 5)
		w.play(0, 20, "a", 2, began, 10, 5)
		f := w.look().finding("wait")
		if f.P < f.Limit {
			wrong++
		}
		seen += f.Seen / float64(trials)
	}
	for seed := range uint64(trials) {
		w := newTrial(seed+1000, &pb.Canary{Configs: []string{"a"}})
		w.play(-time.Hour, 60, "a", 1, 0, 5, 5)
		w.play(0, 20, "a", 2, began, 10, 5*(1+seen))
		if w.look().finding("wait").Worse {
			found++
		}
	}
	t.Logf("wrong %d of %d; %.0f%% longer waits are found in %d", wrong, trials, 100*seen, found)
	if float64(wrong) > Alpha*float64(trials) { // the first look may use a quarter of Alpha
		t.Errorf("a canary that is like the other one was worse in %d of %d trials", wrong, trials)
	}
	if share := float64(found) / float64(trials); share < Power-0.1 || share > Power+0.15 {
		t.Errorf("waits longer by %.0f%% were found in %.0f%% of the trials", 100*seen, 100*share)
	}
	sum := 0.0
	for looks := range int32(1000) {
		sum += limit(looks, 1)
	}
	if sum > Alpha/2 || sum < 0.99*Alpha/2 {
		t.Errorf("all looks of a kind use up %v", sum)
	}
}

// Waits that are longer in some minutes than in others, as when many come or a machine is busy, end no canary by that
// alone. Where they are so for all configs at once, a canary for which they are longer besides is found.
func TestWaitsThatGoUpAndDown(t *testing.T) {
	trials := trials(200)
	for name, c := range map[string]struct {
		alone       bool    // it is the only config
		worse       float64 // how many times as long the canary's waits are
		fewest, all int     // in how many trials it is found
	}{
		"alike, alone":        {true, 1, 0, trials / 20},
		"alike, among others": {false, 1, 0, trials / 20},
		"half as long again":  {false, 1.5, trials * 9 / 10, trials},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := 0
			for seed := range uint64(trials) {
				w := newTrial(seed, &pb.Canary{Configs: []string{"a"}})
				for slot := range 16 {
					from := time.Duration(slot-12) * 5 * time.Minute
					tide, upload, mark, worse := math.Exp(0.4*w.random.NormFloat64()), int64(1), int64(0), 1.0
					if from >= 0 {
						upload, mark, worse = 2, began, c.worse
					}
					w.play(from, 5, "a", upload, mark, 20, 5*tide*worse)
					if !c.alone {
						w.play(from, 5, "b", 1, mark, 20, 15*tide)
						w.play(from, 5, "c", 1, mark, 20, 9*tide)
					}
				}
				if w.look().finding("wait").Worse {
					found++
				}
			}
			t.Logf("it is found in %d of %d trials", found, trials)
			if found < c.fewest || found > c.all {
				t.Errorf("it is found in %d of %d trials, wanted %d to %d", found, trials, c.fewest, c.all)
			}
		})
	}
}

// A canary for which players wait twice as long is found, whatever few odd matches there are: of players who waited for
// very long on purpose, of a slot in which the service was down, of another config whose values were all 0.
func TestFewOddMatchesHideNothing(t *testing.T) {
	odd := func(w *trial, slot time.Time, config string, mark int64, wait, spread float64) {
		w.books[report.SlotOf(slot)].Add(&report.Match{
			Key: report.Key{Config: config, Function: "f", Upload: 1, Canary: mark}, Players: 2, Waits: []float64{wait, wait},
			Values: []report.Value{{Kind: report.Spread, Name: "skill", Value: spread}},
		})
	}
	for name, add := range map[string]func(w *trial){
		"none":      func(*trial) {},
		"long wait": func(w *trial) { odd(w, time.UnixMilli(began).Add(-time.Minute), "a", 0, 3500, 1e12) },
		"bad slot":  func(w *trial) { w.play(-30*time.Minute, 5, "a", 1, 0, 20, 60) },
		"another config": func(w *trial) {
			for range 100 {
				odd(w, time.UnixMilli(began).Add(-time.Minute), "b", 0, 5, 0)
			}
			odd(w, time.UnixMilli(began), "b", began, 5, 1e-9)
		},
	} {
		w := newTrial(9, &pb.Canary{Configs: []string{"a"}})
		for slot := range 12 {
			if name != "bad slot" || slot != 6 {
				w.play(time.Duration(slot-12)*5*time.Minute, 5, "a", 1, 0, 20, 5)
			}
		}
		w.play(0, 20, "a", 2, began, 20, 10)
		add(w)
		if f := w.look().finding("wait"); !f.Worse || !(f.Change > 0.5 && f.Change < 1.5) {
			t.Errorf("%s: waits are %+v", name, f)
		}
	}
}

// Where much longer waits would not be found, the canary does not grow. With more matches they are.
func TestCanaryOfWhichTooLittleIsKnown(t *testing.T) {
	for matches, sure := range map[int]bool{1: false, 40: true} {
		w := newTrial(5, &pb.Canary{Configs: []string{"a"}, Least: 1})
		w.play(-time.Hour, 60, "a", 1, 0, 20, 5)
		w.play(0, 10, "a", 2, began, matches, 5)
		w.f.Canary.Least = 10
		if r := w.look(); !r.ByMatches || r.Sure != sure {
			t.Errorf("with %d matches a minute it is sure: %v, %+v", matches, r.Sure, r.finding("wait"))
		}
		w.f.Canary.Wanted = 401
		if w.look().ByMatches {
			t.Error("it is decided by fewer matches than are wanted")
		}
	}
}

// Values that are nearly equal are compared, and no number is lost.
func TestBlocksOfTinyValues(t *testing.T) {
	w := newTrial(5, &pb.Canary{Block: 60_000, Steps: []int32{50, 100}, Step: 1})
	for m := range 60 {
		at := began + int64(m)*60_000
		upload, mark := For(w.f, "any", "", at)
		for range 10 {
			book := w.books[report.SlotOf(time.UnixMilli(at))]
			if book == nil {
				w.play(time.Duration(m)*time.Minute, 1, "any", max(upload, 1), mark, 1, 5)
				book = w.books[report.SlotOf(time.UnixMilli(at))]
			}
			book.Add(&report.Match{Key: report.Key{Config: "any", Function: "f", Upload: max(upload, 1), Canary: mark},
				Players: 2, Waits: []float64{5, 5}, Values: []report.Value{{Kind: report.Spread, Name: "skill",
					Value: 1e-100 * w.random.Float64()}}})
		}
	}
	w.now = time.UnixMilli(began).Add(2 * time.Hour)
	if f := w.look().finding("spread skill"); math.IsNaN(f.P) || f.Worse {
		t.Errorf("found %+v", f)
	}
}

// What a studio tolerates is no worse, however sure it is.
func TestTolerance(t *testing.T) {
	for tolerance, worse := range map[int32]bool{0: true, 10: true, 100: false} {
		w := newTrial(7, &pb.Canary{Configs: []string{"a"}, Tolerance: tolerance})
		w.play(-time.Hour, 60, "a", 1, 0, 20, 5)
		w.play(0, 20, "a", 2, began, 20, 7.5)
		if f := w.look().finding("wait"); f.Worse != worse || f.P > f.Limit {
			t.Errorf("%d%% are tolerated: %+v", tolerance, f)
		}
	}
}

func TestBlocksOfTime(t *testing.T) {
	const minute = 60_000
	for name, c := range map[string]struct {
		wait  float64
		rate  int
		worse []string
	}{
		"alike":         {5, 20, nil},
		"longer":        {9, 20, []string{"wait"}},
		"fewer matches": {5, 8, []string{"matches"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTrial(5, &pb.Canary{Block: 2 * minute, Steps: []int32{50, 100}, Step: 1})
			w.now = time.UnixMilli(began).Add(2 * time.Hour)
			canaries := 0
			for m := range 120 {
				at := began + int64(m)*minute
				upload, mark := For(w.f, "any", "", at)
				rush := 1 + 0.5*math.Sin(float64(m)/15) // the day goes up and down
				if upload == 0 {
					w.play(time.Duration(m)*time.Minute, 1, "any", 1, mark, 20, 5*rush)
				} else {
					canaries++
					w.play(time.Duration(m)*time.Minute, 1, "any", 2, mark, c.rate, c.wait*rush)
				}
			}
			if canaries != 60 {
				t.Errorf("the canary has %d of 120 minutes", canaries)
			}
			r := w.look()
			var worse []string
			for _, f := range r.Worse() {
				worse = append(worse, f.Name)
			}
			if !slices.Equal(worse, c.worse) || !r.ByMatches {
				t.Errorf("worse by %v: %+v", worse, r.Findings)
			}
		})
	}
	w := newTrial(5, &pb.Canary{Block: 2 * minute, Steps: []int32{50, 100}, Step: 1})
	w.now = time.UnixMilli(began).Add(13 * time.Minute)
	w.play(0, 13, "any", 2, began, 20, 5)
	if r := w.look(); r.Compared || r.ByMatches {
		t.Errorf("it was decided by six blocks: %+v", r)
	}
}

// Of each group of blocks the canary has its part, and not the same one of each. Everybody who asks gets one answer.
func TestBlocksAreDividedAsAsked(t *testing.T) {
	for _, percent := range []int32{10, 25, 50, 75, 100} {
		f := &pb.Function{Name: "f", Canary: &pb.Canary{Upload: 2, Block: 1000, Until: math.MaxInt64,
			Steps: []int32{percent}, Step: 1}}
		const blocks = 2000
		has, places := 0, map[int64]bool{}
		for block := range int64(blocks) {
			upload, mark := For(f, "c", "", block*1000+999)
			if again, _ := For(f, "d", "q", block*1000); again != upload || mark != block*1000 {
				t.Fatalf("block %d: %d and %d, mark %d", block, upload, again, mark)
			}
			if upload == 2 {
				has++
				places[block%(100/int64(percent))] = true
			}
		}
		if has != blocks*int(percent)/100 || len(places) < int(100/percent) {
			t.Errorf("%d%%: %d of %d blocks, at the places %v", percent, has, blocks, places)
		}
	}
}

func TestWhoGetsTheCanary(t *testing.T) {
	for name, c := range map[string]struct {
		canary        *pb.Canary
		config, queue string
		now           int64
		want, mark    int64
	}{
		"a config":           {&pb.Canary{Configs: []string{"a"}}, "a", "", 5, 2, 3},
		"another config":     {&pb.Canary{Configs: []string{"a"}}, "b", "", 5, 0, 3},
		"a queue":            {&pb.Canary{Queues: []string{"q"}}, "b", "q", 5, 2, 3},
		"another queue":      {&pb.Canary{Queues: []string{"q"}}, "q", "", 5, 0, 3},
		"its time is over":   {&pb.Canary{Configs: []string{"a"}}, "a", "", 10, 0, 0},
		"there is none":      {nil, "a", "", 5, 0, 0},
		"blocks, at no step": {&pb.Canary{Block: 4}, "a", "", 5, 0, 4},
	} {
		if c.canary != nil {
			c.canary.Upload, c.canary.StepBegan, c.canary.Until = 2, 3, 10
		}
		upload, mark := For(&pb.Function{Name: "f", Canary: c.canary}, c.config, c.queue, c.now)
		if upload != c.want || mark != c.mark {
			t.Errorf("%s: upload %d, mark %d", name, upload, mark)
		}
	}
}

func TestGrow(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e"}
	half := Grow("f", []string{"c"}, all, 50)
	if len(half) != 3 || half[0] != "c" || !slices.Equal(half, Grow("f", []string{"c"}, all, 50)) {
		t.Errorf("half is %v", half)
	}
	whole := Grow("f", half, all, 100)
	if slices.Sort(whole); !slices.Equal(whole, all) {
		t.Errorf("all is %v", whole)
	}
	if few := Grow("f", []string{"a", "b", "c"}, all, 10); len(few) != 3 {
		t.Errorf("it has fewer: %v", few)
	}
}

func TestFailuresOfRuns(t *testing.T) {
	// The tea of Fisher: 16 + 1 of 70 ways. In the second table they are 66² + 12² + 1 of 2,704,156.
	for _, c := range [][5]float64{{3, 4, 1, 4, 17. / 70}, {10, 12, 2, 12, 4501. / 2704156}, {0, 10, 0, 10, 1}} {
		if p := Fisher(int64(c[0]), int64(c[1]), int64(c[2]), int64(c[3])); math.Abs(p-c[4]) > 1e-9 {
			t.Errorf("%v: p is %v", c, p)
		}
	}
	w := newTrial(1, &pb.Canary{Configs: []string{"a"}})
	for failed, worse := range map[int64]bool{0: false, 1: false, 5: true} {
		w.runs = [4]int64{20, failed, 1000, 3}
		r := w.look()
		if !r.ByRuns || (len(r.Worse()) > 0) != worse {
			t.Errorf("%d of 20 runs fail: %+v", failed, r.Findings)
		}
	}
	w.runs = [4]int64{9, 9, 1000, 0}
	if r := w.look(); r.ByRuns || len(r.Worse()) > 0 {
		t.Error("it was decided by nine runs")
	}
	w.f.Canary.RunLooks, w.runs = 2, [4]int64{39, 39, 1000, 0}
	if w.look().ByRuns {
		t.Error("the third look was made before 40 runs")
	}
}

// A canary that matches nobody is found by its runs, though nobody's wait ended.
func TestCanaryThatMatchesNobody(t *testing.T) {
	w := newTrial(1, &pb.Canary{Configs: []string{"a"}})
	w.play(-time.Hour, 60, "a", 1, 0, 2, 5)
	w.now = time.UnixMilli(began).Add(time.Minute)
	if len(w.look().Worse()) > 0 {
		t.Error("two matches fewer are enough")
	}
	w.now = time.UnixMilli(began).Add(10 * time.Minute)
	if worse := w.look().Worse(); len(worse) != 1 || worse[0].Name != "matches" {
		t.Errorf("worse by %+v", worse)
	}
}

func TestRanksOfValuesThatAreLess(t *testing.T) {
	values := func(at ...int32) *values {
		v := new(values)
		for _, b := range at {
			v.add([]int32{b}, []int64{1}, float64(b), 1)
		}
		return v
	}
	e, ok := mannWhitney(values(5, 6, 7), values(-3, -2, 0))
	if !ok || e.shift != 0.5 {
		t.Errorf("all are greater: %+v", e)
	}
	// Of 16 pairs 4 are greater and 2 equal, so U is 5 and not 8. Three are equal, and two: the variance of U is
	// 16/12 (9 - 30/56).
	e, _ = mannWhitney(values(1, 2, 2, 5), values(2, 3, 4, 4))
	if e.shift != 5./16-0.5 || math.Abs(e.variance-(9-30./56)/12/16) > 1e-12 {
		t.Errorf("%+v", e)
	}
	if _, ok := mannWhitney(values(1), values()); ok {
		t.Error("nothing is compared")
	}
}

func ExampleFinding_Text() {
	for _, f := range []Finding{
		{Name: "failures", Canary: 0.1, Other: 0.001, P: 0.0001, Limit: 0.00625, Seen: 0.05},
		{Name: "wait", Canary: 12, Other: 10.4, P: 0.2, Limit: 0.0125, Seen: 0.18},
		{Name: "matches", Canary: 3, Other: 3.5, P: 1, Limit: 0.0125, Seen: math.NaN()},
	} {
		fmt.Println(f.Text())
	}
	// Output:
	// failures 10% against 0.1% (p 0.0001, limit 0.0063; 5% is seen with 80%)
	// wait 12 s against 10.4 s (p 0.2, limit 0.013; worse by 18% is seen with 80%)
	// matches a minute 3 against 3.5 (p 1, limit 0.013)
}
