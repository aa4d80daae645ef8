package state

import (
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// abreast is the number of steps of a batch that run at the same time: one after another, each would wait for a round
// trip to Redis.
const abreast = 16

// stepAbreast takes a step for each item, in any order, until one fails. It returns the results of the steps, with zero
// values for steps that failed or were not taken, and the error of one that failed.
func stepAbreast[T, R any](items []T, step func(T) (R, error)) (results []R, err error) {
	results = make([]R, len(items))
	var steps errgroup.Group
	steps.SetLimit(abreast)
	var failed atomic.Bool
	for i, item := range items {
		steps.Go(func() error {
			if failed.Load() {
				return nil
			}
			r, err := step(item)
			if err != nil {
				failed.Store(true)
				return err
			}
			results[i] = r
			return nil
		})
	}
	return results, steps.Wait()
}

// step reports whether something was changed, and the position of the feed behind that.
type step struct {
	done     bool
	position uint64
}

// doneOf returns the items whose steps changed something, and the feed's position behind all of them.
func doneOf[T any](items []T, steps []step) (done []T, position uint64) {
	for i, one := range steps {
		if one.done {
			done, position = append(done, items[i]), max(position, one.position)
		}
	}
	return done, position
}
