package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"matchmaker.dev/services/test/chaos/history"
)

// workload is everybody who uses a system.
type workload struct {
	rate    float64
	crowds  []*crowd
	studios []*studio
	arcades []*arcade

	// arrivals ends when nobody comes any more and nothing is changed any more, lives when everybody goes.
	arrivals, lives context.Context
	noMore, over    context.CancelFunc
	coming, playing sync.WaitGroup

	mu     sync.Mutex
	failed error
}

// changePace is the time from one change of a studio to the next, on average.
const changePace = time.Second

// newWorkload makes the projects, with their configs and functions.
func newWorkload(ctx context.Context, o options, s *system, journal *history.Journal) (*workload, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	w := &workload{rate: o.Rate / float64(o.Projects)}
	streams := uint64(0)
	random := func() *rand.Rand {
		streams++
		return rand.New(rand.NewPCG(o.Seed, streams)) //nolint:gosec // it must be the same every time
	}
	for n := range o.Projects {
		project := fmt.Sprintf("game-%d", n+1)
		c, err := newCrowd(s, project, journal, random())
		if err != nil {
			return nil, err
		}
		st, err := newStudio(s, project, journal, random())
		if err != nil {
			return nil, err
		}
		a, err := newArcade(s, project, journal, random())
		if err != nil {
			return nil, err
		}
		if err := st.open(ctx); err != nil {
			return nil, err
		}
		w.crowds, w.studios, w.arcades = append(w.crowds, c), append(w.studios, st), append(w.arcades, a)
	}
	return w, nil
}

// begin lets everybody loose, until close and end.
func (w *workload) begin(ctx context.Context) {
	w.lives, w.over = context.WithCancel(ctx)
	w.arrivals, w.noMore = context.WithCancel(w.lives)
	for n := range w.crowds {
		w.coming.Go(func() { w.crowds[n].arrive(w.arrivals, w.lives, w.rate) })
		w.coming.Go(func() {
			err := w.studios[n].work(w.arrivals, w.lives, changePace)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.failed = errors.Join(w.failed, err)
		})
		w.playing.Go(func() { w.arcades[n].run(w.arrivals, w.lives) })
	}
}

// close lets nobody in any more, and returns when all is configured as it is to be.
func (w *workload) close(ctx context.Context) error {
	w.noMore()
	w.coming.Wait()
	for _, s := range w.studios {
		w.failed = errors.Join(w.failed, s.close(ctx))
	}
	return w.failed
}

// end lets everybody go, whatever they wait for, and returns when they have gone. It may be called twice.
func (w *workload) end() {
	w.over()
	w.coming.Wait()
	w.playing.Wait()
	for _, c := range w.crowds {
		c.present.Wait()
	}
}

// settle waits until everybody who waits for a match has one. Whoever is left alone gets a stand-in.
func (w *workload) settle(ctx context.Context, patience time.Duration, say sayer) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for before := -1; ; {
		left := 0
		for _, c := range w.crowds {
			_, all := c.unmatched()
			left += all
		}
		if left == 0 {
			return
		}
		say("%d players wait", left)
		if left == before { // nobody was matched since: somebody may be alone
			for _, c := range w.crowds {
				in, _ := c.unmatched()
				for _, l := range in {
					c.standIn(ctx, l)
				}
			}
		}
		before = left
		if !pause(ctx, 2*time.Second) {
			return
		}
	}
}

// last reads every ticket once more, and leaves nobody who waits.
func (w *workload) last(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, c := range w.crowds {
		c.last(ctx)
	}
}
