// Package provider is what the allocator asks of a hosting system: a server for
// a match, once, and back again. Each kind of system has a package that
// implements Provider, and passes the suite in package conformance.
//
// The allocator may be killed between any two calls, and a message may reach two
// allocators. So a provider keeps nothing that it could not do without: what
// belongs together is told by project and match, which every call names.
package provider

import (
	"context"

	"matchmaker.dev/services/internal/fault"
)

// Provider gets game servers from a hosting system. Its methods are safe for
// concurrent use, return soon after ctx ends, and never put secrets, tickets or
// match properties into errors or logs.
//
// Errors are of package fault; Final tells which of them end the matter.
type Provider interface {
	// Allocate asks for the match's server. It is idempotent by project and match:
	// called again, at the same time or from another process, it answers with the
	// server that the match has or is about to get, and never takes a second one.
	// It does not wait for a server that is long in coming: that is Pending, and
	// Poll tells how it goes on.
	//
	// After a final error, and with a result of Failed, the match holds nothing.
	// After any other error it may hold a server: the caller asks again, or gives
	// up and calls Release.
	Allocate(ctx context.Context, r *Request) (Result, error)

	// Poll tells how allocations stand: one result for each ref, in their order.
	// The caller passes as many as it has, batches are the provider's affair. An
	// error concerns the call: nothing was learned of any of them.
	//
	// Unknown means that no allocation is in sight, because it never was, was
	// released, the server has gone, or the hosting system cannot be asked about
	// it. The caller that still wants a server calls Allocate again.
	Poll(ctx context.Context, refs []Ref) ([]Result, error)

	// Release gives the match's server back, also one that is still Pending, or
	// whose allocation was never answered. Once it returned nil the match holds
	// nothing; a match that held nothing is no error. Only the allocator decides
	// to release, and after it began to it does not call Allocate for that match
	// any more: an Allocate that is overtaken by a Release would leak its server.
	Release(ctx context.Context, r Ref) error
}

// Ref names an allocation and where it was asked for.
type Ref struct {
	Project string
	Match   string
	Hosting Hosting
}

// Hosting says where the server is to come from: what the config holds, with the
// proposal's overrides in place. Which of the fields matter, and whether they
// may be empty, depends on the provider.
type Hosting struct {
	Profile string
	Fleet   string
	Region  string
	// Access and Secret are the credentials that the config brought along.
	Access Secret
	Secret Secret
}

// Request is a match that needs a server.
type Request struct {
	Ref
	// Config is the id of the config that the match came from.
	Config string
	Teams  []Team
	// Properties is the match properties, a JSON object, for the game server and
	// all players. Nil when the match function set none.
	Properties []byte
}

// Team is a named group of the match's tickets.
type Team struct {
	Name    string
	Tickets []string
}

// Tickets is the ids of all players whom the server should admit, team by team.
func (r *Request) Tickets() []string {
	var all []string
	for _, t := range r.Teams {
		all = append(all, t.Tickets...)
	}
	return all
}

// Status is how far an allocation is.
type Status uint8

// The stages of an allocation.
const (
	Unknown   Status = iota // none in sight: see Poll
	Pending                 // asked for, not there yet
	Allocated               // Connection is where the players go
	Failed                  // there will be none, Err says why; nothing is held
)

func (s Status) String() string {
	return [...]string{"unknown", "pending", "allocated", "failed"}[min(s, Failed)]
}

// Result is how one allocation stands.
type Result struct {
	Status Status
	// Connection is what players connect to, usually host:port. Set when
	// Allocated, and the same for as long as the allocation lives.
	Connection string
	// Err is a final error, set when Failed.
	Err error
}

// Final tells that asking again leads nowhere: the error's kind says that the
// hosting system understood and declined. No room in the fleet is Conflict, an
// unknown fleet or profile NotFound, refused credentials Forbidden, a request
// that the system cannot make sense of Invalid. Everything else, a dependency
// that is away, a limit on calls, an error of no kind, may pass: with a backoff,
// and not before a fault's RetryAfter.
func Final(err error) bool {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Unauthenticated, fault.Forbidden, fault.NotFound, fault.Conflict, fault.TooLarge:
		return err != nil
	}
	return false
}
