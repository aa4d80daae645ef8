package state_test

import (
	"errors"
	"log/slog"
	"testing"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
)

func TestStateOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	url, client := limited(t, "8mb")
	s := openStore(t, state.Options{Server: state.Server{URL: url}})
	check := func(before, after string, ok bool) {
		t.Helper()
		err := s.CheckSchema(t.Context(), true)
		if newer, is := errors.AsType[*state.SchemaError](err); is == ok || (!ok && newer.Error() == "") {
			t.Errorf("schema %q: %v", before, err)
		}
		if got := client.Get(t.Context(), "mm:schema").Val(); got != after {
			t.Errorf("schema %q became %q, want %q", before, got, after)
		}
	}
	check("", state.Schema, true)
	check(state.Schema, state.Schema, true)
	client.Del(t.Context(), "mm:schema")
	if err := s.CheckSchema(t.Context(), false); err != nil || client.Exists(t.Context(), "mm:schema").Val() != 0 {
		t.Errorf("a process without a director notes the schema, %v", err)
	}
	for _, stored := range []string{"0", "1", "v1", "v3", "1000", "another"} {
		client.Set(t.Context(), "mm:schema", stored, 0)
		check(stored, stored, false)
	}
	client.Del(t.Context(), "mm:schema")
	if err := client.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	check("", "", true) // full, so it is noted later
}

func TestSchemaOfARedisThatIsAway(t *testing.T) {
	t.Parallel()
	s, err := state.Open(state.Options{Server: state.Server{URL: "redis://127.0.0.1:" + embeddedtest.FreePort(t)},
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kindOf(t, s.CheckSchema(t.Context(), true), problem.Unavailable)
}
