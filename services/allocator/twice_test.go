package allocator_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

// twice is a hosting system that gives a match another server each time that it is asked.
type twice struct {
	mu    sync.Mutex
	asked int
	// given are the connections of a match's servers that were not given back.
	given map[string][]string
	// first is called with the first request, before its answer.
	first func(r *provider.Request)
}

func (h *twice) Allocate(_ context.Context, r *provider.Request) (provider.Result, error) {
	h.mu.Lock()
	h.asked++
	n := h.asked
	connection := fmt.Sprintf("10.0.0.%d:7777", n)
	h.given[r.Match] = append(h.given[r.Match], connection)
	h.mu.Unlock()
	if n == 1 {
		h.first(r)
	}
	return provider.Result{Status: provider.Allocated, Connection: connection}, nil
}

func (h *twice) Poll(_ context.Context, refs []provider.Ref) ([]provider.Result, error) {
	return make([]provider.Result, len(refs)), nil
}

func (h *twice) Release(_ context.Context, r provider.Ref) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.given[r.Match] = slices.DeleteFunc(h.given[r.Match], func(c string) bool { return c != r.Used })
	return nil
}

func (h *twice) servers(match string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.given[match])
}

// An allocator is stopped while it asks for a server, for longer than its lease. Another one gets a server for the
// match meanwhile. The tickets have that one, and the other is given back.
// Promise 7.
func TestSecondServerOfAMatchThatWasTakenOverIsReleased(t *testing.T) {
	w := prepare(t)
	h := &twice{given: map[string][]string{}}
	m := w.claim("m", "a", "b")
	h.first = func(r *provider.Request) {
		other := state.MatchLease{Holder: "other", Hold: time.Hour, Search: time.Hour, Claim: time.Hour}
		waittest.Until(t, "the end of the lease", func() bool {
			w.ahead.Add(int64(time.Minute))
			b, err := w.store.BeginAllocations(t.Context(), project, []state.Beginning{{Match: m, Lease: other}})
			return err == nil && b[0].Status == state.MatchActive
		})
		second, err := h.Allocate(t.Context(), r)
		if err != nil {
			t.Error(err)
		}
		ended, err := w.store.EndMatches(t.Context(), project, []state.Ending{{Match: m, Tickets: []string{"a", "b"},
			Results: []*pb.Assignment{{Connection: second.Connection}},
			Outcome: state.Outcome{Holder: "other", Readable: time.Hour, Connection: second.Connection}}})
		if err != nil || ended[0].Status != state.MatchActive {
			t.Error(ended, err)
		}
	}
	w.options.Provider = h
	t.Cleanup(w.run())
	w.send("m")
	if got := w.result("a").GetConnection(); got != "10.0.0.2:7777" {
		t.Errorf("the ticket has %s", got)
	}
	waittest.Until(t, "the first server to be given back", func() bool {
		return slices.Equal(h.servers("m"), []string{"10.0.0.2:7777"})
	})
}
