package observe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// maxLinks is how many sampled tickets a span links to, and how many a match names to its allocation.
const maxLinks = 128

// cycle is the spans of one run and of its proposals until they are settled. It is recorded if its own sampling says
// so, or if a sampled ticket is in one of its proposals. The latter is known only when the proposals come: its spans
// are started late then. A sampled ticket has spans in its own trace, which link to the cycles that it came through.
type cycle struct {
	project *Project
	config  *pb.Config
	began   time.Time
	spanContext
	run spanContext
	// tickets are the spans of the sampled tickets that were proposed.
	tickets map[string][]byte
}

// spanContext is a span and the context below it.
type spanContext struct {
	ctx  context.Context
	span trace.Span
}

func newSpanContext(ctx context.Context, span trace.Span) spanContext { return spanContext{ctx, span} }

// startCycle starts the spans of a cycle and of its run; nil if nothing is traced.
func (p *Project) startCycle(ctx context.Context, config *pb.Config) *cycle {
	if !p.tracer.Enabled() {
		return nil
	}
	c := &cycle{project: p, config: config, began: time.Now()}
	at, producer := trace.WithTimestamp(c.began), trace.WithSpanKind(trace.SpanKindProducer)
	c.spanContext = newSpanContext(p.tracer.Start(ctx, "cycle", trace.WithNewRoot(), at))
	c.run = newSpanContext(p.tracer.Start(c.ctx, "run", at, producer))
	c.describe()
	return c
}

// restart starts the spans once more, as ones that are recorded.
func (c *cycle) restart(cause []byte) {
	tracer, producer := c.project.tracer, trace.WithSpanKind(trace.SpanKindProducer)
	c.spanContext = newSpanContext(tracer.Restart(c.ctx, c.ctx, "cycle", c.began, cause, trace.WithNewRoot()))
	c.run = newSpanContext(tracer.Restart(c.ctx, c.run.ctx, "run", c.began, nil, producer))
	c.describe()
}

// describe writes on the spans what they are about.
func (c *cycle) describe() {
	for _, span := range []trace.Span{c.span, c.run.span} {
		if span.IsRecording() {
			span.SetAttributes(
				attribute.String("matchmaker.project", c.project.name),
				attribute.String("matchmaker.config", c.config.GetId()),
				attribute.String("matchmaker.function", c.config.GetFunction()),
				attribute.Int64("matchmaker.revision", c.config.GetRevision()),
				attribute.Int64("matchmaker.epoch", int64(c.project.epoch)),
			)
		}
	}
}

func (c *cycle) recording() bool { return c != nil && c.span.IsRecording() }

// serve notes that sampled tickets were proposed.
func (c *cycle) serve(traced []*pb.Traced) {
	if !c.recording() {
		c.restart(traced[0].GetTrace())
	}
	if c.tickets == nil {
		c.tickets = make(map[string][]byte, len(traced))
	}
	for _, t := range traced {
		if _, linked := c.tickets[t.GetTicket()]; !linked && len(c.tickets) < maxLinks {
			for _, link := range telemetry.Links(t.GetTrace()) {
				c.span.AddLink(link)
			}
		}
		c.tickets[t.GetTicket()] = t.GetTrace()
	}
}

// endRun ends the span of the run.
func (c *cycle) endRun(outcome schedule.Outcome, stats *pb.RunStats) {
	span := c.run.span
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.Int64("matchmaker.tickets", stats.GetTickets()),
		attribute.Int64("matchmaker.proposals", stats.GetProposals()),
	)
	if outcome != schedule.OK {
		telemetry.Fail(span, string(outcome), failures[outcome])
	}
	span.End()
}

// failures describe outcomes on spans. The text of a function's error is in the log alone: it may be about tickets.
var failures = map[schedule.Outcome]string{
	schedule.Failed: "the run failed: the log says why",
	schedule.Absent: "no runner has an instance of the function",
	schedule.Late:   "no runner took the run, or answered, in time",
	schedule.Bus:    "the message bus did not take the run",
}
