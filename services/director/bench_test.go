package director_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/instant"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/export"
	"matchmaker.dev/services/internal/observe/telemetry/spantest"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

// BenchmarkObserved measures the processor time of one ticket from the proposal to its result: proposal, evaluation,
// claim, work queue, allocation and assignment. It runs on a real Redis and NATS, with a function and a hosting system
// that cost nothing, in a project with about 4,000 waiting tickets: without telemetry, with metrics, and with traces of
// a share of the tickets in addition.
func BenchmarkObserved(b *testing.B) {
	const tickets = 62 * 64
	w := newWorld(b)
	runner := w.tracingRunner()
	observed := spantest.OpenModes(b)
	var assigned atomic.Int64
	done := notify.New()
	sub, err := w.bus.OnResults(func(_ string, a bus.Assigned) {
		if assigned.Add(int64(len(a.Tickets()))) >= tickets {
			done.Notify()
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { sub.Stop() })
	var cost spantest.Cost
	for b.Loop() {
		for _, way := range spantest.Modes {
			stop := w.observe(observed[way])
			w.crowd(tickets, telemetry.NewTracer(observed[way].Tracer, "ticket"), runner)
			assigned.Store(0)
			cost.Measure(b, way, func() {
				w.put(project, "pairs", &pb.Config{Hosting: &pb.Hosting{Fleet: "fleet"}})
				select {
				case <-done.C():
				case <-time.After(patience):
					b.Fatalf("%d of %d tickets are assigned", assigned.Load(), tickets)
				}
			})
			if _, err := w.store.DeleteConfig(b.Context(), project, "pairs", state.AnyRevision, ""); err != nil {
				b.Fatal(err)
			}
			stop()
		}
	}
	cost.Report(b, tickets)
}

// observe runs a director and an allocator with telemetry, until stop.
func (w *world) observe(t *export.Telemetry) (stop func()) {
	w.Helper()
	store, conn := w.connect()
	slow := settings.Default[director.Settings]()
	slow.Run = patience
	lead := director.New(director.Options{
		Store: store, Bus: conn, Log: discard, Now: time.Now, Name: uuid.NewString(), Settings: slow,
		Readable: 10 * time.Minute, Events: true,
		Meter: t.Meter, Tracer: telemetry.NewTracer(t.Tracer, "director"),
	})
	allocate := allocator.New(allocator.Options{
		Store: store, Bus: conn, Provider: instant.New("127.0.0.1:1"), Name: "instant", Log: discard,
		Settings: settings.Default[allocator.Settings](), Readable: 10 * time.Minute, Renewable: 24 * time.Hour,
		Meter: t.Meter, Tracer: telemetry.NewTracer(t.Tracer, "allocator"),
	})
	ctx, cancel := context.WithCancel(w.Context())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{lead.Run, allocate.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil {
				w.Error(err)
			}
		})
	}
	return func() { cancel(); running.Wait() }
}

// crowd creates tickets as the Tickets API does. The tracer samples their creation.
func (w *world) crowd(n int, tracer telemetry.Tracer, runner *tracingRunner) {
	w.Helper()
	creator := w.store.Creator(nil)
	var creating sync.WaitGroup
	for range 64 {
		creating.Go(func() {
			for range n / 64 {
				ctx, span := tracer.Start(w.Context(), "create")
				t := &pb.Ticket{
					Id: uuid.Must(uuid.NewV7()).String(), Owner: uuid.NewString(), Created: time.Now().UnixMilli(),
					Trace: telemetry.SpanRef(ctx),
				}
				span.End()
				if t.Trace != nil {
					runner.mark(t.GetId(), t.GetTrace())
				}
				if err := creator.Create(w.Context(), project, t); err != nil {
					w.Error(err)
				}
			}
		})
	}
	creating.Wait()
}
