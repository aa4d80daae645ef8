package canary

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/report"
)

const (
	began  = 1_800_000_000_000
	minute = 60_000
)

// trial is a canary whose matches a test makes up. How long players wait changes from one five minutes to the next.
type trial struct {
	f      *pb.Function
	books  map[int64]*report.Book
	random *rand.Rand
	now    time.Time
}

func newTrial(seed uint64, c *pb.Canary) *trial {
	c.Upload, c.Began, c.Changed, c.Until = 2, began, began, began+12*60*minute
	return &trial{&pb.Function{Name: "f", Version: 1, Canary: c}, map[int64]*report.Book{}, rand.New(rand.NewPCG(seed, 1)),
		time.UnixMilli(began).Add(time.Hour)}
}

// play makes matches of two tickets in a time, about so many a minute.
func (w *trial) play(from, length int64, config string, upload, mark int64, aMinute, wait float64) {
	slot := report.SlotOf(time.UnixMilli(began + from))
	if w.books[slot] == nil {
		w.books[slot] = report.Spans()[0].NewBook(slot)
	}
	rush := wait * (0.7 + 0.6*w.random.Float64())
	for left := float64(length) / minute; ; {
		if left -= w.random.ExpFloat64() / aMinute; left < 0 {
			return
		}
		waited := rush * w.random.ExpFloat64()
		w.books[slot].Add(&report.Match{
			Key: report.Key{Config: config, Function: "f", Upload: upload, Canary: mark}, Players: 2,
			Waits: []float64{waited, waited}, Values: []report.Value{{Kind: report.Measure, Name: "quality", Value: -waited}},
		})
	}
}

func (w *trial) report(canary, other Runs) map[string]Quantity {
	c := Compare(w.f, w.now)
	for at, b := range w.books {
		c.Add(at, b.Message())
	}
	found := map[string]Quantity{}
	for _, q := range c.Report(canary, other) {
		found[q.Name] = q
	}
	return found
}

// configs plays an hour before a canary of a config, and so many minutes of it.
func configs(seed uint64, minutes int64) *trial {
	w := newTrial(seed, &pb.Canary{Configs: []string{"a"}})
	for at := int64(-60); at < minutes; at += 5 {
		if at < 0 {
			w.play(at*minute, 5*minute, "a", 1, 0, 20, 5)
		} else {
			w.play(at*minute, 5*minute, "a", 2, began, 15, 6)
		}
	}
	w.now = time.UnixMilli(began + minutes*minute).Add(storedAfter)
	return w
}

// blocks plays so many minutes in blocks of two, of which the canary has half.
func blocks(seed uint64, minutes int64) *trial {
	w := newTrial(seed, &pb.Canary{Block: 2 * minute, Percent: 50})
	for at := int64(0); at < minutes; at += 2 {
		if upload, mark := For(w.f, "any", "", began+at*minute); upload == 2 {
			w.play(at*minute, 2*minute, "any", 2, mark, 15, 6)
		} else {
			w.play(at*minute, 2*minute, "any", 1, mark, 20, 5)
		}
	}
	w.now = time.UnixMilli(began + minutes*minute).Add(storedAfter)
	return w
}

// The canary makes five matches a minute fewer, and its players wait a second longer. Of a hundred intervals, about
// five do not contain that, and four times the matches make them about half as long.
func TestTheIntervalContainsTheTruthAndShrinks(t *testing.T) {
	for name, play := range map[string]func(seed uint64, minutes int64) *trial{"configs": configs, "blocks": blocks} {
		t.Run(name, func(t *testing.T) {
			const trials = 120
			truths := map[string]float64{rate: -5, report.Wait: 1, "measure quality": -1}
			hits, widths := map[string]int{}, [2]map[string]float64{{}, {}}
			for seed := range uint64(trials) {
				for i, minutes := range []int64{40, 160} {
					for name, q := range play(seed, minutes).report(Runs{}, Runs{}) {
						d := q.Difference
						if name == failures {
							continue
						}
						if d == nil || math.Abs(d.Value-(q.Canary.Mean-q.Other.Mean)) > 1e-9 || d.Low > d.Value || d.High < d.Value {
							t.Fatalf("%s: %+v, %+v", name, q, d)
						}
						widths[i][name] += d.High - d.Low
						if i == 0 && d.Low <= truths[name] && truths[name] <= d.High {
							hits[name]++
						}
					}
				}
			}
			for name := range truths {
				if hits[name] < trials*90/100 || hits[name] > trials*99/100 {
					t.Errorf("%s: %d of %d intervals contain the truth", name, hits[name], trials)
				}
				if shrunk := widths[1][name] / widths[0][name]; shrunk < 0.3 || shrunk > 0.85 { // the hour before is the same
					t.Errorf("%s: with four times the matches intervals are %.2f times as long", name, shrunk)
				}
			}
		})
	}
}

