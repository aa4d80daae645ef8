package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"matchmaker.dev/pkg/matchfn/rules"
)

func bounds(r *rand.Rand) *rules.Bound {
	b := &rules.Bound{Clock: rules.Anchor, Start: float64(r.IntN(10)), Off: r.IntN(8) == 0}
	switch r.IntN(3) {
	case 0:
		for after := 1 + r.IntN(5); after < 30 && r.IntN(4) > 0; after += 1 + r.IntN(9) {
			b.Steps = append(b.Steps, rules.Step{After: float64(after), Value: float64(r.IntN(12)), Off: r.IntN(6) == 0})
		}
	case 1:
		b.Off = false
		delta, every := float64(r.IntN(7)-2), float64(r.IntN(3))
		b.Linear = &rules.Linear{Delta: delta, Every: every, Limit: b.Start + float64(r.IntN(20))}
		if b.Linear.Delta < 0 {
			b.Linear.Limit = b.Start - float64(r.IntN(20))
		}
	}
	return b
}

// Nothing that was seen of a bound changes before it is said to change: not its number, and not whether another number
// is within it.
func TestBoundsChangeWhenTheySay(t *testing.T) {
	const step = 1.0 / 64
	never, later := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		b, age, n := bounds(r), float64(r.IntN(20*64))/64, float64(r.IntN(200))/10
		within := func(age float64) bool {
			most, on := b.At(age)
			return !on || n <= most
		}
		number, on := b.At(age)
		s := &search{}
		s.till = math.Inf(1)
		s.noteMost(b, age, n, within(age))
		changed := math.Inf(1)
		if !b.Constant() {
			changed = changes(b, age)
		}
		for at := age; at < age+40; at += step {
			if got, is := b.At(at); at < age+changed && (got != number && on || is != on) {
				t.Fatalf("seed %d: %+v is %v at %v and %v at %v, and changes after %v", seed, b, number, age, got, at, changed)
			}
			if at < age+s.till && within(at) != within(age) {
				t.Fatalf("seed %d: %v is within %+v at %v and at %v not alike, and that changes after %v", seed, n, b, age, at,
					s.till)
			}
		}
		if math.IsInf(s.till, 1) {
			never++
		} else if s.till > 0 {
			later++
		}
	}
	if never < 500 || later < 500 {
		t.Errorf("%d never change, %d later", never, later)
	}
}

// The latest change of a part of the places is the greatest of its places.
func TestLatestChangeOfAPart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var l latest
	for range 50 {
		n := 1 + r.IntN(100)
		places := make([]uint32, n)
		l.reset(n)
		for at := range uint32(60) {
			place := r.IntN(n+2) - 1
			l.set(place, at+1)
			if place >= 0 && place < n {
				places[place] = at + 1
			}
			from := r.IntN(n)
			to := from + r.IntN(n-from)
			want := uint32(0)
			for _, one := range places[from : to+1] {
				want = max(want, one)
			}
			if got := l.of(from, to); got != want {
				t.Fatalf("the latest of %v from %d to %d is %d, want %d", places, from, to, got, want)
			}
		}
	}
}
