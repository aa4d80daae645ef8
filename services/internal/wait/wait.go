// Package wait waits for a while.
package wait

import (
	"context"
	"time"
)

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
