package state_test

import (
	"maps"
	"testing"
	"time"

	"matchmaker.dev/services/internal/state"
)

func TestHeartbeatReturnsAllLivingDirectors(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		beat := func(name string, leads int, after time.Duration, want map[string]int) {
			t.Helper()
			got, err := s.At(epoch0.Add(after)).Heartbeat(t.Context(), name, leads, time.Second)
			if err != nil || !maps.Equal(got, want) {
				t.Fatalf("%v, %v, want %v", got, err, want)
			}
		}
		beat("a", 7, 0, map[string]int{"a": 7})
		beat("b", 0, 500*time.Millisecond, map[string]int{"a": 7, "b": 0})
		beat("b", 3, 999*time.Millisecond, map[string]int{"a": 7, "b": 3})
		beat("b", 3, time.Second, map[string]int{"b": 3}) // a has expired
		beat("a", 4, time.Second, map[string]int{"a": 4, "b": 3})
		must(t, s.At(epoch0.Add(time.Second)).RemoveDirector(t.Context(), "a"))
		beat("b", 3, time.Second, map[string]int{"b": 3})
	})
}

func TestLeasesOfManyProjects(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		take := func(owner string, projects ...string) []uint64 {
			t.Helper()
			epochs, err := s.AcquireLeases(t.Context(), projects, owner, time.Second)
			if err != nil || len(epochs) != len(projects) {
				t.Fatal(epochs, err)
			}
			return epochs
		}
		first := uint64(epoch0.UnixMilli())
		if e := take("a", "one", "two"); e[0] != first || e[1] != first {
			t.Error(e)
		}
		must(t, s.ReleaseLease(t.Context(), "two", "a"))
		if e := take("b", "one", "two", "three"); e[0] != 0 || e[1] != first+1 || e[2] != first {
			t.Error(e)
		}
		leases, err := s.Leases(t.Context(), []string{"one", "two", "none"})
		must(t, err)
		until := epoch0.Add(time.Second)
		for i, want := range []state.Lease{{"a", first, until}, {"b", first + 1, until}, {"", 0, time.UnixMilli(0)}} {
			if got := leases[i]; got.Owner != want.Owner || got.Epoch != want.Epoch || !got.Expires.Equal(want.Expires) {
				t.Errorf("lease %d is %+v, want %+v", i, got, want)
			}
		}
		if leases[0].Free(until.Add(-time.Millisecond), time.Second) || !leases[0].Free(until, time.Second) ||
			!leases[2].Free(epoch0, time.Second) {
			t.Error("Free is wrong")
		}
	})
}
