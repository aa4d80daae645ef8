// Package agones gets game servers from Agones, through its allocator service, through the API of the Kubernetes
// cluster that it runs in, or both.
//
// Agones' allocations have no id: asked twice it gives two servers. So an allocation labels the match's server, and its
// first selector is for the server with that label. Through Kubernetes the label is looked up before, in the cluster's
// own store. The allocator service looks it up in its cache, which lags for some milliseconds where the service has
// several replicas. deploy/hosting/agones.md says what that may cost.
//
// FACTS.md names the source of each fact about Agones that this package and its tests rely on.
package agones

import (
	"context"
	"errors"
	"slices"
	"strings"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
	"matchmaker.dev/services/internal/platform/keylock"
)

// Provider is a provider.Provider.
type Provider struct {
	options     Options
	allocations allocations
	cluster     *cluster // nil with the allocator service alone
	locks       keylock.Locks
	closers     []func()
}

// New reads the certificates, and makes no call. Close the provider.
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
		p.closers = append(p.closers, c.api.Close)
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
	a, err := p.allocationOf(r)
	if err != nil {
		return provider.Result{}, err
	}
	unlock, err := p.locks.Lock(ctx, r.Allocation())
	if err != nil {
		return provider.Result{}, err
	}
	defer unlock()
	var s *server
	if !r.First { // a list is the most expensive call of all
		if s, err = p.find(ctx, r.Ref); err != nil {
			return provider.Result{}, err
		}
	}
	if s == nil {
		s, err = p.allocations.allocate(ctx, a)
		switch {
		case errors.Is(err, errUnallocated):
			return provider.Result{}, p.whyNone(ctx, a.fleet())
		case err != nil:
			return provider.Result{}, err
		case !p.has(s, r.Ref):
			return provider.Result{}, errors.New("the hosting system answered with the game server of another match")
		}
		p.prune(ctx, s)
	}
	connection, err := p.connection(s)
	if provider.Final(err) {
		// The settings do not fit the fleet: the match must not keep a server that it cannot use.
		if failed := p.release(ctx, r.Ref); failed != nil {
			return provider.Result{}, failed
		}
	}
	if err != nil {
		return provider.Result{}, err
	}
	return provider.Result{Status: provider.Allocated, Connection: connection}, nil
}

// find returns the server that the match has. It is nil when the match has none, or when the allocation itself looks.
func (p *Provider) find(ctx context.Context, r provider.Ref) (*server, error) {
	switch d := p.options.Density; {
	case p.cluster != nil:
		servers, err := p.serversOf(ctx, r)
		if err != nil || len(servers) == 0 {
			return nil, err
		}
		return servers[0], nil
	case d != nil && d.Counter != "":
		// The allocation would find the server too, but count the match a second time.
		s, err := p.allocations.allocate(ctx, &allocation{selectors: []selector{p.selectorOf(r)}})
		if errors.Is(err, errUnallocated) {
			return nil, nil
		}
		return s, err
	}
	return nil, nil
}

// serversOf lists the servers of a match: one, unless two allocators asked for it in the same moment. All callers get
// the same first one.
func (p *Provider) serversOf(ctx context.Context, r provider.Ref) ([]*server, error) {
	label := labelAllocation + "=" + r.Allocation()
	if p.options.Density != nil {
		label = prefixAllocation + r.Allocation() + "=" + held
	}
	servers, err := p.cluster.list(ctx, label)
	if err != nil {
		return nil, err
	}
	servers = slices.DeleteFunc(servers, func(s *server) bool { return !s.runs() || !p.has(s, r) })
	slices.SortFunc(servers, byAge)
	return servers, nil
}

// whyNone says why there is no server.
func (p *Provider) whyNone(ctx context.Context, fleet string) error {
	empty := provider.Fail(provider.FleetEmpty, "fleet %s has no free game server", fleet)
	if p.cluster == nil {
		return empty
	}
	never, err := p.cluster.neverGrows(ctx, fleet)
	switch {
	case errors.Is(err, errNoFleet):
		return provider.Fail(provider.Refused, "hosting: there is no fleet %s", fleet)
	case err != nil:
		p.options.Log.DebugContext(ctx, "looking up why a fleet is empty", "fleet", fleet, "error", err)
		return empty
	case never:
		return provider.Fail(provider.MaximumZero, "the hosting maximum of fleet %s is zero", fleet)
	}
	return empty
}

