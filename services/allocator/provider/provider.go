// Package provider is what the allocator asks of a hosting system: a server for a match, once, and back again. Each
// kind of system has a package that implements Provider, and passes the suite in package conformance.
//
// The allocator may be killed between any two calls, and a message may reach two allocators. So a provider keeps
// nothing that it could not do without: what belongs together is told by the id of the allocation, which every call can
// derive from project and match.
package provider

import (
	"context"

	"github.com/google/uuid"
)

// Provider gets game servers from a hosting system. Its methods are safe for concurrent use, return soon after ctx
// ends, and never put secrets, tickets or match properties into errors or logs.
//
// The caller bounds every call with ctx. An *Error is an answer of the hosting system: the call took no server. Other
// errors, those of ctx and of connections among them, mean that the call may have had its effect or not.
type Provider interface {
	// Allocate asks for the match's server. It is idempotent by Ref.Allocation: called again, at the same time, from
	// another process or after an answer that was lost, it answers with the server that the match has or is about to get,
	// and never takes a second one. What the first call told the server may stay, also where the second has another token.
	// It does not wait for a server that is long in coming: that is Pending, and Poll tells how it goes on.
	//
	// After an error that is not final the caller asks again, or gives up. It calls Release when any of its calls may have
	// taken a server. With a result of Failed the match holds nothing.
	Allocate(ctx context.Context, r *Request) (Result, error)

	// Poll tells how allocations stand: one result for each ref, in their order. The caller passes as many as it has,
	// batches are the provider's affair. An error concerns the call: nothing was learned of any of them.
	//
	// After Unknown and Gone the caller that still wants a server calls Allocate again.
	Poll(ctx context.Context, refs []Ref) ([]Result, error)

	// Release gives the match's server back, also one that is still Pending, or whose allocation was never answered. Once
	// it returned nil the match holds nothing; a match that held nothing is no error. The caller repeats a release that
	// failed until it is done. Only the allocator decides to release, and after it began to it does not call Allocate for
	// that match any more: an Allocate that is overtaken by a Release would leak its server.
	Release(ctx context.Context, r Ref) error
}

// Ref names an allocation and where it was asked for.
type Ref struct {
	Project string
	Match   string
	Hosting Hosting
}

// allocations is the namespace of the ids of allocations.
var allocations = uuid.MustParse("5f4ba68d-6d0c-4b0a-9d93-9a3d1c2f7f5e")

// Allocation is the allocation's id, a UUID: the idempotency key towards the hosting system. It is derived
// from project and match, so that all who ever ask for the match use the same one.
func (r Ref) Allocation() string {
	// No project's name has a slash.
	return uuid.NewSHA1(allocations, []byte(r.Project+"/"+r.Match)).String()
}

// Hosting says where the server is to come from: what the config holds, with the proposal's overrides in place. Which
// of the fields matter, and whether they may be empty, depends on the provider.
type Hosting struct {
	Profile string
	Fleet   string
	// Region is what the proposal asks for; where it is empty the provider's settings may have one.
	Region string
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
	// First is set when it is certain that nobody asked for the match's server before: there is none to be found.
	First bool
	// Properties is the match properties, a JSON object, for the game server and
	// all players. Nil when the match function set none.
	Properties []byte
	// Backfill is the id of the backfill ticket that was made together with the match, "" when there is none.
	Backfill string
	// Token is the server's own token for the Backfill API, "" when the installation issues none.
	Token Secret
}

// Team is a named group of the match's tickets.
type Team struct {
	Name    string   `json:"name"`
	Tickets []string `json:"tickets"`
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
	Unknown   Status = iota // the hosting system cannot be asked about it
	Pending                 // asked for, not there yet
	Allocated               // Connection is where the players go
	Failed                  // there will be none, Err says why; nothing is held
	Gone                    // there is none: it never was, was released, or its server has ended
)

func (s Status) String() string {
	return [...]string{"unknown", "pending", "allocated", "failed", "gone", "invalid"}[min(s, Gone+1)]
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
