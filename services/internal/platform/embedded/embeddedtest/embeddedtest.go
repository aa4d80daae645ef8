// Package embeddedtest gives tests of services a store and a bus. The tests of a binary share a Redis, in which each
// has a database. A bus has a server of its own, which starts in milliseconds.
package embeddedtest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/state"
)

// Patience is how long the bus may take for anything: the machine may stand still for longer than its usual times.
const Patience = time.Minute

// Store is a store on an empty database. The options need no server and no log.
func Store(tb testing.TB, o state.Options) *state.Store {
	tb.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	o.Server.URL = Redis(tb)
	store, err := state.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	ends(tb, store.Close)
	return store
}

// Bus is a bus on an empty NATS server, without its streams. The options need no server and no log.
func Bus(tb testing.TB, o bus.Options) *bus.Bus {
	tb.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	o.Server.URL, o.Wait = NATS(tb), Patience
	b, err := bus.Connect(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	ends(tb, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), Patience)
		defer cancel()
		return b.Close(ctx)
	})
	return b
}

// NATS returns the URL of an empty NATS server.
func NATS(tb testing.TB) string {
	tb.Helper()
	log := slog.New(slog.DiscardHandler)
	nats, err := embedded.StartNATS(tb.Context(), embedded.NATSOptions{Dir: tb.TempDir(), Log: log})
	if err != nil {
		tb.Fatal(err)
	}
	ends(tb, nats.Close)
	return nats.URL()
}

// Prepare makes the streams of a bus. A test does not wait for a server that cannot make them, as a service does.
func Prepare(tb testing.TB, b *bus.Bus) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Patience)
	defer cancel()
	if err := b.Prepare(ctx); err != nil {
		tb.Fatal(err)
	}
}

func ends(tb testing.TB, end func() error) {
	tb.Cleanup(func() {
		if err := end(); err != nil {
			tb.Error(err)
		}
	})
}