// Poll looks up the matches' servers. The allocator service cannot be asked: with it alone they are Unknown.
func (p *Provider) Poll(ctx context.Context, refs []provider.Ref) ([]provider.Result, error) {
	results := make([]provider.Result, len(refs))
	if p.cluster == nil || len(refs) == 0 {
		return results, nil
	}
	var servers []*server
	for _, label := range p.labelSelectors(refs) {
		some, err := p.cluster.list(ctx, label)
		if err != nil {
			return nil, err
		}
		servers = append(servers, some...)
	}
	slices.SortFunc(servers, byAge)
	for i, r := range refs {
		results[i].Status = provider.Gone
		n := slices.IndexFunc(servers, func(s *server) bool { return s.runs() && p.has(s, r) })
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

// maxIDs is how many allocations one list names, in some 4 kB of a URL.
const maxIDs = 100

// labelSelectors select the servers of all refs.
func (p *Provider) labelSelectors(refs []provider.Ref) []string {
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

// Release deletes the match's server, and the fleet replaces it. Where deleting is not allowed, or the server takes
// several matches, Release marks the server as released, and its process sees that.
func (p *Provider) Release(ctx context.Context, r provider.Ref) error {
	unlock, err := p.locks.Lock(ctx, r.Allocation())
	if err != nil {
		return err
	}
	defer unlock()
	if r.Used != "" {
		return p.releaseOthers(ctx, r)
	}
	return p.release(ctx, r)
}

func (p *Provider) release(ctx context.Context, r provider.Ref) error {
	if p.cluster == nil {
		return p.unmarkAll(ctx, r)
	}
	if p.options.Density == nil && !p.options.Kubernetes.Keep {
		err := p.deleteAll(ctx, r)
		if errors.Is(err, errChanged) { // it may be another match's by now: look again
			err = p.deleteAll(ctx, r)
		}
		if !errors.Is(err, errMayNotDelete) {
			return err
		}
		p.options.Log.WarnContext(ctx, "game servers may not be deleted: a released one is only marked",
			"allocation", r.Allocation())
	}
	servers, err := p.serversOf(ctx, r)
	if err != nil || len(servers) == 0 {
		return err
	}
	if err := p.unmarkAll(ctx, r); err != nil {
		return err
	}
	// The allocator's cache may not know the server yet.
	if servers, err = p.serversOf(ctx, r); err == nil && len(servers) > 0 {
		err = errors.New("the game server is not released yet")
	}
	return err
}

// releaseOthers deletes the servers of a match but the one that is used. Without the right to delete them, or where
// servers take several matches, nothing names a single one: they end by their own means.
func (p *Provider) releaseOthers(ctx context.Context, r provider.Ref) error {
	if p.cluster == nil || p.options.Density != nil || p.options.Kubernetes.Keep {
		p.options.Log.WarnContext(ctx, "a second game server of a match, if there is one, is not released: the settings "+
			"do not let single servers be deleted", "allocation", r.Allocation())
		return nil
	}
	servers, err := p.serversOf(ctx, r)
	if err != nil || len(servers) < 2 {
		return err
	}
	var others []*server
	for _, s := range servers {
		connection, err := p.connection(s)
		if err != nil {
			return err
		}
		if connection != r.Used {
			others = append(others, s)
		}
	}
	if len(others) == len(servers) {
		return errors.New("the match has several game servers, and the one that is used is not among them")
	}
	for _, s := range others {
		if err := p.cluster.delete(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *Provider) deleteAll(ctx context.Context, r provider.Ref) error {
	servers, err := p.serversOf(ctx, r)
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

// unmarkAll takes the match from every server of it that the allocator's cache knows: usually one.
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

// prune removes the data of matches that are over from a server: nothing else does, and Kubernetes limits its size.
// Only a list says which matches are over. When prune fails, it is tried with the next match.
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
		p.options.Log.WarnContext(ctx, "removing the data of former matches from a game server",
			"server", s.Name, "error", transport.Redact(err.Error()))
	}
}

// maxOver is how many former matches a server may have data of.
const maxOver = 8
