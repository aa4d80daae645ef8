package estimate

import (
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Save makes a record of what is known. It has at most MaxPools bytes for pools, and less than 4 KiB for each class.
func (b *Book) Save(pools *Pools) *pb.Waits {
	r := &pb.Waits{At: b.now, Configs: pools.configs}
	for class, w := range b.waits {
		one := &pb.WaitClass{Class: uint64(class), Reached: floats(w.trial.reached[:]), Matched: floats(w.trial.matched[:])}
		for i := range w.seen {
			one.Seen = append(one.Seen, &pb.WaitEvidence{Waited: floats(w.seen[i].waited[:]),
				Matched: floats(w.seen[i].matched[:]), Squares: float32(w.seen[i].squares)})
		}
		r.Classes = append(r.Classes, one)
	}
	return r
}

// floats leaves out what is at the end and next to nothing.
func floats(values []float64) []float32 {
	const nothing = 1e-6
	end := len(values)
	for end > 0 && values[end-1] < nothing {
		end--
	}
	all := make([]float32, end)
	for i, v := range values[:end] {
		all[i] = float32(v)
	}
	return all
}

// Load goes on from a record. It is false for one that is of the future: Redis's clock was set back.
func (b *Book) Load(r *pb.Waits) bool {
	if r.GetAt() > b.now {
		return false
	}
	elapsed := seconds(b.now - r.GetAt())
	for _, one := range r.GetClasses()[:min(Classes, len(r.GetClasses()))] {
		w := waitOf(one)
		w.fade(elapsed)
		b.waits[Class(one.GetClass())] = w
	}
	return true
}

func waitOf(r *pb.WaitClass) *Wait {
	w := newWait()
	load(w.trial.reached[:], r.GetReached())
	load(w.trial.matched[:], r.GetMatched())
	for i, seen := range r.GetSeen()[:min(len(w.seen), len(r.GetSeen()))] {
		load(w.seen[i].waited[:], seen.GetWaited())
		load(w.seen[i].matched[:], seen.GetMatched())
		w.seen[i].squares = max(0, float64(seen.GetSquares()))
	}
	return w
}

func load(to []float64, from []float32) {
	for i, v := range from[:min(len(to), len(from))] {
		if v > 0 { // neither NaN
			to[i] = float64(v)
		}
	}
}

// Fresh is how old a record may be that estimates are made from: directors write one every few seconds.
const Fresh = 20 * time.Second

// Estimates answers from a record. It is for one goroutine at a time.
type Estimates struct {
	at        int64
	pools     *Pools
	classes   map[Class]*pb.WaitClass
	forecasts map[Class]*Forecast
}

// NewEstimates makes estimates from a record; nil is one of nothing.
func NewEstimates(r *pb.Waits) *Estimates {
	e := &Estimates{at: r.GetAt(), pools: NewPools(r.GetConfigs()), classes: map[Class]*pb.WaitClass{},
		forecasts: map[Class]*Forecast{}}
	for _, one := range r.GetClasses() {
		e.classes[Class(one.GetClass())] = one
	}
	return e
}

// Of is for how much longer a ticket that waits is expected to wait. It is false where too little is known.
func (e *Estimates) Of(t *pb.Ticket, now time.Time) (Range, bool) {
	if age := now.Sub(time.UnixMilli(e.at)); age > Fresh || age < -Fresh {
		return Range{}, false
	}
	class, ok := e.pools.ClassOf(t)
	if !ok || e.classes[class] == nil {
		return Range{}, false
	}
	f := e.forecasts[class]
	if f == nil {
		f = waitOf(e.classes[class]).Forecast()
		e.forecasts[class] = f
	}
	return f.Range(max(0, now.Sub(time.UnixMilli(t.GetCreated()))))
}
