package backfill

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/spantest"
	"matchmaker.dev/services/internal/platform/settings"
)

// observed is the service, all of whose requests are sampled.
func observed(t *testing.T) (*match, *spantest.Spans, *spantest.Log) {
	t.Helper()
	spans, log := spantest.New(t, sdktrace.AlwaysSample()), new(spantest.Log)
	s := settings.Default[Settings]()
	s.RequestTime = 30 * time.Second
	m := startWith(t, s, func(o *Options, edge *web.Options) {
		o.Tracer, edge.Tracer = spans.Tracer("backfill"), spans.Provider
		o.Log = slog.New(telemetry.LogHandler(slog.NewTextHandler(log, nil)))
	})
	return m, spans, log
}

// TestApprovalIsInTheTracesOfItsTickets, and their results lead to it.
func TestApprovalIsInTheTracesOfItsTickets(t *testing.T) {
	m, spans, _ := observed(t)
	id := m.create(t, base, `{"Connection":"10.0.0.1:7777","attributes":{"free":2}}`)
	_, m.trace = spans.Request(t.Context())
	m.tickets(t, "ada")
	mark := m.trace
	m.trace = nil
	m.tickets(t, "bob")
	m.propose(t, id, "ada", "bob")
	m.post(t, base+"/"+id+"/approvals", "").expect(t, 200)
	approval, assigned := spans.Wait("POST /:project/matchmaking/api/v2/backfill/:backfill/approvals"),
		spans.Wait("ticket assigned")
	if !spantest.LinksTo(approval, mark) || !spantest.IsChildOf(assigned, mark) ||
		!spantest.LinksTo(assigned, spantest.SpanRef(approval)) {
		t.Error(spans)
	}
	if got := m.assigned(t, "ada"); !bytes.Equal(got.GetTrace(), spantest.SpanRef(approval)) {
		t.Errorf("the result of ada has the trace %x", got.GetTrace())
	}
}

// TestFirstGenerationIsTraced through the run of its function; a failure is on its span and in the log.
func TestFirstGenerationIsTraced(t *testing.T) {
	m, spans, log := observed(t)
	_, mark := spans.Request(t.Context())
	m.trace = mark
	m.tickets(t, "ada")
	fail := ""
	m.play(t, "duel", func(*pb.RunRequest) ([]*pb.Proposal, string) {
		if fail != "" {
			return nil, fail
		}
		return []*pb.Proposal{proposed(1, "ada")}, ""
	})
	m.post(t, first, asked).expect(t, 200)
	request, run, assigned := spans.Wait("POST /:project/matchmaking/api/v1/backfill"), spans.Wait("run"),
		spans.Wait("ticket assigned")
	if !spantest.LinksTo(request, mark) || !spantest.IsChildOf(run, spantest.SpanRef(request)) ||
		!spantest.IsChildOf(assigned, mark) || run.Status().Code == codes.Error ||
		!bytes.Equal(m.assigned(t, "ada").GetTrace(), spantest.SpanRef(request)) {
		t.Error(spans)
	}
	fail = "it broke, and says: a property"
	m.post(t, first, asked).same(t, 200, nobody)
	failed := spans.Named("run")[1]
	if failed.Status().Code != codes.Error || spantest.Attribute(failed, "error.type") != "failed" ||
		strings.Contains(spans.String(), "a property") {
		t.Error(spans)
	}
	if !log.HasLine("a run for a backfill request failed", "trace_id="+failed.SpanContext().TraceID().String(),
		"correlationId=") {
		t.Errorf("the log names no trace and no request:\n%s", log)
	}
}
