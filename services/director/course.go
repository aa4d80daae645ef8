package director

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/evaluator"
	"matchmaker.dev/services/internal/state"
)

// proposal is a proposal and the course whose run made it.
type proposal = evaluator.Candidate[*course]

// absent is how long a config rests whose function no runner hosts, or that cannot be run at all.
const absent = 250 * time.Millisecond

// untaken is how long a run may wait for a runner to take it, before it is asked for again. A runner answers at
// once: the question is lost, or was put to one that is dead or frozen. It grows eightfold while nobody answers.
const untaken = 250 * time.Millisecond

// course is the way of one config, or of one segment of its pools, through its runs.
type course struct {
	config *pb.Config
	pools  map[string]*pb.Pool
	// census is of the config's pools; nil when no segments depend on it.
	census *census
	// dirty: something happened since the last start.
	dirty bool
	// started is when the last run started; notBefore keeps a config resting.
	started, notBefore time.Time
	// flight is the run under way; nil when there is none.
	flight *flight
	// unsettled counts the proposals of the last run that have not been settled:
	// the next run would only propose the same tickets.
	unsettled int
	// questions is how often in a row nobody took a run.
	questions int
	// failing keeps a failure from being logged at every run.
	failing string
	labels  *labels
	// cycle is how traces see the run under way and its proposals; nil when nothing is, and when nothing is traced.
	cycle *cycle
	// crowd is how many tickets the last run that looked saw in each pool.
	crowd map[string]*pb.PoolCount
}

// flight is a run under way.
type flight struct {
	course  *course
	run     *bus.Run
	started time.Time
	// runner has taken it; until then it is empty, and deadline is when somebody must have.
	runner   string
	deadline time.Time
}

// due is when a config may run next.
func (c *course) due(t Times) time.Time {
	wait := t.MaxInterval
	if c.dirty {
		wait = t.MinInterval
	}
	due := c.started.Add(wait)
	if due.Before(c.notBefore) {
		return c.notBefore
	}
	return due
}

func (c *course) idle() bool { return c.flight == nil && c.unsettled == 0 }

func (c *course) halt() {
	if c.flight != nil {
		c.flight.run.Stop()
		c.flight = nil
	}
	c.rest()
}

// start starts the runs of all configs that are due, and says when to look again at the latest.
func (l *leader) start(ctx context.Context) time.Time {
	l.divide(ctx)
	now := l.Now()
	next := earlier(now.Add(l.Times.MaxInterval), l.repair)
	if !l.retired.IsZero() {
		next = earlier(next, l.retired.Add(l.Times.Lease))
	}
	if len(l.pending) > 0 {
		next = earlier(next, l.ripe())
	}
	if len(l.rounds) > 0 && !l.blind {
		next = now
	}
	for c := range l.all() {
		rests := !c.idle() || c.census.changed() || l.empty || l.blind || !l.retired.IsZero()
		if !rests && !c.due(l.Times).After(now) {
			l.startRun(ctx, c, now)
			rests = !c.idle()
		}
		if !rests {
			next = earlier(next, c.due(l.Times))
		}
		if c.flight != nil {
			next = earlier(next, c.flight.deadline)
		}
	}
	return next
}

func (l *leader) startRun(ctx context.Context, c *course, now time.Time) {
	f := &flight{course: c, started: now, deadline: now.Add(untaken << min(c.questions, 3))}
	request := &pb.RunRequest{
		Run:       uuid.NewString(),
		Project:   l.project,
		Config:    c.config.GetId(),
		Function:  c.config.GetFunction(),
		Settings:  c.config.GetSettings(),
		Pools:     c.pools,
		Position:  l.position,
		Now:       now.UnixMilli(),
		Seed:      rand.Uint64(), //nolint:gosec // a seed of matches, not a secret
		Budget:    l.Times.Run.Milliseconds(),
		Census:    c.census.ask(now, l.Times.MaxInterval),
		Backfills: true,
	}
	c.started, c.dirty = now, false
	asking := l.begin(ctx, c)
	run, err := l.Bus.StartRun(asking, request, func(answer *pb.RunPart) { l.inbox.add(part{f, answer}) })
	if err != nil {
		l.failed(c, err.Error())
		c.cycle.answered(nil, "bus")
		c.rest()
		c.notBefore = now.Add(absent)
		return
	}
	f.run, c.flight = run, f
}

