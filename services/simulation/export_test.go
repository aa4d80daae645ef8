package simulation

import "context"

// Joined simulates parts and returns how many of them the result has.
func Joined(ctx context.Context, o Options) (n int, err error) {
	chain, err := simulateParts(ctx, &o)
	return len(chain), err
}
