package estimate_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"matchmaker.dev/services/internal/match/estimate"
)

// world is players that come, are matched and leave, in its own time, in steps of a tenth of a second.
type world struct {
	rate  func(now float64) float64  // players a second
	skill func(r *rand.Rand) float64 // of a new player
	leave float64                    // for how many seconds players wait on average; 0: they do not leave
	match func(w *world) [][]*player // the players that are matched now
	hours float64
	seed  uint64
	// closed reports when no player is matched.
	closed func(now float64) bool

	*rand.Rand
	now     float64
	waiting []*player // in order of arrival
	bySkill []*player // the same
	n       int
}

type player struct {
	id      string
	skill   float64
	created float64
	until   float64 // then it leaves
	matched float64
	asked   []answer
}

type answer struct {
	at, low, high float64 // absolute
}

// result is how estimates turned out.
type result struct {
	tickets, answered int   // when they were created
	first             tally // of estimates when tickets were created
	later             tally // of estimates after some time
	// last is when the last ticket that was created got an estimate.
	last float64
}

// tally counts estimates of tickets that did not leave.
type tally struct{ all, below, above int }

func (v *tally) judge(a answer, matched float64) {
	v.all++
	if matched < a.low {
		v.below++
	} else if matched > a.high {
		v.above++
	}
}

// held is in how many of a hundred cases the range held.
func (v tally) held() float64 { return 100 * float64(v.all-v.below-v.above) / float64(v.all) }

func (v tally) String() string {
	return fmt.Sprintf("%.1f %% of %d (%d sooner, %d later)", v.held(), v.all, v.below, v.above)
}

const step = 0.1

func ms(s float64) int64 { return int64(math.Round(s * 1000)) }

func (w *world) run() result {
	w.Rand = rand.New(rand.NewPCG(w.seed, w.seed))
	book := estimate.NewBook(0, w.seed)
	var forecast *estimate.Forecast
	var r result
	judge := func(p *player) {
		for i, a := range p.asked {
			switch {
			case a.high == 0 || p.until < math.Inf(1):
			case i == 0:
				r.first.judge(a, p.matched)
			default:
				r.later.judge(a, p.matched)
			}
		}
	}
	for steps := 0; w.now < w.hours*3600; steps++ {
		w.now = float64(steps) * step
		if steps%10 == 0 {
			book.Advance(ms(w.now))
		}
		if steps%20 == 0 {
			forecast = nil
		}
		ask := func(p *player) {
			if forecast == nil && book.Wait(1) != nil {
				forecast = book.Wait(1).Forecast()
			}
			age := w.now - p.created
			a := answer{at: w.now}
			if forecast == nil {
				forecast = new(estimate.Forecast)
			}
			if got, ok := forecast.Range(time.Duration(age * float64(time.Second))); ok {
				a.low, a.high = w.now+got.Low.Seconds(), w.now+got.High.Seconds()
			}
			p.asked = append(p.asked, a)
		}
		if w.closed == nil || !w.closed(w.now) {
			for _, m := range w.match(w) {
				var ids []string
				for _, p := range m {
					p.matched = w.now
					ids = append(ids, p.id)
					judge(p)
				}
				book.Match(ids, ms(w.now))
				book.Leave(ids, ms(w.now))
			}
		}
		rate := w.rate(w.now)
		for range poisson(w.Rand, rate*step) {
			w.n++
			p := &player{id: fmt.Sprint("t", w.n), skill: w.skill(w.Rand), created: w.now, until: math.Inf(1)}
			if w.leave > 0 && w.Float64() > 0.1 {
				p.until = w.now + w.ExpFloat64()*w.leave
			}
			w.waiting = append(w.waiting, p)
			at, _ := slices.BinarySearchFunc(w.bySkill, p, func(a, b *player) int { return cmp.Compare(a.skill, b.skill) })
			w.bySkill = slices.Insert(w.bySkill, at, p)
			book.Enter(p.id, 1, ms(p.created), ms(p.created))
			ask(p)
			r.tickets++
			if p.asked[0].high > 0 {
				r.answered++
				r.last = w.now
			}
		}
		for _, p := range w.waiting {
			age := w.now - p.created
			for _, at := range []float64{5, 20, 60, 180} {
				if age >= at && age < at+step {
					ask(p)
				}
			}
		}
		var gone []string
		isGone := func(p *player) bool { return p.matched > 0 || p.until <= w.now }
		for _, p := range w.waiting {
			if isGone(p) && p.matched == 0 {
				gone = append(gone, p.id)
			}
		}
		w.waiting, w.bySkill = slices.DeleteFunc(w.waiting, isGone), slices.DeleteFunc(w.bySkill, isGone)
		book.Leave(gone, ms(w.now))
	}
	for _, p := range w.waiting { // too long for estimates that have ended
		p.matched = w.now
		for i, a := range p.asked {
			if a.high > w.now {
				p.asked[i].high = 0
			}
		}
		judge(p)
	}
	return r
}

func poisson(r *rand.Rand, mean float64) (n int) {
	for t := r.ExpFloat64(); t < mean; t += r.ExpFloat64() {
		n++
	}
	return n
}

// duels pairs neighbours in skill, which accept a greater difference the longer they wait.
func duels(base, widening float64) func(w *world) [][]*player {
	return func(w *world) (all [][]*player) {
		for i := 0; i+1 < len(w.bySkill); i++ {
			a, b := w.bySkill[i], w.bySkill[i+1]
			window := base + widening*(w.now-max(a.created, b.created))
			if b.skill-a.skill <= window {
				all = append(all, []*player{a, b})
				i++
			}
		}
		return all
	}
}

// teams matches as many as came first.
func teams(size int) func(w *world) [][]*player {
	return func(w *world) (all [][]*player) {
		for i := 0; i+size <= len(w.waiting); i += size {
			all = append(all, slices.Clone(w.waiting[i:i+size]))
		}
		return all
	}
}

func constant(rate float64) func(float64) float64 { return func(float64) float64 { return rate } }

func wave(mean, part, period float64) func(float64) float64 {
	return func(now float64) float64 { return mean * (1 + part*math.Sin(2*math.Pi*now/period)) }
}