// part takes in one part of an answer; one of a run that was given up is dropped.
func (l *leader) part(n part) {
	c := n.flight.course
	ctx := context.Background()
	if c.flight != n.flight {
		l.metrics.proposals.Add(ctx, int64(len(n.part.GetProposals())), c.labels.proposals["late"])
		return
	}
	if taker := n.part.GetRunner(); taker != "" {
		c.questions = 0
		l.runners.took(taker)
		n.flight.runner, n.flight.deadline = taker, n.flight.started.Add(l.Times.Run+time.Second)
		return
	}
	if len(l.pending) == 0 {
		l.since = l.Now()
	}
	l.serves(c.cycle, n.part.GetTraced())
	made := make([]proposal, len(n.part.GetProposals()))
	for i, p := range n.part.GetProposals() {
		made[i] = proposal{
			Proposal: p, Tickets: state.TicketsOf(p), Config: c.config.GetId(),
			First: l.BackfillFirst && p.GetFilling().GetBackfill() != "", Origin: c,
		}
		l.pending = append(l.pending, &made[i])
	}
	c.unsettled += len(made)
	if !n.part.GetLast() {
		return
	}
	c.flight = nil
	c.census.hear(n.part.GetStats().GetPopulation())
	if n.part.GetError() == "" || len(n.part.GetStats().GetPools()) > 0 {
		c.crowd = n.part.GetStats().GetPools()
	}
	if n.part.GetStats() != nil {
		l.metrics.stages(ctx, n.part.GetStats())
	}
	outcome := outcomeOf(n.part.GetError())
	c.cycle.answered(n.part.GetStats(), outcome)
	switch failure := n.part.GetError(); failure {
	case "":
		l.metrics.runs.Add(ctx, 1, c.labels.runs["ok"])
		if c.failing != "" {
			l.log.InfoContext(c.about(ctx), "the function runs again", "config", c.config.GetId(), "function", c.config.GetFunction())
			c.failing = ""
		}
	case bus.NoRunner:
		l.metrics.runs.Add(ctx, 1, c.labels.runs["absent"])
		c.notBefore = l.Now().Add(absent)
		c.dirty = true
		l.failed(c, failure)
	default:
		l.metrics.runs.Add(ctx, 1, c.labels.runs["failed"])
		l.failed(c, failure)
	}
	c.rest()
}

// outcomeOf is the word for how a run failed, empty when it did not.
func outcomeOf(failure string) string {
	switch failure {
	case "":
		return ""
	case bus.NoRunner:
		return "absent"
	}
	return "failed"
}

// overdue gives up runs that nobody took or answered in time, or whose runner is lost.
func (l *leader) overdue(now time.Time) {
	for c := range l.all() {
		f := c.flight
		switch {
		case f == nil:
			continue
		case f.runner != "" && l.runners.lost(f.runner):
			l.failed(c, "the runner is lost")
		case now.Before(f.deadline):
			continue
		case f.runner != "":
			l.failed(c, "the runner did not answer in time")
		default:
			c.questions++
			l.failed(c, "no runner took the run in time")
		}
		l.metrics.runs.Add(context.Background(), 1, c.labels.runs["late"])
		c.cycle.answered(nil, "late")
		c.halt()
		c.dirty = true
	}
}

// failed says once that a config's runs fail, until they succeed or fail in another way.
func (l *leader) failed(c *course, reason string) {
	if c.failing != reason {
		l.log.WarnContext(c.about(context.Background()), "a run failed", "config", c.config.GetId(), "function", c.config.GetFunction(), "reason", reason)
		c.failing = reason
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
