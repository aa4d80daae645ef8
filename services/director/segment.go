package director

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/match/segmentation"
)

// segment is one config over one segment of its pools.
type segment struct {
	schedule.Segment
	config *pb.Config
	pools  map[string]*pb.Pool
	// division is of the config's pools.
	division *segmentation.Division
	// waiting says how many tickets wait in each queue, as the last run of the config saw them that counted them. The
	// next one counts at countAt.
	waiting  *pb.RunStats
	countAt  time.Time
	observed *observe.Segment
	// run is the run under way, or nil.
	run *run
}

// run is a run under way.
type run struct {
	*bus.Run
	segment *segment
	// traffic is what the run sent so far.
	traffic schedule.Traffic
	// counted: it counts the tickets of all queues.
	counted bool
	// dropped: there was no room for some of its proposals. It belongs to the goroutine that receives the parts.
	dropped bool
}

// startRun asks the runners to run the segment's function.
func (l *leader) startRun(ctx context.Context, s *segment, now time.Time) {
	l.asked[s.config.GetId()]++
	request := &pb.RunRequest{
		Run:       uuid.NewString(),
		Project:   l.project,
		Config:    s.config.GetId(),
		Function:  s.config.GetFunction(),
		Settings:  s.config.GetSettings(),
		Pools:     s.pools,
		Position:  l.position,
		Now:       l.Store.Now().UnixMilli(),
		Seed:      rand.Uint64(), //nolint:gosec // a seed of matches, not a secret
		Budget:    l.Settings.Run.Milliseconds(),
		Census:    s.division.Count(now, l.Settings.MaxInterval),
		Backfills: true,
		Queue:     s.config.GetQueue(),
		Report:    s.config.GetReport(),
		Upload:    s.config.GetUpload(),
		Number:    l.asked[s.config.GetId()],
		Epoch:     l.epoch,
	}
	s.Start(now)
	s.observed.RecordDelay(ctx, s.Delay())
	r := &run{segment: s, counted: !now.Before(s.countAt)}
	if request.Uncounted = !r.counted; r.counted {
		s.countAt = now.Add(l.Timing.Look)
	}
	s.run = r
	var err error
	r.Run, err = l.Bus.StartRun(s.observed.StartRun(ctx), request, func(p bus.Part) { l.receivePart(r, p) })
	if err != nil {
		l.endRun(ctx, s, schedule.Bus, err.Error(), nil)
		return
	}
	r.traffic.Request = r.Bytes
}

// receivePart makes proposals of a part, beside the leader's loop, and adds them to the inbox. A run for whose
// proposals there is no room ends: its earlier proposals are evaluated.
func (l *leader) receivePart(r *run, p bus.Part) {
	if r.dropped {
		return
	}
	in := part{run: r, RunPart: p.RunPart, bytes: p.Bytes}
	if n := len(p.GetProposals()); n > 0 {
		size := sizeOf(p)
		if l.memory.Take(r.segment.config.GetId(), size*int64(n)) {
			in.proposals = newProposals(r.segment, p.GetProposals(), size, l.Settings.BackfillFirst)
			for _, one := range in.proposals {
				one.Origin.upload, one.Origin.canary = p.GetUpload(), p.GetCanary()
			}
		} else {
			r.dropped = true
			in.RunPart = &pb.RunPart{Run: p.GetRun(), Last: true, Error: bus.Dropped, Stats: p.GetStats()}
			in.dropped = n
		}
	}
	l.inbox.add(in)
}

// answer handles one part of the answer to a run. Parts of runs that were given up are dropped.
func (l *leader) answer(ctx context.Context, p part) {
	s := p.run.segment
	if s.run != p.run {
		s.observed.CountProposals(ctx, "late", len(p.proposals))
		for _, late := range p.proposals {
			l.memory.Give(late.Config, late.Origin.size)
		}
		return
	}
	p.run.traffic.Messages++
	p.run.traffic.Bytes += p.bytes
	p.run.traffic.Proposals += len(p.proposals) + p.dropped
	for _, made := range p.proposals {
		p.run.traffic.Mentions += len(made.Tickets)
	}
	if runner := p.GetRunner(); runner != "" {
		l.runners.alive(runner)
		s.Take(runner, l.times())
		return
	}
	s.observed.TraceTickets(p.GetTraced())
	l.settler.add(l.Now(), s, p.proposals)
	if !p.GetLast() {
		return
	}
	if p.dropped > 0 {
		s.run.Stop() // more parts of it are dropped before they are read
		s.observed.CountProposals(ctx, "dropped", p.dropped)
	}
	if counts := p.GetStats().GetPopulation(); s.division != nil && counts != nil {
		s.division.Update(counts)
		for _, of := range l.segments[s.config.GetId()] {
			of.Hold(s.division.Outgrown)
		}
	}
	if p.GetError() == "" {
		s.Saw(p.GetPosition())
		l.settler.crossing = p.GetStats().GetCrossing()
		if p.run.counted {
			l.waiting = p.GetStats()
			for _, of := range l.segments[s.config.GetId()] {
				of.waiting = l.waiting
			}
		}
	}
	outcome := schedule.Failed
	switch p.GetError() {
	case "":
		outcome = schedule.OK
	case bus.NoRunner:
		outcome = schedule.Absent
	}
	l.endRun(ctx, s, outcome, p.GetError(), p.GetStats())
}

// endOverdue gives up runs that no runner took or answered in time, or whose runner is lost.
func (l *leader) endOverdue(ctx context.Context, now time.Time) {
	for s := range l.all() {
		if reason := s.Overdue(now, l.runners.isLost); reason != "" {
			s.run.Stop()
			l.endRun(ctx, s, schedule.Late, reason, nil)
		}
	}
}

// endRun notes that a run is over, and why it failed if it did.
func (l *leader) endRun(ctx context.Context, s *segment, o schedule.Outcome, failure string, stats *pb.RunStats) {
	now := l.Now()
	cost := schedule.CostOf(stats, s.run.traffic, s.Lost(o, now))
	s.observed.EndRun(ctx, o, failure, stats)
	l.observed.RecordCost(ctx, cost)
	s.End(o, cost.Sum(), now)
	s.run = nil
	s.closeIfIdle()
}

// stop gives up the run, if there is one. The segment is not used any more.
func (s *segment) stop(now time.Time) {
	if s.run != nil {
		s.run.Stop()
		s.Abandon(schedule.CostOf(nil, s.run.traffic, s.Lost(schedule.Late, now)).Sum(), now)
		s.run = nil
	}
	s.closeIfIdle()
}

// closeIfIdle ends the record of the last run when nothing of it is left.
func (s *segment) closeIfIdle() {
	if s.Idle() {
		s.observed.EndCycle()
	}
}
