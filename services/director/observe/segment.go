package observe

import (
	"context"
	"iter"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/schedule"
)

// Segment records the runs of one segment.
type Segment struct {
	project *Project
	config  *pb.Config
	pools   map[string]*pb.Pool
	labels  *labels
	// cycle is the run under way and its proposals; nil if there are none, or nothing is traced.
	cycle *cycle
	// failing is why the last run failed. A failure is not logged again at every run.
	failing string
	// counts has the number of tickets in each pool, from the last run that counted.
	counts map[string]*pb.PoolCount
}

// StartRun starts the spans of a run, and returns the context to request the run with.
func (s *Segment) StartRun(ctx context.Context) context.Context {
	s.cycle = s.project.startCycle(ctx, s.config)
	return s.runContext(ctx)
}

// TraceTickets records that proposals have sampled tickets.
func (s *Segment) TraceTickets(traced []*pb.Traced) {
	if s.cycle != nil && len(traced) > 0 {
		s.cycle.serve(traced)
	}
}

// EndRun records how the run ended, and why it failed if it did.
func (s *Segment) EndRun(ctx context.Context, outcome schedule.Outcome, failure string, stats *pb.RunStats) {
	m := s.project.metrics
	m.runs.Add(ctx, 1, s.labels.runs.Of(string(outcome)))
	if stats != nil {
		m.stages(ctx, stats)
	}
	if outcome == schedule.OK || len(stats.GetPools()) > 0 {
		s.counts = stats.GetPools()
	}
	if s.cycle != nil {
		s.cycle.endRun(outcome, stats)
	}
	log, about := s.project.log, s.runContext(ctx)
	id, function := s.config.GetId(), s.config.GetFunction()
	switch failure {
	case s.failing:
	case "":
		log.InfoContext(about, "the function runs again", "config", id, "function", function)
	default:
		log.WarnContext(about, "a run failed", "config", id, "function", function, "reason", failure)
	}
	s.failing = failure
}

// RecordDelay records how long the budget delayed a run.
func (s *Segment) RecordDelay(ctx context.Context, d time.Duration) {
	if d > 0 {
		s.project.metrics.delay.Record(ctx, d.Seconds(), s.labels.config)
	}
}

// EndCycle records that all proposals of the run are settled, or given up with it.
func (s *Segment) EndCycle() {
	if s.cycle != nil {
		s.cycle.run.span.End() // does nothing if EndRun did
		s.cycle.span.End()
		s.cycle = nil
	}
}

// CountUnclaimed counts selected proposals that are given up, one for each segment given.
func (p *Project) CountUnclaimed(ctx context.Context, segments iter.Seq[*Segment]) {
	for s := range segments {
		s.CountProposals(ctx, "unclaimed", 1)
	}
}

// CountOutbid counts the candidates of an evaluation that were neither selected nor take part in the next one.
func (p *Project) CountOutbid(ctx context.Context, candidates, selected, next iter.Seq[*Segment]) {
	outbid := map[*Segment]int{}
	for s := range candidates {
		outbid[s]++
	}
	for s := range selected {
		outbid[s]--
	}
	for s := range next {
		outbid[s]--
	}
	for s, n := range outbid {
		if n > 0 {
			s.CountProposals(ctx, "outbid", n)
		}
	}
}

// CountProposals counts proposals by what became of them.
func (s *Segment) CountProposals(ctx context.Context, outcome string, n int) {
	s.project.metrics.proposals.Add(ctx, int64(n), s.labels.proposals.Of(outcome))
}

// runContext is ctx with the span of the run.
func (s *Segment) runContext(ctx context.Context) context.Context {
	if s.cycle == nil {
		return ctx
	}
	return s.cycle.run.ctx
}
