package director

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/telemetry"
)

// A cycle is what becomes of one run of a course, until its proposals are settled. It is traced when its own sampling says so,
// and when a sampled ticket is in one of its proposals, which is known only when these come: then its spans are started late.
// A sampled ticket gets spans in its own trace, which link to those of the cycles that it came through.
type cycle struct {
	course *course
	began  time.Time
	// ctx and span are the cycle's, run and asked those of its run.
	ctx, run    context.Context
	span, asked trace.Span
	// marks are those of the sampled tickets that were proposed.
	marks map[string][]byte
}

// Most tickets that a span links to, and most of a match that its allocation is told of.
const mostLinks = 128

// begin begins a course's cycle. What it returns is the context to ask for the run with.
func (l *leader) begin(ctx context.Context, c *course) context.Context {
	c.cycle = nil
	if !l.Tracer.Enabled() {
		return ctx
	}
	y := &cycle{course: c, began: time.Now()}
	y.ctx, y.span = l.Tracer.Start(ctx, "cycle", trace.WithNewRoot(), trace.WithTimestamp(y.began))
	y.run, y.asked = l.Tracer.Start(y.ctx, "run", trace.WithTimestamp(y.began), trace.WithSpanKind(trace.SpanKindProducer))
	l.name(y)
	c.cycle = y
	return y.run
}

// name writes what a cycle is about on its spans.
func (l *leader) name(y *cycle) {
	config := y.course.config
	for _, span := range []trace.Span{y.span, y.asked} {
		if span.IsRecording() {
			span.SetAttributes(
				attribute.String("matchmaker.project", l.project), attribute.String("matchmaker.config", config.GetId()),
				attribute.String("matchmaker.function", config.GetFunction()), attribute.Int64("matchmaker.revision", config.GetRevision()),
				attribute.Int64("matchmaker.epoch", int64(l.epoch)),
			)
		}
	}
}

// serves notes that a cycle is about sampled tickets.
func (l *leader) serves(y *cycle, traced []*pb.Traced) {
	if y == nil || len(traced) == 0 {
		return
	}
	l.late(y, traced[0].GetTrace())
	if y.marks == nil {
		y.marks = make(map[string][]byte, len(traced))
	}
	for _, t := range traced {
		if _, known := y.marks[t.GetTicket()]; !known && len(y.marks) < mostLinks {
			for _, link := range telemetry.Links(t.GetTrace()) {
				y.span.AddLink(link)
			}
		}
		y.marks[t.GetTicket()] = t.GetTrace()
	}
}

// late starts the spans of a cycle that was not to be traced.
func (l *leader) late(y *cycle, about []byte) {
	if y.span.IsRecording() {
		return
	}
	ctx := y.ctx
	y.ctx, y.span = l.Tracer.Restart(ctx, ctx, "cycle", y.began, about, trace.WithNewRoot())
	y.run, y.asked = l.Tracer.Restart(y.ctx, y.run, "run", y.began, nil, trace.WithSpanKind(trace.SpanKindProducer))
	l.name(y)
}

// answered notes how a cycle's run ended; reason is empty when it went well.
func (y *cycle) answered(stats *pb.RunStats, reason string) {
	if y == nil || !y.asked.IsRecording() {
		return
	}
	y.asked.SetAttributes(
		attribute.Int64("matchmaker.tickets", stats.GetTickets()), attribute.Int64("matchmaker.proposals", stats.GetProposals()),
	)
	if reason != "" {
		telemetry.Fail(y.asked, reason, failures[reason])
	}
	y.asked.End()
}

// failures are what may become of a run. What a function says of it is in the log: it may be about tickets.
var failures = map[string]string{
	"failed": "the run failed: the log says why",
	"absent": "no runner has an instance of the function",
	"late":   "no runner took the run, or answered, in time",
	"bus":    "the message bus did not take the run",
}

// about is the context of what is logged about a course's run.
func (c *course) about(ctx context.Context) context.Context {
	if c.cycle == nil {
		return ctx
	}
	return c.cycle.run
}

// rest ends a course's cycle when nothing of it is left.
func (c *course) rest() {
	if c.cycle != nil && c.idle() {
		c.cycle.span.End()
		c.cycle = nil
	}
}

