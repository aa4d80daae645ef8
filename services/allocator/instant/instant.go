// Package instant is a provider that gives every match the same connection at once: for benchmarks, and for studios
// that try matchmaking without servers.
package instant

import (
	"context"

	"matchmaker.dev/services/allocator/provider"
)

// Provider answers with a fixed connection, and has no state.
type Provider struct {
	connection string
}

// New returns a provider of one connection.
func New(connection string) *Provider { return &Provider{connection: connection} }

// Allocate answers Allocated.
func (p *Provider) Allocate(context.Context, *provider.Request) (provider.Result, error) {
	return provider.Result{Status: provider.Allocated, Connection: p.connection}, nil
}

// Poll answers Unknown: Allocate has answered already.
func (p *Provider) Poll(_ context.Context, refs []provider.Ref) ([]provider.Result, error) {
	return make([]provider.Result, len(refs)), nil
}

// Release does nothing.
func (p *Provider) Release(context.Context, provider.Ref) error { return nil }
