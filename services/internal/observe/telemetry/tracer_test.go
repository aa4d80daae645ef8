package telemetry_test

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/spantest"
)

func TestMark(t *testing.T) {
	spans := spantest.New(t, sdktrace.NeverSample())
	in, mark := spans.Request(t.Context())
	if got := telemetry.DecodeSpanRef(mark); len(mark) != 24 ||
		got.SpanID() != trace.SpanContextFromContext(in).SpanID() || !got.IsSampled() || !got.IsRemote() {
		t.Errorf("the mark %x is of %v, want %v", mark, got, trace.SpanContextFromContext(in))
	}
	unsampled, _ := spans.Tracer("t").Start(t.Context(), "root")
	for name, ctx := range map[string]context.Context{"no span": t.Context(), "one that is not sampled": unsampled} {
		if mark := telemetry.SpanRef(ctx); mark != nil {
			t.Errorf("the mark of %s is %x", name, mark)
		}
	}
	for _, bad := range [][]byte{nil, {1, 2, 3}, make([]byte, 24), make([]byte, 25)} {
		if telemetry.DecodeSpanRef(bad).IsValid() || len(telemetry.Links(bad)) != 0 {
			t.Errorf("%x is a mark", bad)
		}
	}
}

// TestOffCostsNothing: without a provider there are no spans, and no bytes are taken.
func TestOffCostsNothing(t *testing.T) {
	for _, off := range []telemetry.Tracer{{}, telemetry.NewTracer(nil, "t"),
		telemetry.NewTracer(noop.NewTracerProvider(), "t")} {
		if off.Enabled() {
			t.Error("it is on")
		}
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() {
			in, span := off.Start(ctx, "s")
			telemetry.Fail(span, "reason", "text")
			off.RecordStage(in, telemetry.Stage{Name: "ticket matched", Span: telemetry.SpanRef(in)})
			span.End()
		}); n > 0 {
			t.Errorf("it allocates %v times", n)
		}
	}
}

// TestWhatServesASampledTicketIsSampled: a link counts as a parent does, for roots alone.
func TestWhatServesASampledTicketIsSampled(t *testing.T) {
	spans := spantest.New(t, sdktrace.NeverSample())
	tracer := spans.Tracer("t")
	_, mark := spans.Request(t.Context())
	_, linked := tracer.Start(t.Context(), "linked", trace.WithLinks(telemetry.Links(mark)...))
	_, below := tracer.StartChild(t.Context(), mark, "below")
	root, other := tracer.Start(t.Context(), "other")
	_, child := tracer.Start(root, "child", trace.WithLinks(telemetry.Links(mark)...))
	if !linked.IsRecording() || !below.IsRecording() || other.IsRecording() || child.IsRecording() {
		t.Errorf("recorded: linked %v, below %v, other %v, its child %v", linked.IsRecording(), below.IsRecording(),
			other.IsRecording(), child.IsRecording())
	}
}

// TestLate: what was told of a span holds when it is started after all.
func TestLate(t *testing.T) {
	spans := spantest.New(t, sdktrace.NeverSample())
	tracer, began := spans.Tracer("t"), time.UnixMilli(1_700_000_000_000)
	_, mark := spans.Request(t.Context())
	early, span := tracer.Start(t.Context(), "cycle")
	run, below := tracer.Start(early, "run")
	if span.IsRecording() || below.IsRecording() {
		t.Fatal("they are recorded")
	}
	told := trace.SpanContextFromContext(run)
	late, span := tracer.Restart(early, early, "cycle", began, mark, trace.WithNewRoot())
	lateRun, below := tracer.Restart(late, run, "run", began, nil)
	_, inner := tracer.Start(lateRun, "inner")
	inner.End()
	below.End()
	span.End()
	cycle, ran, in := spans.Wait("cycle"), spans.Wait("run"), spans.Wait("inner")
	switch {
	case cycle.Parent().IsValid() || !spantest.LinksTo(cycle, mark) || !cycle.StartTime().Equal(began):
		t.Error("the cycle is not as it began", spans)
	case ran.SpanContext().TraceID() != told.TraceID() || ran.SpanContext().SpanID() != told.SpanID():
		t.Error("the run is another one than was told of", spans)
	case !spantest.IsChildOf(ran, spantest.SpanRef(cycle)) || !spantest.IsChildOf(in, spantest.SpanRef(ran)) ||
		in.SpanContext().SpanID() == told.SpanID():
		t.Error("they are not below each other", spans)
	}
}

func TestStage(t *testing.T) {
	spans := spantest.New(t, sdktrace.NeverSample())
	tracer := spans.Tracer("t")
	_, mark := spans.Request(t.Context())
	_, by := spans.Request(t.Context())
	now := time.UnixMilli(1_700_000_000_000)
	tracer.RecordStage(t.Context(), telemetry.Stage{Name: "ticket matched", Ended: now})
	if got := spans.Named("ticket matched"); len(got) > 0 {
		t.Error("a ticket that is not sampled has a span")
	}
	tracer.RecordStage(t.Context(), telemetry.Stage{
		Name: "ticket released", Project: "demo", Ticket: "t-1", Span: mark, Cause: by, Began: now.Add(time.Hour), Ended: now,
		Reason: "timeout",
	})
	s := spans.Wait("ticket released")
	if !spantest.IsChildOf(s, mark) || !spantest.LinksTo(s, by) || spantest.Attribute(s, "matchmaker.ticket") != "t-1" ||
		s.Status().Code != codes.Error ||
		spantest.Attribute(s, "error.type") != "timeout" || !s.StartTime().Equal(now) || !s.EndTime().Equal(now) {
		t.Error(spans)
	}
}

func TestApart(t *testing.T) {
	spans := spantest.New(t, sdktrace.NeverSample())
	ctx, cancel := context.WithCancel(telemetry.WithCorrelationID(t.Context(), "its id"))
	in, _ := spans.Request(ctx)
	apart := telemetry.Detach(in)
	cancel()
	if apart.Err() != nil || trace.SpanContextFromContext(apart).IsValid() || telemetry.CorrelationID(apart) != "" {
		t.Error("it is about the request still")
	}
}

// TestSampler: the standard variables say what is sampled.
