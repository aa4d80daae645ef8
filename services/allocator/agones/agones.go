// Package agones gets game servers from Agones, through its allocator service, through the API of the Kubernetes cluster
// it runs in, or both.
//
// Agones' allocations have no id of their own: asked twice it gives two servers. So a match's server is labelled
// with its allocation, and an allocation asks first for the server with that label. Through Kubernetes the label is looked up
// before, in the cluster's own books; the allocator service looks it up in its cache, which lags behind for some milliseconds where
// the service has several replicas. What may be lost by that is said in deploy/hosting/agones.md.
//
// FACTS.md names the source of each fact about Agones that this package and its tests rely on.
package agones

import (
	"context"
	"errors"
	"slices"
	"strings"

	"matchmaker.dev/services/allocator/keylock"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
)

// Provider is a provider.Provider.
type Provider struct {
	options     Options
	allocations allocations
	cluster     *cluster // nil with the allocator service alone
	locks       keylock.Locks
	closers     []func()
}

// New reads the certificates, and calls nobody. Close it.
func New(o Options) (*Provider, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &Provider{options: o}
	if o.Kubernetes != nil {
		c, err := newCluster(&o)
		if err != nil {
			return nil, err
		}
		p.cluster, p.allocations = c, c
		p.closers = append(p.closers, c.close)
	}
	if o.Service != nil {
		s, err := newService(&o)
		if err != nil {
			p.Close()
			return nil, err
		}
		p.allocations = s
		p.closers = append(p.closers, s.client.Close)
	}
	return p, nil
}

// Close ends idle connections.
func (p *Provider) Close() {
	for _, c := range p.closers {
		c()
	}
}

// Allocate asks Agones for a server, or finds the one that the match has.
func (p *Provider) Allocate(ctx context.Context, r *provider.Request) (provider.Result, error) {
	ask, err := p.ask(r)
	if err != nil {
		return provider.Result{}, err
	}
	unlock, err := p.locks.Lock(ctx, r.Allocation())
	if err != nil {
		return provider.Result{}, err
	}
	defer unlock()
	var s *server
	if !r.First { // a list of all game servers is the most expensive of what is asked here
		if s, err = p.find(ctx, r.Ref); err != nil {
			return provider.Result{}, err
		}
	}
	if s == nil {
		s, err = p.allocations.allocate(ctx, ask)
		switch {
		case errors.Is(err, errUnallocated):
			return provider.Result{}, p.none(ctx, ask.fleet())
		case err != nil:
			return provider.Result{}, err
		case !p.holds(s, r.Ref):
			return provider.Result{}, errors.New("the hosting system answered with a game server that is not the match's")
		}
		p.prune(ctx, s)
	}
	connection, err := p.connection(s)
	if provider.Final(err) {
		// The settings do not fit the fleet: the match must not keep what it cannot use.
		if failed := p.release(ctx, r.Ref); failed != nil {
			return provider.Result{}, failed
		}
	}
	if err != nil {
		return provider.Result{}, err
	}
	return provider.Result{Status: provider.Allocated, Connection: connection}, nil
}

// find is the server that the match has, nil when it has none or when the allocation itself will look.
func (p *Provider) find(ctx context.Context, r provider.Ref) (*server, error) {
	switch d := p.options.Density; {
	case p.cluster != nil:
		servers, err := p.own(ctx, r)
		if err != nil || len(servers) == 0 {
			return nil, err
		}
		return servers[0], nil
	case d != nil && d.Counter != "":
		// The allocation would find it too, but count the match a second time.
		s, err := p.allocations.allocate(ctx, &allocation{selectors: []selector{p.mine(r)}})
		if errors.Is(err, errUnallocated) {
			return nil, nil
		}
		return s, err
	}
	return nil, nil
}

// own are the servers that the cluster knows to be the match's: one, unless two allocators asked for it in the same moment. The
// first is the same for all who ask.
func (p *Provider) own(ctx context.Context, r provider.Ref) ([]*server, error) {
	label := labelAllocation + "=" + r.Allocation()
	if p.options.Density != nil {
		label = prefixAllocation + r.Allocation() + "=" + held
	}
	servers, err := p.cluster.list(ctx, label)
	if err != nil {
		return nil, err
	}
	servers = slices.DeleteFunc(servers, func(s *server) bool { return !s.runs() || !p.holds(s, r) })
	slices.SortFunc(servers, byAge)
	return servers, nil
}

