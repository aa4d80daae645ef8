package schedule

import (
	"fmt"
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// load is a config of a simulated project: something happens all the time, and each of its runs costs the same.
type load struct {
	Segment
	runCost, every time.Duration
	touched, ends  time.Time
	runs           int
	used           time.Duration
	vain           bool // nothing that it proposes is claimed
}

func newLoad(b *Budget, config string, runCost, every time.Duration) *load {
	return &load{Segment: b.Account(config).First(), runCost: runCost, every: every}
}

// simulate lets loads run for a time, in steps of a millisecond. Each run takes as long as it costs.
func simulate(b *Budget, lasts time.Duration, loads ...*load) {
	for now := epoch; now.Before(epoch.Add(lasts)); now = now.Add(time.Millisecond) {
		for _, l := range loads {
			if l.running && !now.Before(l.ends) {
				l.used += l.runCost
				l.End(OK, l.runCost, now)
				if !l.vain {
					l.Account().Found(now)
				}
			}
			if now.Sub(l.touched) >= l.every {
				l.Touch()
				l.touched = now
			}
		}
		s := State[*load]{Times: times, Segments: slices.Values(loads), Wake: now.Add(time.Hour), Budget: b}
		starts, _ := s.Next(now)
		for _, l := range starts {
			l.Start(now)
			l.Take("r", times)
			l.ends = now.Add(l.runCost)
			l.runs++
		}
	}
}

func TestNoSegmentUsesMoreThanHalfACore(t *testing.T) {
	for _, cost := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 2 * time.Second} {
		b := NewBudget(0)
		l := newLoad(b, "a", cost, time.Millisecond)
		simulate(b, 20*time.Second, l)
		if l.used > 10*time.Second+cost {
			t.Errorf("runs of %v used %v of 20 s", cost, l.used)
		}
		if cost == time.Millisecond && l.runs < 1900 {
			t.Errorf("%d runs of %v: they need not wait for more than the least interval", l.runs, cost)
		}
	}
}

// Promise 9.
func TestProjectUsesNoMoreThanItsBudget(t *testing.T) {
	const lasts = 10 * time.Second
	for _, cores := range []float64{.5, 1, 4} {
		b := NewBudget(cores)
		var loads []*load
		for i := range 20 {
			loads = append(loads, newLoad(b, string(rune('a'+i%10)), 100*time.Millisecond, time.Millisecond))
		}
		simulate(b, lasts, loads...)
		used := time.Duration(0)
		for _, l := range loads {
			used += l.used
		}
		most := time.Duration(cores*float64(lasts+burst)) + 10*b.scale(ownBurst) + 20*100*time.Millisecond
		if used > most || used < time.Duration(.9*cores*float64(lasts)) {
			t.Errorf("%v cores: %v were used in %v, want at most %v", cores, used, lasts, most)
		}
	}
}

// What one config uses is not missed by another, which uses less than its share.
// Promise 9.
func TestHeavyConfigsDelayThemselves(t *testing.T) {
	b := NewBudget(1)
	heavy := []*load{
		newLoad(b, "heavy", time.Second, time.Millisecond), newLoad(b, "heavy", time.Second, time.Millisecond),
		newLoad(b, "heavy too", 300*time.Millisecond, time.Millisecond),
	}
	light := newLoad(b, "light", 2*time.Millisecond, 20*time.Millisecond)
	simulate(b, 20*time.Second, append(heavy, light)...)
	if light.runs < 980 {
		t.Errorf("the light config ran %d times in 20 s, want one run for each of 1,000 changes", light.runs)
	}
	used := heavy[0].used + heavy[1].used
	if other := heavy[2].used; other < used/2 || used < other/2 {
		t.Errorf("one heavy config used %v and the other %v", used, other)
	}
}

// Configs that find nothing have a part of the budget: one that finds something does not notice them, however many they
// are and although it uses more than its share. One that found nothing for long does not wait for long either.
func TestFruitlessConfigsHaveAPartOfTheBudget(t *testing.T) {
	const lasts, many = 20 * time.Second, 25
	b := NewBudget(1)
	var vain []*load
	for i := range many {
		l := newLoad(b, fmt.Sprint(i), 10*time.Millisecond, 5*time.Millisecond)
		l.vain = true
		vain = append(vain, l)
	}
	finds := newLoad(b, "finds", 10*time.Millisecond, 50*time.Millisecond)
	simulate(b, lasts, append(vain, finds)...)
	if finds.runs < 390 {
		t.Errorf("the config that finds something ran %d times in %v, want one run for each of 400 changes",
			finds.runs, lasts)
	}
	used := time.Duration(0)
	for _, l := range vain {
		used += l.used
		if l.runs < 10 {
			t.Fatalf("a fruitless config ran %d times in %v", l.runs, lasts)
		}
	}
	most := lasts/fruitlessPart + 2*burst
	if used > most || used < lasts/fruitlessPart*9/10 {
		t.Errorf("fruitless configs used %v in %v, want a part in %d, and at most %v", used, lasts, fruitlessPart, most)
	}
}

