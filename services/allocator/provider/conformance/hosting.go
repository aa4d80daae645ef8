package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/allocator/provider"
)

func tellsPayload(t *testing.T, f Fixture) {
	r, other := f.request("p", "m"), f.request("p", "other")
	got := f.payloadAfter(t, r, other)
	if diff := cmp.Diff(payload(r), got); diff != "" {
		t.Errorf("the payload differs (-want +got):\n%s", diff)
	}
}

// A match is not refused for its players: its server is told of all of them, or of none.
func leavesOutPlayers(t *testing.T, f Fixture) {
	r := f.request("p", "m")
	for i := range 1000 {
		id := fmt.Sprintf("%d-%s", i, strings.Repeat("x", 200))
		r.Teams[1].Players[1] = append(r.Teams[1].Players[1], id)
	}
	got := f.payloadAfter(t, r)
	if got.Teams[0].Players == nil {
		for i := range r.Teams {
			r.Teams[i].Players = nil
		}
	}
	if diff := cmp.Diff(payload(r), got); diff != "" {
		t.Errorf("the payload differs (-want +got):\n%s", diff)
	}
}

// payload is what the server of a request is told.
func payload(r *provider.Request) provider.Payload {
	return provider.Payload{
		Allocation: r.Allocation(), Project: r.Project, Match: r.Match, Config: r.Config, Teams: r.Teams,
		Properties: r.Properties, Backfill: r.Backfill, Token: string(r.Token),
	}
}

// payloadAfter is what the server of the first request is told, after servers were allocated for all.
func (f Fixture) payloadAfter(t *testing.T, requests ...*provider.Request) (got provider.Payload) {
	t.Helper()
	for _, r := range requests {
		f.allocate(t, r)
	}
	if f.PayloadOf == nil {
		t.Skip("the servers of the hosting system get no payload, or it cannot be read")
	}
	text, ok := f.PayloadOf(requests[0].Ref)
	if !ok {
		t.Fatal("the server has no payload")
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("the payload is no JSON: %v", err)
	}
	return got
}

func losesAllocation(t *testing.T, f Fixture) {
	if f.Lose == nil {
		t.Skip("an answer of the hosting system cannot be lost")
	}
	for range 3 {
		r := f.request("p", "m")
		f.Lose()
		// No error is fine too: the provider may repeat a call.
		if _, err := f.Provider.Allocate(t.Context(), r); provider.Final(err) {
			t.Errorf("Allocate whose answer was lost: %v, which is final", err)
		}
		connection := f.allocate(t, r)
		f.expectInUse(t, 1)
		if again := f.allocate(t, r); again != connection {
			t.Errorf("the match moved from %s to %s", connection, again)
		}
		f.release(t, r.Ref)
		f.expectInUse(t, 0)
	}
	// This one gives up instead of asking again.
	r := f.request("p", "abandoned")
	f.Lose()
	_, _ = f.Provider.Allocate(t.Context(), r)
	f.release(t, r.Ref)
	f.expectInUse(t, 0)
}

func losesRelease(t *testing.T, f Fixture) {
	if f.Lose == nil {
		t.Skip("an answer of the hosting system cannot be lost")
	}
	r := f.request("p", "m")
	f.allocate(t, r)
	f.Lose()
	if err := f.Provider.Release(t.Context(), r.Ref); provider.Final(err) {
		t.Errorf("Release whose answer was lost: %v, which is final", err)
	}
	f.release(t, r.Ref)
	f.expectInUse(t, 0)
}

func empties(t *testing.T, f Fixture) {
	if f.Exhaust == nil {
		t.Skip("the hosting system never runs out of servers")
	}
	r := f.request("p", "m")
	refill := f.Exhaust()
	before := f.inUse()
	f.fails(t, r, provider.FleetEmpty)
	if after := f.inUse(); after != before {
		t.Errorf("the match that got none holds %d", after-before)
	}
	refill()
	f.allocate(t, r)
}

func forbids(t *testing.T, f Fixture) {
	if f.Maximum == nil {
		t.Skip("the hosting system knows no maximum")
	}
	f.Maximum()
	f.fails(t, f.request("p", "m"), provider.MaximumZero)
	f.expectInUse(t, 0)
}

func contends(t *testing.T, f Fixture) {
	if f.Contend == nil {
		t.Skip("the hosting system knows no contention")
	}
	r := f.request("p", "m")
	f.Contend()
	_, err := f.Provider.Allocate(t.Context(), r)
	if provider.ReasonOf(err) != provider.Contention {
		t.Errorf("Allocate: %v, want contention", err)
	}
	f.allocate(t, r)
	f.expectInUse(t, 1)
}

func refuses(t *testing.T, f Fixture) {
	if f.Strange == nil {
		t.Skip("the hosting system refuses nothing")
	}
	r := f.request("p", "m")
	r.Hosting = *f.Strange
	f.fails(t, r, provider.Refused)
	f.expectInUse(t, 0)
}

func ends(t *testing.T, f Fixture) {
	if f.End == nil {
		t.Skip("servers of the hosting system do not end by themselves")
	}
	r := f.request("p", "m")
	f.allocate(t, r)
	f.End(r.Ref)
	wait(t, "the end of the server to be known", func() bool {
		results, err := f.Provider.Poll(t.Context(), []provider.Ref{r.Ref})
		return err == nil && results[0].Status == provider.Gone
	})
	f.expectInUse(t, 0)
	f.release(t, r.Ref)
}
