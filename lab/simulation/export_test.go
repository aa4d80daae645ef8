package simulation

import "context"

// RunParts simulates parts, and also returns how many of them the result has.
func RunParts(ctx context.Context, o Options) (r *Result, n int, err error) {
	chain, err := simulateParts(ctx, &o)
	if err != nil {
		return nil, 0, err
	}
	r, err = join(chain)
	return r, len(chain), err
}
