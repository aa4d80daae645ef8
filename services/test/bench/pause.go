package main

import (
	"context"
	"time"

	"matchmaker.dev/services/internal/wait"
)

// settleTime is how long a system has to come to rest before its size is measured.
const settleTime = 5 * time.Second

func pause(ctx context.Context, d time.Duration) error {
	if wait.For(ctx, d) != nil {
		return context.Cause(ctx)
	}
	return nil
}