func TestTheShareOfRunsThatFail(t *testing.T) {
	const trials, n, canary, other = 500, 60, 0.2, 0.1
	random, hits := rand.New(rand.NewPCG(1, 1)), 0
	draw := func(p float64) (r Runs) {
		for r.All = range int64(n + 1) {
			if r.All < n && random.Float64() < p {
				r.Failed++
			}
		}
		return r
	}
	for range trials {
		d := compareRuns(draw(canary), draw(other)).Difference
		if d.Low <= canary-other && canary-other <= d.High {
			hits++
		}
	}
	if hits < trials*93/100 || hits > trials*98/100 {
		t.Errorf("%d of %d intervals contain the truth", hits, trials)
	}
	few, many := compareRuns(Runs{20, 4}, Runs{20, 2}), compareRuns(Runs{2000, 400}, Runs{2000, 200})
	if math.Abs(few.Difference.Value-0.1) > 1e-12 || few.Difference.Low > 0 || many.Difference.Low < 0.05 ||
		few.Canary != (Value{0.2, 20}) || few.Other != (Value{0.1, 20}) {
		t.Errorf("of 20: %+v, %+v; of 2000: %+v", few, few.Difference, many.Difference)
	}
	if q := compareRuns(Runs{9, 9}, Runs{1000, 0}); q.Difference != nil || q.Canary.Mean != 1 {
		t.Errorf("of nine runs it is said: %+v", q)
	}
	if q := compareRuns(Runs{}, Runs{}); q.Difference != nil || q.Canary.Mean != 0 {
		t.Errorf("of no runs it is said: %+v", q)
	}
}

func TestTooFewToSay(t *testing.T) {
	for _, w := range []*trial{configs(1, 15), blocks(1, 14)} {
		found := w.report(Runs{}, Runs{})
		for _, name := range []string{rate, report.Wait} {
			if q := found[name]; q.Difference != nil || q.Canary.Of == 0 || q.Canary.Mean == 0 {
				t.Errorf("%s of %v: %+v", name, w.f.GetCanary(), q)
			}
		}
	}
	// Many slots, of which one has nearly all matches, are like one.
	w := configs(1, 40)
	w.play(0, 5*minute, "a", 2, began, 2000, 6)
	if found := w.report(Runs{}, Runs{}); found[report.Wait].Difference != nil || found[rate].Difference == nil {
		t.Errorf("one slot has nearly all: %+v", found)
	}
	if found := newTrial(1, &pb.Canary{Configs: []string{"a"}}).report(Runs{}, Runs{}); len(found) != 2 ||
		found[rate].Canary.Of != 0 {
		t.Errorf("of nothing: %+v", found)
	}
}

