// Package instant is a provider that gives every match the same connection at
// once: for benchmarks, and for studios that try matchmaking without servers.
package instant

import (
	"context"

	"matchmaker.dev/services/allocator/provider"
)

// Provider answers with a fixed connection and keeps nothing.
type Provider struct {
	connection string
}

// New returns a provider whose servers are all at connection.
func New(connection string) *Provider { return &Provider{connection: connection} }

// Allocate answers Allocated.
func (p *Provider) Allocate(context.Context, *provider.Request) (provider.Result, error) {
	return provider.Result{Status: provider.Allocated, Connection: p.connection}, nil
}

// Poll knows of no allocation: Allocate has the answer.
func (p *Provider) Poll(_ context.Context, refs []provider.Ref) ([]provider.Result, error) {
	return make([]provider.Result, len(refs)), nil
}

// Release has nothing to give back.
func (p *Provider) Release(context.Context, provider.Ref) error { return nil }
