package director_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/spantest"
)

// observed runs a director that samples no cycles of its own, and whose log names traces.
func (w *world) observed() *spantest.Spans {
	w.Helper()
	spans := spantest.New(w, sdktrace.NeverSample())
	store, b := w.connect()
	part := director.New(director.Options{
		Store: store, Bus: b, Log: slog.New(telemetry.LogHandler(slog.NewTextHandler(w.log, nil))), Now: time.Now,
		Name: "observed", Settings: times(), Readable: 10 * time.Minute, Tracer: spans.Tracer("director"),
	})
	ctx, stop := context.WithCancel(w.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := part.Run(ctx); err != nil {
			w.Error(err)
		}
	})
	w.Cleanup(func() { stop(); running.Wait() })
	return spans
}

// createTraced creates a ticket with the span of its creation, or none.
func (w *world) createTraced(span []byte) string {
	w.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	t := &pb.Ticket{Id: id, Owner: "player-" + id, Created: time.Now().UnixMilli(), Trace: span}
	if err := w.store.Creator(nil).Create(w.Context(), project, t); err != nil {
		w.Fatal(err)
	}
	w.poke(project, &pb.Poke{})
	return id
}

// tracingRunner is a runner that pairs tickets, or fails, and names those that are sampled, as a real one does.
type tracingRunner struct {
	fail atomic.Pointer[string]

	mu    sync.Mutex
	marks map[string][]byte
	// requests are the spans of the requests for runs.
	requests map[trace.SpanID]bool
}

func (m *tracingRunner) mark(id string, mark []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks[id] = mark
}

func (m *tracingRunner) answer(ctx context.Context, tickets []string) *pb.RunPart {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[trace.SpanContextFromContext(ctx).SpanID()] = true
	last := &pb.RunPart{Last: true, Stats: &pb.RunStats{Tickets: int64(len(tickets))}}
	for pair := range slices.Chunk(tickets, 2) {
		if len(pair) == 2 {
			last.Proposals = append(last.Proposals, of("127.0.0.1:1", pair...))
		}
	}
	if text := m.fail.Load(); text != nil {
		last.Error, last.Proposals = *text, nil
	}
	for _, id := range tickets {
		if mark := m.marks[id]; mark != nil && len(tickets) > 1 {
			last.Traced = append(last.Traced, &pb.Traced{Ticket: id, Trace: mark})
		}
	}
	return last
}

func (w *world) tracingRunner() *tracingRunner {
	w.Helper()
	m := &tracingRunner{marks: map[string][]byte{}, requests: map[trace.SpanID]bool{}}
	w.lives(w.Context(), "runner")
	store, b := w.connect()
	x := newIndex()
	var running sync.WaitGroup
	life, stop := context.WithCancel(w.Context())
	running.Go(func() { store.Follow(life, project, x, nil) })
	sub, err := b.ServeRuns("runner", project, "pairs", func(ctx context.Context, r *pb.RunRequest, answer bus.SendPart) {
		running.Go(func() { _ = answer(m.answer(ctx, x.at(life, r.GetPosition()))) })
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { <-sub.Stop(); stop(); running.Wait() })
	return m
}

func TestSampledTicketIsTracedThroughItsCycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spans, runner := w.observed(), w.tracingRunner()
	w.put(project, "pairs", nil)

	w.results(w.createTraced(nil), w.createTraced(nil))
	if text := spans.String(); text != "" {
		t.Fatalf("no ticket is sampled, and there are spans:\n%s", text)
	}

	// One of two is sampled: the match has a trace, and so has its result.
	_, mark := spans.Request(t.Context())
	first := w.createTraced(mark)
	runner.mark(first, mark)
	second := w.createTraced(nil)
	got := w.results(first, second)
	cycle, run, evaluation, claim := spans.Wait("cycle"), spans.Wait("run"), spans.Wait("contest"), spans.Wait("claim")
	matched, assigned := spans.Wait("ticket matched"), spans.Wait("ticket assigned")
	for what, ok := range map[string]bool{
		"the cycle is a root that serves the ticket": !cycle.Parent().IsValid() && spantest.LinksTo(cycle, mark),
		"the run is below it":                        spantest.IsChildOf(run, spantest.SpanRef(cycle)),
		"the run is the one of the request":          runner.served(run.SpanContext().SpanID()),
		"the evaluation is below it":                 spantest.IsChildOf(evaluation, spantest.SpanRef(cycle)),
		"the claim is below it":                      spantest.IsChildOf(claim, spantest.SpanRef(cycle)),
		"matched is in the ticket's trace":           spantest.IsChildOf(matched, mark),
		"matched leads to the claim":                 spantest.LinksTo(matched, spantest.SpanRef(claim)),
		"assigned is in the ticket's trace":          spantest.IsChildOf(assigned, mark),
		"assigned leads to the claim":                spantest.LinksTo(assigned, spantest.SpanRef(claim)),
		"the ticket is named":                        spantest.Attribute(matched, "matchmaker.ticket") == first,
		"the cycle names its config":                 spantest.Attribute(cycle, "matchmaker.config") == "pairs",
		"the cycle names its project":                spantest.Attribute(cycle, "matchmaker.project") == project,
		"the claim is counted":                       spantest.Attribute(claim, "matchmaker.claims") == "1",
		"the first result leads to the claim":        bytes.Equal(got[first].GetTrace(), spantest.SpanRef(claim)),
		"the second result leads to the claim":       bytes.Equal(got[second].GetTrace(), spantest.SpanRef(claim)),
	} {
		if !ok {
			t.Errorf("not so: %s\n%s", what, spans)
		}
	}
}

