package observe

import (
	"context"
	"iter"
	"time"

	"go.opentelemetry.io/otel/attribute"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// RecordClaims calls claim, which makes some claims. It records the outcome of each claim of each segment, and writes
// the spans of their sampled tickets on the claims. began is when the work on the claims began, now their time.
func (p *Project) RecordClaims(
	ctx context.Context, began, now time.Time, claims iter.Seq2[*Segment, *state.Claim], claim func() error,
) error {
	spans := map[*cycle]*claimSpan{}
	for s, c := range claims {
		if s.cycle.recording() {
			if spans[s.cycle] == nil {
				spans[s.cycle] = &claimSpan{spanContext: newSpanContext(p.tracer.Start(s.cycle.ctx, "claim"))}
			}
			s.cycle.mark(spans[s.cycle].ctx, c)
		}
	}
	err := claim()
	p.metrics.recordPhase(ctx, "claim", time.Since(began))
	all, outcomes := 0, map[outcome]int64{}
	for s, c := range claims {
		all++
		if err != nil {
			outcomes[outcome{segment: s, claim: "failed"}]++
			continue
		}
		o := outcomeOf(s, c)
		outcomes[o]++
		if o.match != "" {
			s.recordMatch(ctx, now, c, o.match)
		}
		switch span := spans[s.cycle]; {
		case span == nil:
		case c.Refusal != "":
			span.refused++
		default:
			span.claimed++
			p.recordStages(span.ctx, c)
		}
	}
	p.countClaims(ctx, outcomes)
	for _, span := range spans {
		span.span.SetAttributes(
			attribute.Int("matchmaker.claims", span.claimed), attribute.Int("matchmaker.claims.refused", span.refused),
			attribute.Int("matchmaker.claims.all", all),
		)
		if err != nil {
			telemetry.Fail(span.span, "unclaimed", err.Error())
		}
		span.span.End()
	}
	return err
}

// claimSpan is the span of the claims of one cycle, and how many there are.
type claimSpan struct {
	spanContext
	claimed, refused int
}

// mark writes the spans of the claim's sampled tickets on its match, for the allocation, and the span of the claim on
// the match and the results.
func (c *cycle) mark(ctx context.Context, claim *state.Claim) {
	for _, id := range claim.Tickets {
		if span := c.tickets[id]; span != nil && len(claim.Match.Traced) < maxLinks {
			claim.Match.Traced = append(claim.Match.Traced, &pb.Traced{Ticket: id, Trace: span})
		}
	}
	if len(claim.Match.Traced) == 0 {
		return
	}
	claim.Match.Trace = telemetry.SpanRef(ctx)
	for _, a := range claim.Assignments {
		a.Trace = claim.Match.Trace
	}
}

// recordStages records in the traces of a match's tickets that they are matched, and that they have a result if no
// server is allocated.
func (p *Project) recordStages(ctx context.Context, c *state.Claim) {
	now := time.Now()
	for _, t := range c.Match.GetTraced() {
		stage := telemetry.Stage{
			Name: "ticket matched", Project: p.name, Config: c.Match.GetConfig(), Match: c.Match.GetId(),
			Ticket: t.GetTicket(), Span: t.GetTrace(), Cause: c.Match.GetTrace(), Ended: now,
		}
		stage.Began, _ = state.CreationTime(t.GetTicket())
		p.tracer.RecordStage(ctx, stage)
		if c.Assignments != nil {
			stage.Name, stage.Began = "ticket assigned", now
			p.tracer.RecordStage(ctx, stage)
		}
	}
}

// outcome is the outcome of a claim of a segment. Claims are counted by outcome and not one by one: there are up to a
// thousand at a time, and the next claims wait for it.
type outcome struct {
	segment *Segment
	// claim is the label of the claim, and match the label of its match, "" if there is none.
	claim, match string
}

func outcomeOf(s *Segment, c *state.Claim) outcome {
	switch c.Refusal {
	case "":
	case "config", "backfill", "full", "hosting", "target", "players":
		return outcome{segment: s, claim: c.Refusal}
	default:
		return outcome{segment: s, claim: "ticket"}
	}
	o := outcome{segment: s, claim: "ok", match: "hosted"}
	switch {
	case c.Match.GetProposal().GetFilling().GetBackfill() != "":
		o.match = "filling"
	case c.Assignments != nil:
		o.match = "direct"
	}
	return o
}

// countClaims counts claims by their outcomes. Unless Redis did not answer, the proposals were kept.
func (p *Project) countClaims(ctx context.Context, outcomes map[outcome]int64) {
	for o, n := range outcomes {
		labels := o.segment.labels
		p.metrics.claims.Add(ctx, n, labels.claims.Of(o.claim))
		if o.claim != "failed" {
			o.segment.CountProposals(ctx, "kept", int(n))
		}
		if o.match != "" {
			p.metrics.matches.Add(ctx, n, labels.matches.Of(o.match))
		}
	}
}

// RecordAccepted records that tickets of a match that needs no server have their results, which all of its players
// accepted.
func (p *Project) RecordAccepted(ctx context.Context, now time.Time, match *pb.Match, tickets []string) {
	result := "connection"
	if match.GetProposal().GetError() != "" {
		result = "error"
	}
	labels := telemetry.WithLabels(p.metrics.configs.Of(p.name, match.GetConfig()), attribute.String("result", result))
	for _, id := range tickets {
		if created, known := state.CreationTime(id); known {
			p.metrics.assigned.Record(ctx, age(created, now), labels)
		}
	}
}

// recordMatch records a match that was claimed.
func (s *Segment) recordMatch(ctx context.Context, now time.Time, c *state.Claim, kind string) {
	m, p := s.project.metrics, c.Match.GetProposal()
	m.score.Record(ctx, p.GetScore(), s.labels.config)
	m.size.Record(ctx, float64(len(c.Tickets)), s.labels.config)
	m.players.Record(ctx, float64(max(len(c.Tickets), int(p.GetPlayers()))), s.labels.config)
	reported := s.recordMeasures(ctx, c)
	result := s.labels.assigned
	if p.GetError() != "" {
		result = s.labels.unassigned
	}
	for i, id := range c.Tickets {
		created, known := state.CreationTime(id)
		if !known {
			continue
		}
		waited := age(created, now)
		if reported {
			party := report.PartyName(report.PartyOf(c.Parties, i))
			m.waits.Record(ctx, waited, m.parties.Option(s.project.name, c.Queue, party))
		}
		if p.GetError() == "" {
			m.matching.Record(ctx, waited, s.labels.config)
		}
		if kind == "direct" {
			m.assigned.Record(ctx, waited, result)
		}
	}
}

// recordMeasures records how good a match is, if its config has a report or its function measures. It reports whether
// the waits are told by party, too.
func (s *Segment) recordMeasures(ctx context.Context, c *state.Claim) (reported bool) {
	p, m := c.Match.GetProposal(), s.project.metrics
	if s.config.GetReport() == nil && len(c.Measures) == 0 || p.GetError() != "" {
		return false
	}
	largest := report.PartyName(report.Largest(c.Parties, len(c.Tickets), int(p.GetPlayers())))
	record := func(kind, name string, value float64) {
		m.measured.Record(ctx, value, m.measures.Option(s.project.name, c.Queue, largest, kind, name))
	}
	for _, a := range c.Attributes {
		record(report.Spread, a.GetName(), a.GetSpread())
		if a.Gap != nil {
			record(report.Gap, a.GetName(), a.GetGap())
		}
	}
	for _, one := range c.Measures {
		record(report.Measure, one.GetName(), one.GetValue())
	}
	return s.config.GetReport() != nil
}