// A fruitless config that hangs delays itself, and no other fruitless one.
func TestFruitlessConfigIsDelayedByNoOther(t *testing.T) {
	b := NewBudget(1)
	hangs := newLoad(b, "hangs", 5*time.Second, time.Millisecond)
	quiet := newLoad(b, "quiet", time.Millisecond, 100*time.Millisecond)
	hangs.vain, quiet.vain = true, true
	simulate(b, 60*time.Second, hangs, quiet)
	if quiet.runs < 590 {
		t.Errorf("the quiet config ran %d times in a minute, want one run for each of 600 changes", quiet.runs)
	}
	if hangs.runs > 5 {
		t.Errorf("runs of 5 s: %d in a minute, want no more than a quarter of it", hangs.runs)
	}
}

func TestQuietProjectStartsAtOnce(t *testing.T) {
	b := NewBudget(1)
	l := newLoad(b, "quiet", 400*time.Millisecond, time.Hour)
	l.Start(epoch)
	l.End(OK, 400*time.Millisecond, after(400))
	for i := 1; i <= 100; i++ {
		now := epoch.Add(time.Duration(i) * 10 * time.Second)
		l.Touch()
		s := State[*load]{Times: times, Segments: slices.Values([]*load{l}), Wake: now.Add(time.Hour), Budget: b}
		if starts, _ := s.Next(now); len(starts) != 1 {
			t.Fatalf("run %d does not start at once", i)
		}
		l.Start(now)
		if l.Delay() != 0 {
			t.Fatalf("run %d was delayed by %v", i, l.Delay())
		}
		l.End(OK, 400*time.Millisecond, now.Add(400*time.Millisecond))
	}
}

// A project does not get out of debt with a new config, and a config that was changed waits for its share, not for its
// debt.
func TestDebtIsNeitherEscapedNorEndless(t *testing.T) {
	b := NewBudget(1)
	b.refill(epoch)
	a := b.Account("a")
	a.Charge(time.Hour)
	if b.Level() != -maxDebt || a.level != -maxDebt {
		t.Errorf("the debt of the project is %v, of the config %v", b.Level(), a.level)
	}
	if other := b.Account("other"); other.allows() || other.level < -burst {
		t.Errorf("a new config begins with %v", other.level)
	}
	a.EndDebt(epoch)
	if a.allows() || a.allowsAt(epoch).After(epoch.Add(5*time.Second)) {
		t.Errorf("a config that was changed may run at %v", a.allowsAt(epoch))
	}
	a.Charge(10 * time.Second)
	owes := a.level
	a.EndDebt(after(1000))
	if a.level != owes {
		t.Errorf("a config that is changed all the time owes %v, want %v", -a.level, -owes)
	}
	b.Close("a")
	if again := b.Account("a"); again.level != owes || len(b.closed) > 0 {
		t.Errorf("a config that was deleted and made again owes %v, want %v", -again.level, -owes)
	}
	b.Close("a")
	b.refill(epoch.Add(2 * maxDebt))
	if len(b.closed) > 0 {
		t.Error("a config that was deleted is remembered when it owes nothing any more")
	}
	if !b.Account("a").allows() || b.Level() != burst {
		t.Errorf("the project has %v when it was quiet for long", b.Level())
	}
}

// The accounts of deleted configs have a bound; those that owe most are kept.
func TestFewDeletedConfigsAreRemembered(t *testing.T) {
	b := NewBudget(1)
	for i := range 2 * maxClosed {
		name := fmt.Sprint(i)
		b.Account(name).Charge(time.Duration(i) * time.Millisecond)
		b.Close(name)
	}
	if len(b.closed) > maxClosed || b.closed[fmt.Sprint(2*maxClosed-1)] == nil || b.closed["0"] != nil {
		t.Errorf("%d deleted configs are remembered, at most %d should be", len(b.closed), maxClosed)
	}
}

// A config that changes without end, or is deleted and made again, gets no more runs than one that stays.
// Promise 9.
func TestChurnGainsNothing(t *testing.T) {
	const lasts = 10 * time.Second
	for _, churn := range []string{"none", "put", "delete and put"} {
		b := NewBudget(1)
		s, runs := b.Account("a").First(), 0
		for ms := range int(lasts.Milliseconds()) {
			now := after(ms)
			if s.running && now.Sub(s.started) >= 20*time.Millisecond {
				s.End(OK, 20*time.Millisecond, now)
			}
			if churn != "none" && ms%5 == 0 {
				if s.running {
					s.Abandon(0, now)
				}
				b.Account("a").EndDebt(now)
				if churn == "delete and put" {
					b.Close("a")
				}
				s = b.Account("a").First()
			}
			s.Touch()
			starts, _ := State[*Segment]{Times: times, Segments: slices.Values([]*Segment{&s}), Wake: after(1e6), Budget: b}.
				Next(now)
			for _, s := range starts {
				s.Start(now)
				runs++
			}
		}
		if most := int(lasts/times.MinInterval) + spared; runs > most {
			t.Errorf("%s: %d runs in %v, want at most %d", churn, runs, lasts, most)
		}
	}
}

