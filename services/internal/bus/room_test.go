package bus_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// Where the disk of NATS has no room for a stream, the log says for which, and what to do.
func TestNoRoomForAStream(t *testing.T) {
	n := configured(t, "jetstream { max_file_store: 10MB }", slog.New(slog.DiscardHandler))
	text := new(said)
	b, err := bus.Connect(t.Context(), bus.Options{Server: bus.Server{URL: n.URL()}, Name: t.Name(),
		Log: slog.New(slog.NewTextHandler(text, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Prepare(ctx) }()
	const want = "has no room for the 256 MiB that the stream MM_MATCHES may have: make some"
	waittest.Until(t, want, func() bool { return strings.Contains(text.String(), want) })
	cancel()
	if err := next(t, ended); err == nil {
		t.Error("it is prepared without the stream")
	}
}
