package main

import (
	"context"
	"time"

	"matchmaker.dev/services/internal/platform/wait"
)

// settleTime is how long a system has to come to rest before its size is measured.
const settleTime = 5 * time.Second

// await waits until something is so.
func await(ctx context.Context, is func() (bool, error)) error {
	for {
		if so, err := is(); so || err != nil {
			return err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	if wait.For(ctx, d) != nil {
		return context.Cause(ctx)
	}
	return nil
}