// Its runner goes on with a run that is given up.
func TestRunThatIsGivenUpCostsWhatWasExpected(t *testing.T) {
	b := NewBudget(1)
	s := b.Account("a").First()
	state := State[*Segment]{Times: times, Segments: slices.Values([]*Segment{&s}), Wake: after(1e6), Budget: b}
	if starts, _ := state.Next(epoch); len(starts) != 1 {
		t.Fatal("the run does not start")
	}
	s.Start(epoch)
	s.Abandon(time.Microsecond, after(1))
	if cost := burst - b.Level(); cost < firstEstimate {
		t.Errorf("it cost %v, want %v", cost, firstEstimate)
	}
}

// While a run is under way it is charged what it is likely to cost: not all that are due start at once.
func TestRunsAreChargedWhenTheyStart(t *testing.T) {
	b := NewBudget(1)
	var loads []*load
	for range 1000 {
		l := newLoad(b, "a", time.Second, time.Millisecond)
		loads = append(loads, l)
	}
	loads[0].Start(epoch)
	loads[0].End(OK, 4*time.Second, epoch)
	b.level = burst
	s := State[*load]{Times: times, Segments: slices.Values(loads), Wake: after(1e6), Budget: b}
	if starts, wake := s.Next(epoch); len(starts) > 3 || len(starts) == 0 || !wake.After(epoch) {
		t.Errorf("%d runs of a second start at once, and again at %v", len(starts), wake.Sub(epoch))
	}
}

func TestFailingRunsRestLongerAndLonger(t *testing.T) {
	s, now := first(), epoch
	for i, want := range []time.Duration{0, 0, 250, 500, 1000, 2000, 4000, 5000, 5000, 5000} {
		s.paced = now.Add(spared * times.MinInterval) // it ran all the time
		s.Start(now)
		s.End(Failed, 0, now)
		s.Touch()
		want = max(want*time.Millisecond, times.MinInterval)
		if due := s.due(times); due.Sub(now) != want {
			t.Errorf("after %d failures the next run is due in %v, want %v", i+1, due.Sub(now), want)
		}
		now = s.due(times)
	}
	s.EndRest(now)
	if due := s.due(times); due.After(now) {
		t.Error("the segment still rests when the function is another one")
	}
	s.paced = now.Add(spared * times.MinInterval)
	s.Start(now)
	s.End(OK, 0, now)
	s.Start(now)
	s.End(Failed, 0, now)
	s.Touch()
	if due := s.due(times); due.Sub(now) != times.MinInterval {
		t.Errorf("after a run that did not fail, one that does rests for %v", due.Sub(now))
	}
}

func TestCostOf(t *testing.T) {
	for name, test := range map[string]struct {
		stats   *pb.RunStats
		traffic Traffic
		lost    time.Duration
		want    Cost
	}{
		"nobody answered": {want: Cost{Bus: runCost}},
		"what the runner says": {
			stats: &pb.RunStats{Charge: 5000, Processor: 3000, Run: 90_000, Query: 70_000},
			want:  Cost{Runner: 2 * time.Millisecond, Function: 3 * time.Millisecond, Bus: runCost},
		},
		"what is counted, if that is more": {
			stats: &pb.RunStats{Charge: 5000, Processor: 3000, Cells: 5_000_000},
			want:  Cost{Runner: 10 * time.Millisecond, Function: 3 * time.Millisecond, Bus: runCost},
		},
		"an older runner": {
			stats: &pb.RunStats{Run: 4000, Query: 1000, Encode: 2000, Decode: 3000, Waiting: 50_000},
			want:  Cost{Runner: 6 * time.Millisecond, Function: 4 * time.Millisecond, Bus: runCost},
		},
		"an answer": {
			traffic: Traffic{Request: 1000, Bytes: 2000, Messages: 3, Proposals: 10, Mentions: 20},
			want:    Cost{Director: 24 * time.Microsecond, Bus: runCost + 60*time.Microsecond + 30*time.Microsecond},
		},
		"the runner is lost": {lost: time.Second, want: Cost{Function: time.Second, Bus: runCost}},
	} {
		if got := CostOf(test.stats, test.traffic, test.lost); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestSegmentTriesAgainWhenThereMayBeRoom(t *testing.T) {
	s := first()
	s.Start(epoch)
	s.End(OK, 0, epoch)
	s.Rest(epoch)
	if due := s.due(times); !due.Equal(epoch.Add(absent)) {
		t.Errorf("due after %v", due.Sub(epoch))
	}
}