// held writes a contest into the traces of the cycles that took part in it.
func (l *leader) held(r *round, began time.Time) {
	if !l.Tracer.Enabled() {
		return
	}
	ended, won := time.Now(), map[*cycle]int{}
	for _, p := range r.won {
		won[p.Origin.cycle]++
	}
	made := map[*cycle]int{}
	for _, p := range r.entries {
		made[p.Origin.cycle]++
	}
	for y, n := range made {
		if y == nil || !y.span.IsRecording() {
			continue
		}
		_, span := l.Tracer.Start(y.ctx, "contest", trace.WithTimestamp(began))
		span.SetAttributes(
			attribute.Int("matchmaker.proposals", n), attribute.Int("matchmaker.won", won[y]),
			attribute.Int("matchmaker.proposals.all", len(r.entries)),
		)
		span.End(trace.WithTimestamp(ended))
	}
}

// batch is the spans of claims that are made together, one in the trace of each cycle that has some of them.
type batch struct {
	l     *leader
	spans map[*cycle]*claiming
}

type claiming struct {
	ctx              context.Context
	span             trace.Span
	claimed, refused int
}

// claiming begins the claim of some winners; nil when no cycle of theirs is traced.
func (l *leader) claiming(winners []*proposal) *batch {
	if !l.Tracer.Enabled() {
		return nil
	}
	var b *batch
	for _, p := range winners {
		y := p.Origin.cycle
		if y == nil || !y.span.IsRecording() || b != nil && b.spans[y] != nil {
			continue
		}
		if b == nil {
			b = &batch{l: l, spans: map[*cycle]*claiming{}}
		}
		s := new(claiming)
		s.ctx, s.span = l.Tracer.Start(y.ctx, "claim")
		b.spans[y] = s
	}
	return b
}

// mark lets the allocation, and who reads the result, know of the sampled tickets of a claim.
func (b *batch) mark(p *proposal, c *state.Claim) {
	if b == nil || p.Origin.cycle == nil || len(p.Origin.cycle.marks) == 0 {
		return
	}
	for _, id := range c.Tickets {
		if mark := p.Origin.cycle.marks[id]; mark != nil && len(c.Match.Traced) < mostLinks {
			c.Match.Traced = append(c.Match.Traced, &pb.Traced{Ticket: id, Trace: mark})
		}
	}
	if len(c.Match.Traced) == 0 {
		return
	}
	c.Match.Trace = telemetry.SpanRef(b.spans[p.Origin.cycle].ctx)
	for _, a := range c.Assignments {
		a.Trace = c.Match.Trace
	}
}

// end tells what became of the claims: on their spans, and in the traces of the tickets.
func (b *batch) end(winners []*proposal, claims []*state.Claim, err error) {
	if b == nil {
		return
	}
	for i, c := range claims {
		s := b.spans[winners[i].Origin.cycle]
		switch {
		case s == nil || err != nil:
		case c.Refusal != "":
			s.refused++
		default:
			s.claimed++
			b.l.matched(s.ctx, c)
		}
	}
	for _, s := range b.spans {
		s.span.SetAttributes(attribute.Int("matchmaker.claims", s.claimed), attribute.Int("matchmaker.claims.refused", s.refused), attribute.Int("matchmaker.claims.all", len(claims)))
		if err != nil {
			telemetry.Fail(s.span, "unclaimed", err.Error())
		}
		s.span.End()
	}
}

// matched writes into the traces of a match's tickets that they were matched, and that they have a result where no server is asked for.
func (l *leader) matched(ctx context.Context, c *state.Claim) {
	now := time.Now()
	for _, t := range c.Match.GetTraced() {
		stage := telemetry.Stage{
			Name: "ticket matched", Project: l.project, Config: c.Match.GetConfig(), Match: c.Match.GetId(), Ticket: t.GetTicket(),
			Span: t.GetTrace(), Cause: c.Match.GetTrace(), Ended: now,
		}
		stage.Began, _ = state.CreationTime(t.GetTicket())
		l.Tracer.RecordStage(ctx, stage)
		if c.Assignments != nil && c.Match.GetProposal().GetFilling().GetBackfill() == "" {
			stage.Name, stage.Began = "ticket assigned", now
			l.Tracer.RecordStage(ctx, stage)
		}
	}
}

// sendTraced sends matches with sampled tickets to the allocators, in the trace of each cycle that they come from.
func (l *leader) sendTraced(ctx context.Context, traced map[string][]string) {
	for mark, matches := range traced {
		l.sends.Go(func() {
			ctx, span := l.Tracer.StartChild(ctx, []byte(mark), "publish", trace.WithSpanKind(trace.SpanKindProducer))
			span.SetAttributes(attribute.String("matchmaker.project", l.project), attribute.Int("matchmaker.matches", len(matches)))
			if !l.send(ctx, matches) {
				telemetry.Fail(span, "outbox", "not all matches reached the work queue: they are sent again from the outbox")
			}
			span.End()
		})
	}
}
