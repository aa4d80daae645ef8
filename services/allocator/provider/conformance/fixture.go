package conformance

import (
	"testing"
	"time"

	"matchmaker.dev/services/allocator/provider"
)

func (f Fixture) request(project, match string) *provider.Request {
	return &provider.Request{
		Ref:    provider.Ref{Project: project, Match: match, Hosting: f.Hosting},
		Config: "config",
		Teams: []provider.Team{
			{Name: "red", Tickets: []string{match + "-ticket-1"}, Players: [][]string{{"ada"}}},
			{
				Name: "blue", Tickets: []string{match + "-ticket-2", match + "-ticket-3"},
				Players: [][]string{{"bob", "cy \u00e9 \"x\""}, {}},
			},
		},
		Properties: []byte(`{"map":"harbour"}`),
		Backfill:   match + "-backfill",
		Token:      provider.Secret("token-of-" + match),
	}
}

// fails asks for a server until the hosting system says that there is none, and checks the reason.
func (f Fixture) fails(t *testing.T, r *provider.Request, want provider.Reason) {
	t.Helper()
	wait(t, "the failure of "+r.Match, func() bool {
		result, err := f.Provider.Allocate(t.Context(), r)
		if err == nil && result.Status == provider.Pending {
			var results []provider.Result
			if results, err = f.Provider.Poll(t.Context(), []provider.Ref{r.Ref}); err == nil {
				result = results[0]
			}
		}
		if err == nil && result.Status == provider.Failed {
			err = result.Err
		}
		switch {
		case err == nil && result.Status == provider.Allocated:
			t.Errorf("%s got a server at %s", r.Match, result.Connection)
			return true
		case err == nil || provider.ReasonOf(err) == "":
			return false
		}
		if got := provider.ReasonOf(err); got != want {
			t.Errorf("%s fails with %q (%v), want %q", r.Match, got, err, want)
		}
		return true
	})
}

// inUse is 0 where the hosting system keeps no records.
func (f Fixture) inUse() int {
	if f.InUse == nil {
		return 0
	}
	return f.InUse()
}

// allocate does what the allocator does: it asks, asks again when that may help, and polls until there is a server.
func (f Fixture) allocate(t *testing.T, r *provider.Request) string {
	t.Helper()
	var result provider.Result
	wait(t, "a server for "+r.Match, func() bool {
		var err error
		if result.Status == provider.Pending {
			var results []provider.Result
			if results, err = f.Provider.Poll(t.Context(), []provider.Ref{r.Ref}); err == nil {
				result = results[0]
			}
		} else {
			result, err = f.Provider.Allocate(t.Context(), r)
		}
		if provider.Final(err) || result.Status == provider.Failed {
			t.Errorf("allocate %s: %v %v", r.Match, err, result.Err)
			return true
		}
		return err == nil && result.Status == provider.Allocated
	})
	return result.Connection
}

func (f Fixture) release(t *testing.T, r provider.Ref) {
	t.Helper()
	wait(t, "the release of "+r.Match, func() bool {
		err := f.Provider.Release(t.Context(), r)
		if provider.Final(err) {
			t.Errorf("release %s: %v", r.Match, err)
		}
		return err == nil || provider.Final(err)
	})
}

func (f Fixture) expectInUse(t *testing.T, want int) {
	t.Helper()
	if f.InUse == nil {
		return
	}
	if got := f.InUse(); got != want {
		t.Errorf("the hosting system has given out %d servers, want %d", got, want)
	}
}

// wait returns once done is true, and marks the test as failed when it takes too long.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Errorf("waited %s for %s", patience, what)
			return
		}
	}
}
