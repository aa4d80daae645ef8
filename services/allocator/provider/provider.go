// Package provider is the interface to hosting systems. A provider gets a server for a match, once, and gives it back.
// Each kind of system has a package that implements Provider, and passes the suites in package conformance.
//
// The allocator may be killed between any two calls, and a message may reach two allocators. So a provider needs no
// state of its own: all calls for a match have the same allocation id, which is derived from project and match.
package provider

import (
	"context"
	"log/slog"

	"github.com/google/uuid"
)

// Provider gets game servers from a hosting system. Its methods are safe for concurrent use, return soon after ctx
// ends, and never put secrets, tickets or match properties into errors or logs.
//
// The caller limits the time of every call with ctx. An *Error is an answer of the hosting system: the call took no
// server. After any other error, like an error of ctx or of a connection, the call may have had its effect.
type Provider interface {
	// Allocate asks for the match's server. It is idempotent by Ref.Allocation. Called again, even at the same time, from
	// another process or after an answer was lost, it answers with the server that the match has or is about to get, and
	// never takes a second one. The server may keep the payload of the first call, although the second has another token.
	// Allocate does not wait for a server that takes long: the result is Pending, and Poll says how it goes on.
	//
	// After an error that is not final the caller calls Allocate again, or gives up. It calls Release when any of its
	// calls may have taken a server. After a result of Failed the match has no server, unless an earlier call whose answer
	// was lost arrives late.
	Allocate(ctx context.Context, r *Request) (Result, error)

	// Poll returns the state of allocations: one result for each ref, in their order. Refs may be any number: the provider
	// splits them into batches. After an error nothing is known of any of them.
	//
	// After Unknown and Gone the caller calls Allocate again if it still wants a server.
	Poll(ctx context.Context, refs []Ref) ([]Result, error)

	// Release gives back a server that no ticket uses. Nothing tells a provider that a game is over: the server ends by
	// the hosting system's own means. Release is also for one that is still Pending, or was never answered. When
	// it returns nil the match has no server; a match that had none is no error. The caller repeats a release that failed.
	// Where Ref.Used is set, Release keeps that server and gives back all others of the match: there may be some when two
	// allocators asked, one after it lost the match. Where the hosting system takes one server for an allocation, whatever
	// happens, there are none.
	//
	// Only the allocator decides to release a server. After that it does not call Allocate for the match again: an
	// Allocate that arrives after its Release leaks a server.
	Release(ctx context.Context, r Ref) error
}

// Ref names an allocation and where it was asked for.
type Ref struct {
	Project string
	Match   string
	Hosting Hosting
	// Used is the connection of the server that tickets use, for Release.
	Used string
}

// allocations is the namespace of the ids of allocations.
var allocations = uuid.MustParse("5f4ba68d-6d0c-4b0a-9d93-9a3d1c2f7f5e")

// Allocation is the allocation's id, a UUID: the idempotency key for the hosting system. It is derived from project and
// match, so all calls for the match have the same one.
func (r Ref) Allocation() string {
	// The name of a project has no slash.
	return uuid.NewSHA1(allocations, []byte(r.Project+"/"+r.Match)).String()
}

// Hosting says where the server is to come from: what the config holds, with the proposal's overrides in place. Which
// of the fields matter, and whether they may be empty, depends on the provider.
type Hosting struct {
	Profile string
	Fleet   string
	// Region is what the proposal asks for; where it is empty the provider's settings may have one.
	Region string
	// Access and Secret are the credentials of the config.
	Access Secret
	Secret Secret
}

// Request is a match that needs a server.
type Request struct {
	Ref
	// Config is the id of the match's config.
	Config string
	Teams  []Team
	// First is set when the match's server was certainly never asked for: the provider need not look for one.
	First bool
	// Properties is the match properties, a JSON object, for the game server and all players; nil when there are none.
	Properties []byte
	// Backfill is the id of the backfill ticket that was created with the match, "" when there is none.
	Backfill string
	// Token is the server's own token for the Backfill API, "" when the installation issues none, or when it was not
	// needed yet. Mint makes it; nil when the installation issues none.
	Token Secret
	Mint  func() (Secret, error) `json:"-"`
}

// Team is a named group of the match's tickets.
type Team struct {
	Name    string   `json:"name"`
	Tickets []string `json:"tickets"`
	// Players are the ids of the players of each ticket, in the order of Tickets. A ticket that has left has none.
	Players [][]string `json:"players,omitempty"`
}

// Status is the state of an allocation.
type Status uint8

// The states of an allocation.
const (
	Unknown   Status = iota // the hosting system cannot tell
	Pending                 // asked for, but not ready
	Allocated               // Connection is set
	Failed                  // there will be no server; Err says why
	Gone                    // there is none: never asked for, released, or its server has ended
)

func (s Status) String() string {
	return [...]string{"unknown", "pending", "allocated", "failed", "gone", "invalid"}[min(s, Gone+1)]
}

// Result is the state of one allocation.
type Result struct {
	Status Status
	// Connection is what players connect to, usually host:port. It is set when Allocated, and does not change.
	Connection string
	// Err is a final error, set when Failed. When Unknown it is why the system cannot tell, if that is known.
	Err error
}

const hidden = "[secret]"

// Secret is a credential. It shows as "[secret]" wherever it is printed, logged
// or encoded; string(s) is the text itself.
type Secret string

// String hides the text from %v and %s.
func (Secret) String() string { return hidden }

// GoString hides the text from %#v.
func (Secret) GoString() string { return hidden }

// LogValue hides the text from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