// served reports whether the runner got a request of a span.
func (m *tracingRunner) served(span trace.SpanID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[span]
}

// The message in the work queue has the span, and so has the match, in case the message is lost.
func TestTraceGoesOnInTheWorkQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spans, runner := w.observed(), w.tracingRunner()
	w.put(project, "pairs", &pb.Config{Hosting: &pb.Hosting{Fleet: "fleet"}})
	_, mark := spans.Request(t.Context())
	first := w.createTraced(mark)
	runner.mark(first, mark)
	w.createTraced(nil)

	type work struct {
		match string
		in    []byte
	}
	taken := make(chan work, 10)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var working sync.WaitGroup
	working.Go(func() {
		_ = w.bus.ConsumeMatches(ctx, 1, func(ctx context.Context, m *pb.MatchWork, _ int) error {
			taken <- work{m.GetMatch(), telemetry.SpanRef(ctx)}
			return nil
		})
	})
	defer working.Wait()
	defer stop()
	var got work
	select {
	case got = <-taken:
	case <-time.After(patience):
		t.Fatal("no match came")
	}
	publish, claim := spans.Wait("publish"), spans.Wait("claim")
	if !bytes.Equal(got.in, spantest.SpanRef(publish)) || !spantest.IsChildOf(publish, spantest.SpanRef(claim)) {
		t.Errorf("the message is of %x\n%s", got.in, spans)
	}
	m, err := w.store.Match(t.Context(), project, got.match)
	if err != nil {
		t.Fatal(err)
	}
	if traced := m.GetTraced(); !bytes.Equal(m.GetTrace(), spantest.SpanRef(claim)) || len(traced) != 1 ||
		traced[0].GetTicket() != first || !bytes.Equal(traced[0].GetTrace(), mark) {
		t.Errorf("the match has the trace %x and %v, want the claim's and %s", m.GetTrace(), m.GetTraced(), first)
	}
}

// The span has the kind of the failure, but not the function's text. The log names the trace.
func TestFailedRunOfASampledTicketIsOnItsSpan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spans, runner := w.observed(), w.tracingRunner()
	says := errors.New("player's property: 42").Error()
	runner.fail.Store(&says)
	w.put(project, "pairs", nil)
	_, mark := spans.Request(t.Context())
	first := w.createTraced(mark)
	runner.mark(first, mark)
	w.createTraced(nil)
	w.until("a failed run is traced", func() bool {
		return slices.ContainsFunc(spans.Named("run"), func(s sdktrace.ReadOnlySpan) bool {
			return s.Status().Code == codes.Error && spantest.Attribute(s, "error.type") == "failed"
		})
	})
	if strings.Contains(spans.String(), says) {
		t.Errorf("the function's text is in a trace:\n%s", spans)
	}
	for line := range strings.Lines(w.log.String()) {
		traced := strings.Contains(line, "trace_id=") && strings.Contains(line, "span_id=")
		if traced && strings.Contains(line, "a run failed") {
			return
		}
	}
	t.Errorf("the log names no trace:\n%s", w.log.String())
}
