package allocator_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/spantest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

// observed is an allocator whose spans and log one can look at.
func observed(t *testing.T, s *script) (*world, *spantest.Spans, *spantest.Log) {
	t.Helper()
	spans, log := spantest.New(t, sdktrace.NeverSample()), new(spantest.Log)
	w := start(t, s, func(o *allocator.Options) {
		o.Name, o.Tracer = "scripted", spans.Tracer("allocator")
		o.Log = slog.New(telemetry.LogHandler(slog.NewTextHandler(log, nil)))
	})
	return w, spans, log
}

// claimSampled claims a match of which one ticket is sampled, and returns the marks of the claim and of that ticket.
func (w *world) claimSampled(spans *spantest.Spans, match string, tickets ...string) (claim, mark []byte) {
	w.t.Helper()
	_, claim = spans.Request(w.t.Context())
	_, mark = spans.Request(w.t.Context())
	create := w.store.Creator(nil)
	for i, id := range tickets {
		ticket := &pb.Ticket{Id: id, Created: time.Now().UnixMilli()}
		if i == 0 {
			ticket.Trace = mark
		}
		if err := create.Create(w.t.Context(), project, ticket); err != nil {
			w.t.Fatal(err)
		}
	}
	c := w.claimOf(match, tickets...)
	c.Match.Trace, c.Match.Traced = claim, []*pb.Traced{{Ticket: tickets[0], Trace: mark}}
	if _, err := w.store.Claim(w.t.Context(), project, w.terms, []*state.Claim{c}); err != nil || c.Refusal != "" {
		w.t.Fatal(c.Refusal, err)
	}
	return claim, mark
}

// TestAllocationOfASampledTicketIsTraced, in the trace of its claim though the queue says nothing of it, and no other
// one is.
func TestAllocationOfASampledTicketIsTraced(t *testing.T) {
	w, spans, _ := observed(t, &script{
		allocate: func(n int, _ *provider.Request) (provider.Result, error) {
			switch n {
			case 1:
				return provider.Result{Status: provider.Allocated, Connection: "1.2.3.4:5"}, nil
			case 2:
				return provider.Result{}, provider.Fail(provider.Contention, "not now")
			}
			return provider.Result{Status: provider.Pending}, nil
		},
		poll: func(int) provider.Result { return provider.Result{Status: provider.Allocated, Connection: "1.2.3.4:6"} },
	})
	w.claim("unsampled", "a", "b")
	w.send("unsampled")
	if got := w.result("a"); len(got.GetTrace()) > 0 {
		t.Errorf("the result has the trace %x", got.GetTrace())
	}
	if text := spans.String(); text != "" {
		t.Fatalf("nobody is sampled, and there are spans:\n%s", text)
	}

	claim, mark := w.claimSampled(spans, "sampled", "c", "d")
	w.send("sampled")
	got := w.result("c")
	allocate, assign := spans.Wait("allocate"), spans.Wait("assign")
	assigned, poll := spans.Wait("ticket assigned"), spans.Wait("hosting poll")
	calls := spans.Named("hosting allocate")
	if len(calls) != 2 {
		t.Fatalf("there are %d calls, want 2\n%s", len(calls), spans)
	}
	for what, ok := range map[string]bool{
		"the allocation goes on from the claim": spantest.IsChildOf(allocate, claim) && spantest.LinksTo(allocate, mark),
		"the provider is named": spantest.Attribute(allocate, "matchmaker.provider") == "scripted" &&
			spantest.Attribute(calls[0], "matchmaker.provider") == "scripted",
		"the first call failed, with the reason": calls[0].Status().Code == codes.Error &&
			spantest.Attribute(calls[0], "error.type") == "contention",
		"the second did not": calls[1].Status().Code != codes.Error,
		"calls are below it": spantest.IsChildOf(calls[0], spantest.SpanRef(allocate)) &&
			spantest.IsChildOf(calls[1], spantest.SpanRef(allocate)),
		"the poll, which is of many, links to it": spantest.LinksTo(poll, spantest.SpanRef(allocate)),
		"the result is written below it":          spantest.IsChildOf(assign, spantest.SpanRef(allocate)),
		"the allocation did not fail":             allocate.Status().Code != codes.Error,
		"the ticket's own trace says so": spantest.IsChildOf(assigned, mark) &&
			spantest.LinksTo(assigned, spantest.SpanRef(assign)) && spantest.Attribute(assigned, "matchmaker.ticket") == "c",
		"the result leads to where it was written":  bytes.Equal(got.GetTrace(), spantest.SpanRef(assign)),
		"and so does that of the one who came with": bytes.Equal(w.result("d").GetTrace(), spantest.SpanRef(assign)),
	} {
		if !ok {
			t.Errorf("not so: %s\n%s", what, spans)
		}
	}
}

