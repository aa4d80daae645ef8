// Package director runs the matchmaking cycles.
//
// One director leads a project at a time. It holds the project's lease, whose
// epoch every claim names, so that a former leader which wakes up late changes
// nothing. The leader asks runners to run the configs' functions, picks the best
// of the proposals that do not share a ticket, claims their tickets, and hands the matches to the allocators.
//
//	service.go   which projects this replica leads
//	leader.go    one project's loop: what wakes it, what it does then
//	course.go    one config's runs: when they are due, what they answered
//	census.go    how many tickets there are, where the segments of pools depend on it
//	contest      which proposals win (a pure function)
//	settle.go    proposals become claims, claims become matches
//	event        what happened is told to others
//	repair.go    what a crash left behind: outbox, overdue claims, abandoned tickets
package director

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"matchmaker.dev/services/internal/app"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/state"

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

type service struct {
	Options

	mu      sync.Mutex
	leaders map[string]*leader
	wake    chan struct{}
}

// New makes the service.
func New(o Options) app.Part {
	s := &service{Options: o, leaders: map[string]*leader{}, wake: make(chan struct{}, 1)}
	return app.Part{Name: "director", Run: s.run, Ready: o.Store.Ping}
}

// run takes and renews leases until ctx ends, and gives them up then.
func (s *service) run(ctx context.Context) error {
	sub, err := s.Bus.OnPoke(s.poked)
	if err != nil {
		return err
	}
	defer sub.Stop()
	var under sync.WaitGroup
	defer under.Wait()
	ticker := time.NewTicker(s.Times.Lease / 4)
	defer ticker.Stop()
	for {
		s.elect(ctx, &under)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-s.wake:
		}
	}
}

// poked passes a poke to the project's leader. A poke of a project that nobody leads here
// may be the first word of a new one.
func (s *service) poked(project string, p *pb.Poke) {
	s.mu.Lock()
	l := s.leaders[project]
	s.mu.Unlock()
	if l != nil {
		l.inbox.poke(p)
		return
	}
	if p.GetConfigs() {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// elect renews the leases of the projects that this replica leads, and takes those that are free.
func (s *service) elect(ctx context.Context, under *sync.WaitGroup) {
	projects, err := s.Store.Projects(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.WarnContext(ctx, "reading the projects", "error", err)
		}
		return
	}
	for _, project := range projects {
		epoch, err := s.Store.Lease(ctx, project, s.Name, s.Now(), s.Times.Lease)
		if err != nil {
			if ctx.Err() == nil {
				s.Log.WarnContext(ctx, "renewing a lease", "project", project, "error", err)
			}
			continue // claims are refused should it run out
		}
		s.mu.Lock()
		l := s.leaders[project]
		if l != nil && l.epoch != epoch {
			l.stop()
			delete(s.leaders, project)
			l = nil
		}
		if l == nil && epoch > 0 {
			s.lead(ctx, project, epoch, under)
		}
		s.mu.Unlock()
	}
}

// lead starts the loop of a project; mu is held.
func (s *service) lead(ctx context.Context, project string, epoch uint64, under *sync.WaitGroup) {
	ctx, stop := context.WithCancel(ctx)
	l := newLeader(s, project, epoch, stop)
	s.leaders[project] = l
	under.Go(func() {
		s.Log.InfoContext(ctx, "leading a project", "project", project, "epoch", epoch)
		l.run(ctx)
		stop()
		s.mu.Lock()
		mine := s.leaders[project] == l
		if mine {
			delete(s.leaders, project)
		}
		s.mu.Unlock()
		if !mine {
			return // the lease is another's, or a newer leader's of this replica
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if err := s.Store.Yield(ctx, project, s.Name, s.Now()); err != nil {
			s.Log.WarnContext(ctx, "giving up a lease", "project", project, "error", err)
		}
	})
}
