// Package multiplay gets game servers from Multiplay Clanforge, with the fleet, the profile and the keys of each
// config.
//
// Clanforge queues an allocation under a UUID that the caller chooses, and can be polled by it. So a lost answer costs
// nothing: the next call first looks up the UUID.
//
// FACTS.md names the source of each fact about Clanforge that this package and its tests rely on, and what could not be
// found out.
package multiplay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
	"matchmaker.dev/services/internal/platform/keylock"
)

// Provider is a provider.Provider.
type Provider struct {
	options Options
	api     *api
	locks   keylock.Locks
}

// New makes no call. Close the provider.
func New(o Options) (*Provider, error) {
	endpoint, err := o.check()
	if err != nil {
		return nil, err
	}
	client, err := transport.New(transport.Options{CA: o.CA, Timeout: o.Timeout, Log: o.Log, Now: o.Now})
	if err != nil {
		return nil, err
	}
	return &Provider{options: o, api: &api{client: client, url: endpoint.String(), auth: o.Auth, now: o.Now}}, nil
}

// Close ends idle connections.
func (p *Provider) Close() { p.api.client.Close() }

// maxPayload is what Clanforge takes: 30 KB.
const maxPayload = 30_000

// Allocate queues an allocation, unless it is queued already.
func (p *Provider) Allocate(ctx context.Context, r *provider.Request) (provider.Result, error) {
	account := newAccount(r.Hosting)
	if err := account.check(); err != nil {
		return provider.Result{}, err
	}
	region, err := p.region(r.Hosting.Region)
	if err != nil {
		return provider.Result{}, err
	}
	if !number(r.Hosting.Profile) {
		return provider.Result{}, provider.Fail(provider.Refused,
			"hosting: Profile %q is no number, as the ids of profiles are", r.Hosting.Profile)
	}
	query := url.Values{"regionid": {region}, "profileid": {r.Hosting.Profile}, "uuid": {r.Allocation()}}
	var payload []byte
	if !p.options.NoPayload {
		if payload, err = r.PayloadWithin(maxPayload); err != nil {
			return provider.Result{}, err
		}
		if len(payload) > maxPayload {
			return provider.Result{}, provider.Fail(provider.Refused,
				"teams and match properties take %d bytes, a payload of Multiplay takes %d", len(payload), maxPayload)
		}
		query.Set("project_guid", p.options.ProjectGUID)
		account.match = r.Secret()
	}
	unlock, err := p.locks.Lock(ctx, r.Allocation())
	if err != nil {
		return provider.Result{}, err
	}
	defer unlock()
	if result, err := p.lookUp(ctx, account, r.Ref); err != nil || result.Status != provider.Gone {
		return result, err
	}
	err = p.api.allocate(ctx, p.options.API, account, query, payload)
	if err == nil {
		return provider.Result{Status: provider.Pending}, nil
	}
	if provider.Final(err) && !errors.Is(err, errForbidden) {
		// A repeated call may be refused because the first one was accepted. Then the UUID is known.
		if result, lost := p.lookUp(ctx, account, r.Ref); lost != nil || result.Status != provider.Gone {
			return result, lost
		}
	}
	return provider.Result{}, err
}

// lookUp returns the state of one allocation.
func (p *Provider) lookUp(ctx context.Context, a account, r provider.Ref) (provider.Result, error) {
	known, err := p.api.allocations(ctx, a, []string{r.Allocation()})
	if err != nil {
		return provider.Result{}, err
	}
	return p.result(ctx, a, known[r.Allocation()], r.Allocation())
}

// result translates Clanforge's answer about an allocation. It takes back a failed allocation, so that it holds
// nothing.
func (p *Provider) result(ctx context.Context, a account, known *allocation, id string) (provider.Result, error) {
	switch {
	case known == nil:
		return provider.Result{Status: provider.Gone}, nil
	case known.Error != "":
		if err := p.api.deallocate(ctx, p.options.API, a, id); err != nil && !known.hasFailed() {
			return provider.Result{}, err
		}
		return provider.Result{Status: provider.Failed, Err: refusal(known.Error, a.secrets()...)}, nil
	}
	if connection := known.connection(p.options.IPv6); connection != "" && (known.Ready != "" || !p.options.WaitReady) {
		return provider.Result{Status: provider.Allocated, Connection: connection}, nil
	}
	return provider.Result{Status: provider.Pending}, nil
}

