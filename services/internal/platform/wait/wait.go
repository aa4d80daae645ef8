// Package wait waits for a while.
package wait

import (
	"context"
	"iter"
	"time"
)

// Every yields 0 at once, and then 1, 2 and so on, one each interval, until ctx ends.
func Every(ctx context.Context, interval time.Duration) iter.Seq[int] {
	return func(yield func(int) bool) {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for n := 0; ctx.Err() == nil && yield(n); n++ {
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}
}

// For waits, and returns ctx's error if that ends first.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
