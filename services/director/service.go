// Package director runs the matchmaking cycles.
//
// One director leads a project at a time. It holds the project's lease, whose epoch every claim names: a former leader
// that wakes up late changes nothing. The leader asks runners to run the configs' functions, selects the best of the
// proposals that do not share a ticket, claims their tickets, and hands the matches to the allocators.
//
//	service.go      a replica: what it needs, and its life
//	balance.go      which of the projects this replica leads
//	find.go         which projects there are, when their list was lost
//	runners.go      which runners are lost, and their runs with them
//	leader.go       the loop of one project
//	inbox.go        what wakes the loop
//	configs.go      the project's configs, and their segments
//	schedule        when segments run, and when proposals are evaluated (pure)
//	segment.go      the runs of one segment, from the request to the last part of the answer
//	proposals.go    how much memory proposals take
//	pending.go      proposals that wait for an evaluation
//	settle.go       settling: proposals become claims, claims become matches
//	evaluation.go   which proposals are claimed; the rules are in services/internal/match/evaluator
//	outbox.go       claimed matches go into the work queue
//	acceptance.go   matches whose players accepted go on, others end
//	maintenance.go  what a crash left behind, and what expires
//	quiet.go        projects in which nothing is stored
//	unserved.go     tickets in queues that no config serves any more
//	estimator.go    how long tickets wait
//	observe         metrics, spans, and log lines about runs
//	event           events are published
package director

import (
	"context"
	"log/slog"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/event"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

// Options are what the service needs.
type Options struct {
	Store *state.Store
	Bus   Bus
	Log   *slog.Logger
	Now   func() time.Time
	// Name is this replica's own.
	Name     string
	Settings Settings
	// Readable is how long a result can be read.
	Readable time.Duration
	// Events: publish what happens.
	Events bool
	// Segments is the most segments that all configs of a project have together; 0 means no limit.
	Segments int
	// ProposalMemory is about how many bytes a project's proposals may take until they are settled; 0 means 512 MiB.
	ProposalMemory int64
	// Timing is what only tests change.
	Timing Timing
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
	// Tracer makes the spans; the zero Tracer makes none.
	Tracer telemetry.Tracer
}

// Timing has the intervals of a director. Zeros stand for the usual times.
type Timing struct {
	// Look is how often a leader looks for work that time has brought.
	Look time.Duration `default:"1s"`
	// Save is how often waits of tickets and quality of matches are stored.
	Save time.Duration `default:"5s"`
	// Silence is the interval in which the silence of runners is counted. They send a heartbeat twice a second.
	Silence time.Duration `default:"500ms"`
	// Forget is how often old changes of configs are deleted.
	Forget time.Duration `default:"1h"`
}

// Bus is what a director needs of the bus: a *bus.Bus.
type Bus interface {
	event.Bus
	OnPoke(handle func(project string, p *pb.Poke)) (bus.Subscription, error)
	Poke(ctx context.Context, project string, p *pb.Poke)
	OnHeartbeat(handle func(*pb.RunnerStatus)) (bus.Subscription, error)
	OnTicketHeartbeat(handle func(*pb.TicketStatus)) (bus.Subscription, error)
	StartRun(ctx context.Context, r *pb.RunRequest, parts func(bus.Part)) (*bus.Run, error)
	EnqueueMatches(ctx context.Context, project string, known map[string]*pb.Match, groups ...[]string) ([]string, error)
	NotifyResults(ctx context.Context, project string, tickets []string, results []*pb.Assignment)
	NotifyEnded(ctx context.Context, project string, tickets []string, reason string)
}

// service is one replica.
type service struct {
	Options
	observer *observe.Observer
	errorLog *observe.ErrorLog
	runners  *runners
	// listeners are the ticket services.
	listeners *listeners
	// wake makes it look at the leases at once.
	wake notify.Signal
	// search makes it look for projects that are not listed.
	search notify.Signal

	mu      sync.Mutex
	leaders map[string]*leader
}

// New makes the service.
func New(o Options) app.Part {
	settings.Complete(&o.Timing)
	s := &service{
		Options: o, observer: observe.New(o.Meter, o.Tracer), errorLog: observe.NewErrorLog(o.Log),
		runners: newRunners(), listeners: new(listeners), leaders: map[string]*leader{},
		wake: notify.New(), search: notify.New(),
	}
	return app.Part{Name: "director", Run: s.run, Ready: o.Store.Ping}
}

// run leads this replica's share of the projects until ctx ends, and gives it up then.
func (s *service) run(ctx context.Context) error {
	pokes, err := s.Bus.OnPoke(s.poke)
	if err != nil {
		return err
	}
	defer pokes.Stop()
	heartbeats, err := s.Bus.OnHeartbeat(s.runners.heartbeat)
	if err != nil {
		return err
	}
	defer heartbeats.Stop()
	listening, err := s.Bus.OnTicketHeartbeat(func(t *pb.TicketStatus) { // it may come late
		s.listeners.heartbeat(s.Now().Add(-max(0, s.Store.Now().Sub(time.UnixMilli(t.GetSent())))))
	})
	if err != nil {
		return err
	}
	defer listening.Stop()
	// The leaders end after this replica has left, so that the others know whose the projects are.
	leading, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { s.runners.watch(leading, s.Timing.Silence) })
	running.Go(func() { s.findProjects(leading) })
	running.Go(func() { s.watchQuiet(leading) })
	renewal := time.Tick(s.Settings.Lease / 4)
	lead := func(project string, epoch uint64) { s.lead(leading, project, epoch, &running) }
	for s.balance(ctx, lead); ; {
		select {
		case <-ctx.Done():
			s.leave(ctx)
			return nil
		case <-renewal:
			s.balance(ctx, lead)
		case <-s.wake.C():
			s.welcome(ctx, lead)
			_ = wait.For(ctx, welcomePause)
		}
	}
}

// poke passes a poke to the project's leader. A poke of a project that is not led here may mean that the project is
// new, or that its lease is free.
func (s *service) poke(project string, p *pb.Poke) {
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
func (s *service) lead(ctx context.Context, project string, epoch uint64, running *sync.WaitGroup) {
	ctx, stop := context.WithCancel(ctx)
	l := newLeader(s, project, epoch, stop)
	s.mu.Lock()
	s.leaders[project] = l
	s.mu.Unlock()
	running.Go(func() {
		defer stop()
		l.log.InfoContext(ctx, "leading a project")
		l.run(ctx)
		s.mu.Lock()
		current := s.leaders[project] == l
		if current {
			delete(s.leaders, project)
		}
		s.mu.Unlock()
		if current { // otherwise the lease is another's, or a newer leader's of this replica
			s.release(context.WithoutCancel(ctx), project)
		}
	})
}
