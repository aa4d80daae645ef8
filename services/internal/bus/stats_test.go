package bus_test

import (
	"bytes"
	"testing"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/catalog"
)

// TestStreamsSayWhatTheyTake: the account that makes a stream reports its bytes and its limit.
func TestStreamsSayWhatTheyTake(t *testing.T) {
	url := server(t)
	all := connectWith(t, bus.Options{Server: bus.Server{URL: url}, Logs: bus.Logs{Total: 3},
		Events: bus.Events{Bytes: 5000}, MatchBytes: 7000})
	const size = 300 << 10
	if err := all.PutModule(t.Context(), "a.wasm", bytes.Repeat([]byte("m"), size)); err != nil {
		t.Fatal(err)
	}
	limits := map[string]int64{"logs": 3 << 20, "events": 5000, "matches": 7000, "modules": 0}
	for service, want := range map[string][]string{
		"": {"logs", "events", "matches", "modules"}, catalog.Director: {"matches", "events"},
		catalog.Registry: {"logs", "modules"}, catalog.Runner: nil, catalog.Ticket: nil,
	} {
		b := connectWith(t, bus.Options{Server: bus.Server{URL: url}, Service: service, Logs: bus.Logs{Total: 3},
			Events: bus.Events{Bytes: 5000}, MatchBytes: 7000})
		streams, err := b.Streams(t.Context())
		if err != nil || len(streams) != len(want) {
			t.Errorf("%q says %+v, %v, want %v", service, streams, err, want)
		}
		for _, s := range streams {
			if s.Limit != limits[s.Stream] || (s.Stream == "modules") != (s.Bytes >= size) {
				t.Errorf("%q says %+v", service, s)
			}
		}
	}
	if n, err := all.ModuleBytes(t.Context()); err != nil || n < size || n > size+10<<10 {
		t.Errorf("modules take %d, %v", n, err)
	}
}
