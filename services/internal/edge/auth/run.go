package auth

import (
	"context"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/wait"
)

// Run loads the keys of all issuers and keeps them fresh until ctx ends, so that requests rarely wait for an issuer,
// and withdrawn keys stop being good. Without it keys are loaded when a token needs them, and never dropped.
func (v *Verifier) Run(ctx context.Context) error {
	for range wait.Every(ctx, loadEvery) {
		for _, i := range v.issuers {
			i.keys.load(ctx, refreshEvery)
		}
	}
	return nil
}

// Ready reports whether the keys of every issuer were loaded at least once, and tries to load those that were not.
func (v *Verifier) Ready(ctx context.Context) error {
	for name, i := range v.issuers {
		i.keys.load(ctx, refreshEvery)
		if i.keys.keys.Load() == nil {
			return problem.New(problem.Unavailable, "the keys of issuer %s are not loaded", name)
		}
	}
	return nil
}