// maxIDs is how many allocations Clanforge takes in one call.
const maxIDs = 100

// Poll asks about all allocations of a fleet together.
func (p *Provider) Poll(ctx context.Context, refs []provider.Ref) ([]provider.Result, error) {
	of := func(r provider.Ref) account { return newAccount(r.Hosting) }
	return provider.PollGroups(refs, maxIDs, of, func(a account, some []provider.Ref) ([]provider.Result, error) {
		results := make([]provider.Result, len(some))
		if err := a.check(); err != nil { // no server was ever asked for
			for i := range results {
				results[i] = provider.Result{Status: provider.Failed, Err: err}
			}
			return results, nil
		}
		var ids []string
		for _, r := range some {
			if !slices.Contains(ids, r.Allocation()) {
				ids = append(ids, r.Allocation())
			}
		}
		known, err := p.api.allocations(ctx, a, ids)
		if err != nil {
			return nil, err
		}
		for i, r := range some {
			if results[i], err = p.result(ctx, a, known[r.Allocation()], r.Allocation()); err != nil {
				results[i].Err = err
			}
		}
		return results, nil
	})
}

// Release takes an allocation back, queued or fulfilled.
func (p *Provider) Release(ctx context.Context, r provider.Ref) error {
	if r.Used != "" {
		return nil // Multiplay has one server for each allocation
	}
	a := newAccount(r.Hosting)
	if a.check() != nil {
		return nil // no server was ever asked for
	}
	unlock, err := p.locks.Lock(ctx, r.Allocation())
	if err != nil {
		return err
	}
	defer unlock()
	err = p.api.deallocate(ctx, p.options.API, a, r.Allocation())
	if err == nil || errors.Is(err, errForbidden) {
		return err
	}
	// Clanforge does not document its answer when there is nothing to take back. The UUID is unknown then.
	known, lost := p.api.allocations(ctx, a, []string{r.Allocation()})
	if one := known[r.Allocation()]; lost == nil && (one == nil || one.hasFailed()) {
		return nil
	}
	return fmt.Errorf("give the allocation back: %w", err)
}

// account is a fleet and its keys, and what no error of a call may repeat of its match.
type account struct {
	fleet          string
	access, secret provider.Secret
	match          string
}

func (a account) secrets() []string { return []string{string(a.access), string(a.secret), a.match} }

func newAccount(h provider.Hosting) account { return account{h.Fleet, h.Access, h.Secret, ""} }

func (a account) check() error {
	switch {
	case a.fleet == "":
		return provider.Fail(provider.Refused, "hosting: FleetId is missing")
	case !plain(a.fleet):
		return provider.Fail(provider.Refused, "hosting: FleetId %q is no id of a fleet", a.fleet)
	case a.access == "" || a.secret == "":
		return provider.Fail(provider.Refused, "hosting: Access and Secret are missing")
	}
	return nil
}

func (p *Provider) region(asked string) (string, error) {
	asked = cmp.Or(asked, p.options.Region)
	if id := p.options.Regions[asked]; id != "" {
		asked = id
	}
	switch {
	case asked == "":
		return "", provider.Fail(
			provider.Refused, "hosting: the match function asks for no region, and the installation has no default",
		)
	case !plain(asked):
		return "", provider.Fail(provider.Refused, "hosting: the region of the match is no id of a region")
	}
	return asked, nil
}

// plain reports whether a text can be an id in a path or a query: letters, digits, '-', '_' and '.'.
func plain(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return text != "." && text != ".." && len(text) <= 128 && strings.Trim(text, letters) == ""
}

func number(text string) bool {
	return text != "" && len(text) <= 19 && !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}
