// Package invocationtest has an instance that needs no sandbox.
package invocationtest

import (
	"context"
	"slices"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/services/internal/sandbox"
)

// Native runs a function in this process. It implements invocation.Instance.
type Native struct{ *matchfn.Function }

// Name implements invocation.Instance, as the methods below do.
func (Native) Name() string { return "native" }

// Buffer is none: requests are copied.
func (Native) Buffer() []byte { return nil }

// ReleaseBuffer does nothing.
func (Native) ReleaseBuffer() {}

// Memory is 1 GiB.
func (Native) Memory() int { return 1 << 30 }

// Reserves is false.
func (Native) Reserves(int) bool { return false }

// Reserve is not called.
func (Native) Reserve(context.Context, int, time.Duration) ([]byte, error) { return nil, nil }

// Run runs the function.
func (n Native) Run(_ context.Context, request []byte, _ time.Duration) ([]byte, sandbox.Stats, error) {
	return slices.Clone(n.Answer(request)), sandbox.Stats{}, nil
}