// Only matches by one of both uploads count, of the runs that get the canary, since it began or in the hour before.
func TestMatchesThatCount(t *testing.T) {
	w := configs(1, 40)
	want := w.report(Runs{}, Runs{})[report.Wait]
	w.play(0, minute, "b", 1, began, 20, 50)              // another config
	w.play(-minute, minute, "a", 3, 0, 20, 50)            // another upload
	w.play(-2*minute, minute, "a", 2, 0, 20, 50)          // the canary's, for a config that named it
	w.play(0, minute, "a", 1, began, 20, 50)              // no instance of the canary was ready
	w.play(-90*minute, minute, "a", 1, 0, 20, 50)         // long before
	w.play(10*minute, minute, "a", 1, 0, 20, 50)          // a config of the queue names the other upload
	w.play(-40*minute, minute, "a", 2, began-99, 20, 500) // an earlier canary
	if got := w.report(Runs{}, Runs{})[report.Wait]; got.Canary != want.Canary || got.Other != want.Other {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	w = blocks(1, 40)
	want = w.report(Runs{}, Runs{})[report.Wait]
	w.play(40*minute, 2*minute, "any", 1, began+40*minute, 20, 50) // the block goes on
	w.play(-2*minute, 2*minute, "any", 1, began-2*minute, 20, 50)
	if got := w.report(Runs{}, Runs{})[report.Wait]; got.Canary != want.Canary || got.Other != want.Other {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	for at := int64(0); ; at += 2 * minute {
		if upload, mark := For(w.f, "", "", began+at); upload == 2 { // no instance was ready at once
			w.play(at, minute, "any", 1, mark, 20, 50)
			break
		}
	}
	if got := w.report(Runs{}, Runs{})[report.Wait]; got.Canary.Of >= want.Canary.Of || got.Other != want.Other {
		t.Errorf("a block with matches of both: %+v, without %+v", got, want)
	}
	w = blocks(1, 40)
	w.now = w.now.Add(-time.Millisecond) // the last block's matches may not be stored
	if got := w.report(Runs{}, Runs{})[report.Wait]; got.Canary.Of+got.Other.Of >= want.Canary.Of+want.Other.Of {
		t.Errorf("the last block counts at once: %+v", got)
	}
}

// Of each group of blocks the canary has its part, and not the same one of each. The answer is the same for every
// caller.
func TestBlocksAreDividedAsAsked(t *testing.T) {
	for _, percent := range []int32{1, 7, 10, 25, 50, 75, 99} {
		f := &pb.Function{Name: "f", Canary: &pb.Canary{Upload: 2, Block: 1000, Until: math.MaxInt64, Percent: percent}}
		const blocks = 2000
		has, places := 0, map[int64]bool{}
		for block := range int64(blocks) {
			upload, mark := For(f, "c", "", block*1000+999)
			if again, _ := For(f, "d", "q", block*1000); again != upload || mark != block*1000 {
				t.Fatalf("block %d: %d and %d, mark %d", block, upload, again, mark)
			}
			if upload == 2 {
				has++
				places[block%100] = true
			}
		}
		if has != blocks*int(percent)/100 || len(places) < min(int(percent)*3/2, 99) {
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
		"a config":         {&pb.Canary{Configs: []string{"a"}}, "a", "", 5, 2, 3},
		"another config":   {&pb.Canary{Configs: []string{"a"}}, "b", "", 5, 0, 3},
		"a queue":          {&pb.Canary{Queues: []string{"q"}}, "b", "q", 5, 2, 3},
		"another queue":    {&pb.Canary{Queues: []string{"q"}}, "q", "", 5, 0, 3},
		"its time is over": {&pb.Canary{Configs: []string{"a"}}, "a", "", 10, 0, 0},
		"there is none":    {nil, "a", "", 5, 0, 0},
		"no block":         {&pb.Canary{Block: 4}, "a", "", 5, 0, 4},
	} {
		if c.canary != nil {
			c.canary.Upload, c.canary.Changed, c.canary.Until = 2, 3, 10
		}
		upload, mark := For(&pb.Function{Name: "f", Canary: c.canary}, c.config, c.queue, c.now)
		if upload != c.want || mark != c.mark {
			t.Errorf("%s: upload %d, mark %d", name, upload, mark)
		}
	}
}

// The names of measures are the function's, and may be many.
func TestQuantitiesAreBoundedAndInOrder(t *testing.T) {
	w := newTrial(1, &pb.Canary{Configs: []string{"a"}})
	slot := &pb.ReportSlot{}
	for name := range 300 {
		slot.Series = append(slot.Series, &pb.ReportSeries{Config: "a", Function: "f", Upload: 2, Canary: began, Matches: 1,
			Distributions: []*pb.ReportDistribution{
				{Kind: report.Measure, Name: string(rune('a'+name%26)) + string(rune(200+name)), Counts: []int64{1}, Sum: 1},
				{Kind: report.Wait, Counts: []int64{2}, Sum: 4}}})
	}
	c := Compare(w.f, w.now)
	c.Add(report.SlotOf(time.UnixMilli(began)), slot)
	var names []string
	for _, q := range c.Report(Runs{}, Runs{}) {
		names = append(names, q.Name)
	}
	if len(names) != mostQuantities+1 || !slices.Equal(names[:3], []string{failures, rate, report.Wait}) ||
		!slices.IsSorted(names[3:]) {
		t.Errorf("%d quantities: %q", len(names), names)
	}
}
