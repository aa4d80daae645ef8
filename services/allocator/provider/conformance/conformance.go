// Package conformance is the suite of tests that every provider passes, each against a real or faithful hosting system.
package conformance

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/provider"
)

// patience is how long a server may take to start or end.
const patience = 30 * time.Second

// Room is how many servers a test may hold at once.
const Room = 16

// Fixture is a provider under test, with an unused fleet of at least Room servers, and access to its hosting system. A
// func that is nil skips the tests that need it: the fixture should say why.
type Fixture struct {
	Provider provider.Provider
	// Hosting is what requests ask for.
	Hosting provider.Hosting
	// InUse counts the allocated servers, by the hosting system's own records.
	InUse func() int
	// PayloadOf is the payload of the match's server, as the hosting system has it: the JSON of a provider.Payload, or
	// false when there is none.
	PayloadOf func(r provider.Ref) ([]byte, bool)
	// Lose makes the hosting system execute the next call and lose the answer.
	Lose func()
	// Exhaust leaves the fleet without a free server until refill is called.
	Exhaust func() (refill func())
	// Maximum sets the hosting maximum of the fleet or its region to zero.
	Maximum func()
	// Contend makes the next call fail as if others were faster, or the system were busy.
	Contend func()
	// Strange is hosting that the system refuses: an unknown fleet, or wrong credentials.
	Strange *provider.Hosting
	// End ends the match's server without the provider, like a server whose game is over.
	End func(r provider.Ref)
}

// Run tests the contract of provider.Provider. It calls open for each test, which ends what it started with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	tests := []struct {
		name string
		run  func(t *testing.T, f Fixture)
	}{
		{"a match gets a server", allocates},
		{"asking again gives the same server", repeats},
		{"many ask for one match at once", races},
		{"matches of two projects are two", projects},
		{"polling many, known and not", polls},
		{"releasing gives the server back", releases},
		{"releasing what was never held", releasesNothing},
		{"a context that has ended", cancelled},
		{"the server gets its payload", tellsPayload},
		{"a match of more players than a payload takes", leavesOutPlayers},
		{"an allocation whose answer was lost", losesAllocation},
		{"a release whose answer was lost", losesRelease},
		{"an empty fleet", empties},
		{"a hosting maximum of zero", forbids},
		{"contention", contends},
		{"hosting that is refused", refuses},
		{"a server whose game is over", ends},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func allocates(t *testing.T, f Fixture) {
	if f.allocate(t, f.request("p", "m")) == "" {
		t.Error("Allocated without a connection")
	}
	f.expectInUse(t, 1)
}

func repeats(t *testing.T, f Fixture) {
	r := f.request("p", "m")
	first := f.allocate(t, r)
	for range 3 {
		if again := f.allocate(t, r); again != first {
			t.Fatalf("asked again, the match got %s, it had %s", again, first)
		}
	}
	results, err := f.Provider.Poll(t.Context(), []provider.Ref{r.Ref})
	if err != nil {
		t.Fatal(err)
	}
	if s := results[0]; s.Status != provider.Unknown && (s.Status != provider.Allocated || s.Connection != first) {
		t.Errorf("Poll says %v at %q, Allocate said %s", s.Status, s.Connection, first)
	}
	f.expectInUse(t, 1)
}

func races(t *testing.T, f Fixture) {
	r := f.request("p", "m")
	got := make([]string, 16)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = f.allocate(t, r) })
	}
	all.Wait()
	for _, connection := range got {
		if connection != got[0] {
			t.Fatalf("one match got several servers: %v", got)
		}
	}
	f.expectInUse(t, 1)
}

func projects(t *testing.T, f Fixture) {
	one, two := f.request("p", "m"), f.request("q", "m")
	f.allocate(t, one)
	kept := f.allocate(t, two)
	f.expectInUse(t, 2)
	f.release(t, one.Ref)
	f.expectInUse(t, 1)
	if got := f.allocate(t, two); got != kept {
		t.Errorf("releasing a match moved its namesake of another project from %s to %s", kept, got)
	}
}

func polls(t *testing.T, f Fixture) {
	if results, err := f.Provider.Poll(t.Context(), nil); err != nil || len(results) != 0 {
		t.Errorf("Poll of nothing: %v, %v", results, err)
	}
	// More refs than any hosting system takes in one call.
	const many, every = 230, 23
	var refs []provider.Ref
	var all sync.WaitGroup
	connections := make([]string, many)
	for i := range many {
		r := f.request("p", fmt.Sprint("m", i))
		refs = append(refs, r.Ref)
		if i%every == 0 {
			all.Go(func() { connections[i] = f.allocate(t, r) })
		}
	}
	all.Wait()
	want := map[int]string{}
	for i := 0; i < many; i += every {
		want[i] = connections[i]
	}
	refs = append(refs, refs[0])
	want[many] = want[0]
	results, err := f.Provider.Poll(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(refs) {
		t.Fatalf("%d results for %d refs", len(results), len(refs))
	}
	for i, r := range results {
		switch connection, known := want[i]; {
		case !known && r.Status != provider.Unknown && r.Status != provider.Gone:
			t.Errorf("match %d was never allocated and is %v", i, r.Status)
		case known && r.Status != provider.Unknown && (r.Status != provider.Allocated || r.Connection != connection):
			t.Errorf("match %d is %v at %q, it was allocated at %s", i, r.Status, r.Connection, connection)
		}
	}
}

func releases(t *testing.T, f Fixture) {
	lives := func(i int) {
		r := f.request("p", fmt.Sprint("m", i))
		f.allocate(t, r)
		f.release(t, r.Ref)
		f.release(t, r.Ref)
		results, err := f.Provider.Poll(t.Context(), []provider.Ref{r.Ref})
		if err != nil {
			t.Error(err)
		} else if s := results[0].Status; s == provider.Allocated || s == provider.Pending {
			t.Errorf("a released match is %v", s)
		}
	}
	// Twice the room: a server that was given back can be allocated again.
	for i := 0; i < 2*Room; i += Room / 2 {
		var all sync.WaitGroup
		for n := range Room / 2 {
			all.Go(func() { lives(i + n) })
		}
		all.Wait()
	}
	f.expectInUse(t, 0)
}

func releasesNothing(t *testing.T, f Fixture) {
	f.release(t, f.request("p", "m").Ref)
	f.expectInUse(t, 0)
}

func cancelled(t *testing.T, f Fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := f.request("p", "m")
	// A provider may still answer when it has the answer already.
	if _, err := f.Provider.Allocate(ctx, r); provider.Final(err) {
		t.Errorf("Allocate with an ended context: %v, which is final", err)
	}
	if _, err := f.Provider.Poll(ctx, []provider.Ref{r.Ref}); provider.Final(err) {
		t.Errorf("Poll with an ended context: %v, which is final", err)
	}
	if err := f.Provider.Release(ctx, r.Ref); provider.Final(err) {
		t.Errorf("Release with an ended context: %v, which is final", err)
	}
	// Whatever the first Allocate left, the match gets one server.
	f.allocate(t, r)
	f.expectInUse(t, 1)
	f.release(t, r.Ref)
	f.expectInUse(t, 0)
}
