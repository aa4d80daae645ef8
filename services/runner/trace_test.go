package runner_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/spantest"
	"matchmaker.dev/services/runner"
)

// A run is traced when it serves a sampled ticket, even if its request was not sampled. No other run is.
func TestRunsOfSampledTicketsAreTraced(t *testing.T) {
	w := newWorld(t)
	spans := spantest.New(t, sdktrace.NeverSample())
	var log spantest.Log
	w.startRunner("runner-1", quickSettings(), func(o *runner.Options) {
		o.Tracer, o.Log = spans.Tracer("runner"), slog.New(telemetry.LogHandler(slog.NewTextHandler(&log,
			&slog.HandlerOptions{Level: slog.LevelDebug})))
	})
	w.put(project, "guest", w.guest)
	w.waitServing("guest", 1)

	// invoke does a run in a span that is not sampled, for a request with a correlation id.
	invoke := func(do string) (answer, trace.SpanContext, []*pb.Traced) {
		ctx, _ := spans.Tracer("director").Start(telemetry.WithCorrelationID(t.Context(), "id-of-a-request"), "run")
		var traced []*pb.Traced
		parts := make(chan *pb.RunPart, 10)
		run, err := w.bus.StartRun(ctx, &pb.RunRequest{
			Run: fmt.Sprint("traced-", w.runs.Add(1)), Project: project, Function: "guest", Position: w.position(),
			Budget: 20_000, Now: 1_700_000_100_000,
			Settings: fmt.Appendf(nil, `{"do":%q}`, do), Pools: map[string]*pb.Pool{"all": {}},
		}, func(p bus.Part) {
			traced = append(traced, p.GetTraced()...)
			if p.GetRunner() == "" {
				parts <- p.RunPart
			}
		})
		w.must(err)
		defer run.Stop()
		return w.awaitAnswer(parts), trace.SpanContextFromContext(ctx), traced
	}
	w.ticket(1, nil)
	w.ticket(2, nil)
	if a, _, traced := invoke("pair"); a.error != "" || len(a.proposals) != 1 || len(traced) > 0 {
		t.Fatalf("%+v, sampled are %v", a, traced)
	}
	if _, _, traced := invoke("fail"); len(traced) > 0 {
		t.Fatalf("sampled are %v", traced)
	}
	if text := spans.String(); text != "" {
		t.Fatalf("no run is sampled, and there are spans:\n%s", text)
	}

	_, mark := spans.Request(t.Context())
	w.trace = mark
	sampled := w.ticket(3, map[string][]byte{"team": []byte("a secret of the player")})
	w.trace = nil
	w.ticket(4, nil)
	a, in, traced := invoke("pair")
	if a.error != "" || len(traced) != 1 || traced[0].GetTicket() != sampled || !bytes.Equal(traced[0].GetTrace(), mark) {
		t.Fatalf("%q, sampled are %v", a.error, traced)
	}
	execute := spans.Wait("execute")
	if !spantest.IsChildOf(execute, telemetry.EncodeSpanRef(in.WithTraceFlags(trace.FlagsSampled))) ||
		!spantest.LinksTo(execute, mark) ||
		spantest.Attribute(execute, "matchmaker.tickets") != "4" ||
		spantest.Attribute(execute, "matchmaker.outcome") != "ok" || execute.Status().Code == codes.Error {
		t.Error(spans)
	}
	for _, stage := range []string{"select", "encode", "function", "decode"} {
		if s := spans.Wait(stage); !spantest.IsChildOf(s, spantest.SpanRef(execute)) ||
			s.StartTime().Before(execute.StartTime()) ||
			s.EndTime().After(execute.EndTime()) {
			t.Errorf("%s is not a part of the run", stage)
		}
	}

	// A failed run has the type of the error in its span; the log names the trace and the request.
	for _, do := range []string{"fail", "panic"} {
		a, in, traced := invoke(do)
		if a.error == "" || len(traced) != 1 {
			t.Fatalf("%s: %+v, sampled are %v", do, a, traced)
		}
		eventually(t, do+" is traced", func() bool {
			return slices.ContainsFunc(spans.Named("execute"), func(s sdktrace.ReadOnlySpan) bool {
				return s.Parent().SpanID() == in.SpanID() && s.Status().Code == codes.Error &&
					(spantest.Attribute(s, "error.type") == "complaint") == (do == "fail")
			})
		})
		eventually(t, do+" is logged", func() bool {
			return log.HasLine("a run failed", "trace_id="+in.TraceID().String(), "correlationId=id-of-a-request")
		})
	}
	for _, never := range []string{"a secret", "as told"} {
		if strings.Contains(spans.String(), never) {
			t.Errorf("%q is in a trace:\n%s", never, spans)
		}
	}
}

// eventually waits until ok returns true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-again.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
