// Package director runs the matchmaking cycles.
//
// One director leads a project at a time. It holds the project's lease, whose
// epoch every claim names, so that a former leader which wakes up late changes
// nothing. The leader asks runners to run the configs' functions, picks the best
// of the proposals that do not share a ticket, claims their tickets, and hands the matches to the allocators.
//
//	service.go   a replica: what it needs, and its life
//	share.go     which of the projects this replica leads
//	leader.go    one project's loop: what wakes it, what it does then
//	course.go    one config's runs: when they are due, what they answered
//	runners.go   which runners are lost, and their runs with them
//	census.go    how the pools of a config are divided among runs
//	contest      which proposals win (a pure function)
//	settle.go    proposals become claims, claims become matches
//	event        what happened is told to others
//	metrics.go   how much of what
//	trace.go     which way sampled tickets came
//	repair.go    what a crash left behind: outbox, overdue claims, abandoned tickets
//	trouble.go   failures are said once
package director

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"matchmaker.dev/services/internal/app"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/notify"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/telemetry"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Options are what the service needs.
type Options struct {
	Store *state.Store
	Bus   *bus.Bus
	Log   *slog.Logger
	Now   func() time.Time
	// Name tells this replica from others.
	Name  string
	Times Times
	// Events says that what happens is published.
	Events bool
	// BackfillFirst lets proposals for running games go before those for new ones, whatever their scores are.
	BackfillFirst bool
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
	// Tracer makes the spans; the zero Tracer makes none.
	Tracer telemetry.Tracer
}

// Times are the director's settings.
type Times struct {
	// MinInterval is the least time between two runs of a config.
	MinInterval time.Duration
	// MaxInterval is the time after which a config runs though nothing happened: functions widen with time.
	MaxInterval time.Duration
	// Window is how long proposals wait for those of runs that started with theirs.
	Window time.Duration
	// Run is how long a run may take.
	Run time.Duration
	// Lease is how long a project stays with a leader that says nothing.
	Lease time.Duration
	// Claim is how long a claimed ticket waits for its allocation to begin before it waits for a match again.
	Claim time.Duration
	// Readable is how long a result can be read.
	Readable time.Duration
	// Waiting is how long a ticket may wait before it is taken for abandoned.
	Waiting time.Duration
	// Approval is how long proposed tickets wait for the approval of their game's server.
	Approval time.Duration
	// Silence is how long a server may say nothing before its backfill ticket is taken for abandoned.
	Silence time.Duration
}

// DefaultTimes are those of the design.
func DefaultTimes() Times {
	return Times{
		MinInterval: 10 * time.Millisecond,
		MaxInterval: time.Second,
		Window:      20 * time.Millisecond,
		Run:         5 * time.Second,
		Lease:       3 * time.Second,
		Claim:       30 * time.Second,
		Readable:    10 * time.Minute,
		Waiting:     time.Hour,
		Approval:    20 * time.Second,
		Silence:     time.Hour,
	}
}

// service is one replica.
type service struct {
	Options
	metrics *metrics

	// wake makes it look at the leases at once.
	wake notify.Signal

	runners *runners
	trouble *trouble

	mu      sync.Mutex
	leaders map[string]*leader
}

// New makes the service.
func New(o Options) app.Part {
	s := &service{
		Options: o, metrics: newMetrics(o.Meter),
		leaders: map[string]*leader{}, wake: notify.New(), runners: newRunners(), trouble: newTrouble(o.Log),
	}
	return app.Part{Name: "director", Run: s.run, Ready: o.Store.Ping}
}

// run leads this replica's share of the projects until ctx ends, and gives it up then.
func (s *service) run(ctx context.Context) error {
	sub, err := s.Bus.OnPoke(s.poked)
	if err != nil {
		return err
	}
	defer sub.Stop()
	heartbeats, err := s.Bus.OnHeartbeat(s.runners.hear)
	if err != nil {
		return err
	}
	defer heartbeats.Stop()
	// The leaders end after this replica has said that it goes, so that the others know whose their projects are.
	leading, stop := context.WithCancel(context.WithoutCancel(ctx))
	var under sync.WaitGroup
	defer under.Wait()
	defer stop()
	under.Go(func() { s.runners.listen(leading) })
	ticker := time.NewTicker(s.Times.Lease / 4)
	defer ticker.Stop()
	for {
		s.balance(ctx, func(project string, epoch uint64) { s.lead(leading, project, epoch, &under) })
		select {
		case <-ctx.Done():
			s.leave(ctx)
			return nil
		case <-ticker.C:
		case <-s.wake.C():
		}
	}
}

// poked passes a poke to the project's leader. A poke of a project that nobody leads here
// may be the first word of a new one, or the last of its leader.
func (s *service) poked(project string, p *pb.Poke) {
	s.mu.Lock()
	l := s.leaders[project]
	s.mu.Unlock()
	switch {
	case l != nil:
		l.inbox.poke(p)
	case p.GetConfigs():
		s.wake.Notify()
	}
}

// lead starts the loop of a project.
func (s *service) lead(ctx context.Context, project string, epoch uint64, under *sync.WaitGroup) {
	ctx, stop := context.WithCancel(ctx)
	l := newLeader(s, project, epoch, stop)
	s.mu.Lock()
	s.leaders[project] = l
	s.mu.Unlock()
	under.Go(func() {
		defer stop()
		l.log.InfoContext(ctx, "leading a project")
		l.run(ctx)
		s.metrics.unmeasured(l)
		s.mu.Lock()
		mine := s.leaders[project] == l
		if mine {
			delete(s.leaders, project)
		}
		s.mu.Unlock()
		if mine { // else the lease is another's, or a newer leader's of this replica
			s.yield(context.WithoutCancel(ctx), project)
		}
	})
}