// none says why there is no server.
func (p *Provider) none(ctx context.Context, fleet string) error {
	empty := provider.Fail(provider.FleetEmpty, "fleet %s has no free game server", fleet)
	if p.cluster == nil {
		return empty
	}
	never, err := p.cluster.neverGrows(ctx, fleet)
	switch {
	case errors.Is(err, errNoFleet):
		return provider.Fail(provider.Refused, "hosting: there is no fleet %s", fleet)
	case err != nil:
		p.options.Log.DebugContext(ctx, "looking why a fleet is empty", "fleet", fleet, "error", err)
		return empty
	case never:
		return provider.Fail(provider.MaximumZero, "the hosting maximum of fleet %s is zero", fleet)
	}
	return empty
}

// Poll looks the matches' servers up. The allocator service cannot be asked.
func (p *Provider) Poll(ctx context.Context, refs []provider.Ref) ([]provider.Result, error) {
	results := make([]provider.Result, len(refs))
	if p.cluster == nil || len(refs) == 0 {
		return results, nil
	}
	var servers []*server
	for _, label := range p.labels(refs) {
		some, err := p.cluster.list(ctx, label)
		if err != nil {
			return nil, err
		}
		servers = append(servers, some...)
	}
	slices.SortFunc(servers, byAge)
	for i, r := range refs {
		results[i].Status = provider.Gone
		n := slices.IndexFunc(servers, func(s *server) bool { return s.runs() && p.holds(s, r) })
		if n < 0 {
			continue
		}
		connection, err := p.connection(servers[n])
		if err != nil {
			return nil, err
		}
		results[i] = provider.Result{Status: provider.Allocated, Connection: connection}
	}
	return results, nil
}

// maxIDs is how many allocations one look-up names: some 4 kB of a URL.
const maxIDs = 100

// labels are label selectors that select the servers of all refs.
func (p *Provider) labels(refs []provider.Ref) []string {
	if p.options.Density != nil {
		return []string{labelDense + "=true"}
	}
	var ids []string
	for _, r := range refs {
		ids = append(ids, r.Allocation())
	}
	var labels []string
	for chunk := range slices.Chunk(ids, maxIDs) {
		labels = append(labels, labelAllocation+" in ("+strings.Join(chunk, ",")+")")
	}
	return labels
}

// Release deletes the match's server, which the fleet replaces, where that is allowed and the server is the match's
// alone. Otherwise it marks the server as released, for its process to see.
func (p *Provider) Release(ctx context.Context, r provider.Ref) error {
	unlock, err := p.locks.Lock(ctx, r.Allocation())
	if err != nil {
		return err
	}
	defer unlock()
	return p.release(ctx, r)
}

func (p *Provider) release(ctx context.Context, r provider.Ref) error {
	if p.cluster == nil {
		return p.unmarkAll(ctx, r)
	}
	if p.options.Density == nil && !p.options.Kubernetes.Keep {
		err := p.deleteAll(ctx, r)
		if errors.Is(err, errChanged) { // its state, its labels: whether it is still the match's has to be seen
			err = p.deleteAll(ctx, r)
		}
		if !errors.Is(err, errMayNotDelete) {
			return err
		}
		p.options.Log.WarnContext(ctx, "game servers may not be deleted: a released one is only marked", "allocation", r.Allocation())
	}
	servers, err := p.own(ctx, r)
	if err != nil || len(servers) == 0 {
		return err
	}
	if err := p.unmarkAll(ctx, r); err != nil {
		return err
	}
	// The allocator's cache may not have known the server yet.
	if servers, err = p.own(ctx, r); err == nil && len(servers) > 0 {
		err = errors.New("the game server is not released yet")
	}
	return err
}

func (p *Provider) deleteAll(ctx context.Context, r provider.Ref) error {
	servers, err := p.own(ctx, r)
	if err != nil {
		return err
	}
	for _, s := range servers {
		if err := p.cluster.delete(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// unmarkAll takes the match from every server that the allocator's cache knows it has: one, in all likelihood.
func (p *Provider) unmarkAll(ctx context.Context, r provider.Ref) error {
	for range 3 {
		_, err := p.allocations.allocate(ctx, p.unmark(r))
		switch {
		case errors.Is(err, errUnallocated):
			return nil
		case err != nil:
			return err
		}
	}
	return errors.New("the game server is not released yet")
}

// prune removes what servers were told of matches that are over: nobody else does, and Kubernetes limits it. It can be known of
// lists only. What is not pruned now is with the next match.
func (p *Provider) prune(ctx context.Context, s *server) {
	d := p.options.Density
	if p.cluster == nil || d == nil || d.List == "" {
		return
	}
	over := s.over(d.List)
	if len(over) < maxOver {
		return
	}
	if err := p.cluster.forget(ctx, s, over); err != nil {
		p.options.Log.WarnContext(ctx, "pruning what a game server was told of former matches", "server", s.Name, "error", transport.Words(err.Error()))
	}
}

// maxOver is how many former matches a server may be burdened with.
const maxOver = 8