// TestFailedAllocationIsOnItsSpan with its reason; the log names the trace.
func TestFailedAllocationIsOnItsSpan(t *testing.T) {
	w, spans, log := observed(t, &script{allocate: func(int, *provider.Request) (provider.Result, error) {
		return provider.Result{}, provider.Fail(provider.Refused, "no such fleet")
	}})
	claim, mark := w.claimSampled(spans, "refused", "a", "b")
	ctx, published := spans.Request(t.Context())
	if _, err := w.bus.EnqueueMatches(ctx, project, nil, []string{"refused"}); err != nil {
		t.Fatal(err)
	}
	if got := w.result("a"); got.GetError() == "" {
		t.Errorf("the result is %v", got)
	}
	allocate, call, assigned := spans.Wait("allocate"), spans.Wait("hosting allocate"), spans.Wait("ticket assigned")
	if !spantest.IsChildOf(allocate, published) || spantest.IsChildOf(allocate, claim) {
		t.Error("the queue's message said where the trace goes on", spans)
	}
	for _, s := range []sdktrace.ReadOnlySpan{allocate, call, assigned} {
		if s.Status().Code != codes.Error || spantest.Attribute(s, "error.type") != "refused" {
			t.Errorf("%s has no reason\n%s", s.Name(), spans)
		}
	}
	if !spantest.IsChildOf(assigned, mark) {
		t.Error("the ticket's own trace does not say so", spans)
	}
	if !log.HasLine(
		"no server for a match", "trace_id="+allocate.SpanContext().TraceID().String(),
		"span_id="+allocate.SpanContext().SpanID().String(),
	) {
		t.Errorf("the log names no trace:\n%s", log)
	}
}

// A deallocation has no ticket that is sampled: its calls are sampled by themselves.
func TestDeallocationsAreTraced(t *testing.T) {
	spans := spantest.New(t, sdktrace.AlwaysSample())
	var w *world
	s := &script{
		allocate: func(n int, r *provider.Request) (provider.Result, error) {
			w.leaves("a")
			return allocateAtOnce(n, r)
		},
		release: func(n int, _ provider.Ref) error {
			if n == 1 {
				return provider.Fail(provider.Contention, "not now")
			}
			return nil
		},
	}
	log := new(spantest.Log)
	w = start(t, s, func(o *allocator.Options) {
		o.Name, o.Tracer = "scripted", spans.Tracer("allocator")
		o.Log = slog.New(telemetry.LogHandler(slog.NewTextHandler(log, nil)))
	})
	w.claim("left", "a")
	w.send("left")
	waittest.Until(t, "a server to be deallocated", func() bool { return len(spans.Named("hosting release")) >= 2 })
	first := spans.Named("hosting release")[0]
	if first.Status().Code != codes.Error || spantest.Attribute(first, "error.type") != "contention" ||
		first.SpanKind() != trace.SpanKindClient {
		t.Error(spans)
	}
	if !log.HasLine("a server could not be deallocated", "trace_id="+first.SpanContext().TraceID().String()) {
		t.Errorf("the log names no trace:\n%s", log)
	}
}

// TestRegionIsInNoLogAndNoTrace: it may be a text of clients.
func TestRegionIsInNoLogAndNoTrace(t *testing.T) {
	var calls atomic.Int32
	w, spans, log := observed(t, &script{allocate: func(int, *provider.Request) (provider.Result, error) {
		if calls.Add(1) == 1 {
			return provider.Result{}, provider.Fail(provider.FleetEmpty, "no server is free")
		}
		return provider.Result{}, provider.Fail(provider.Refused, "no such fleet")
	}})
	w.region = "what-a-client-says"
	w.claimSampled(spans, "refused", "a", "b")
	if _, err := w.bus.EnqueueMatches(t.Context(), project, nil, []string{"refused"}); err != nil {
		t.Fatal(err)
	}
	w.result("a")
	spans.Wait("allocate")
	if !log.HasLine("hosting has no server") || !log.HasLine("no server for a match") ||
		strings.Contains(log.String(), w.region) || strings.Contains(spans.String(), w.region) {
		t.Errorf("what the client says is told, or a line is missing:\n%s\n%s", log, spans)
	}
}
