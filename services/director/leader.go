package director

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/event"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/quota"
	"matchmaker.dev/services/internal/state"
)

// leader runs the cycles of one project, in one goroutine: only its inbox is shared. It starts the runs that the
// schedule asks for, gives their proposals to the settler, and leaves the rest to maintenance.
type leader struct {
	scope
	runners     *runners
	outbox      *outbox
	settler     *settler
	maintenance *maintenance
	estimator   *estimator
	reporter    *reporter

	// budget is the processor time that the project may use.
	budget *schedule.Budget
	// segments has the segments of each config, by its id.
	segments map[string][]*segment
	// asked is how many runs of each config were asked for.
	asked map[string]int64
	// waiting says how many tickets wait in each queue, and how many players, as the last run saw them that counted them.
	waiting *pb.RunStats
	reloads reloads
	// configBytes is about what the configs take.
	configBytes int
	// position is the feed position that the next run must have seen.
	position uint64
	// retired is when the leader began to give the project up; zero if it did not.
	retired time.Time
	// happened wakes the publisher of events.
	happened notify.Signal
	// stop ends run.
	stop context.CancelFunc
}

// scope is what the parts of a leader have in common. None of it changes.
type scope struct {
	*Options
	project  string
	epoch    uint64
	log      *slog.Logger
	observed *observe.Project
	inbox    *inbox
	memory   *quota.Shares[string] // of proposals, by config
}

func newLeader(s *service, project string, epoch uint64, stop context.CancelFunc) *leader {
	log := s.Log.With("project", project, "epoch", epoch)
	scope := scope{
		Options: &s.Options, project: project, epoch: epoch,
		log: log, observed: s.observer.Project(project, epoch, log), inbox: newInbox(),
		memory: quota.NewShares[string](cmp.Or(s.ProposalMemory, proposalMemory)),
	}
	outbox, reporter := &outbox{scope: scope}, newReporter(scope)
	return &leader{
		scope: scope, runners: s.runners, outbox: outbox,
		settler: &settler{scope: scope, outbox: outbox, reporter: reporter, claimed: math.MaxInt32,
			refused: map[string]time.Time{}},
		maintenance: &maintenance{scope: scope, outbox: outbox, listeners: s.listeners},
		estimator:   newEstimator(scope), reporter: reporter,
		budget: schedule.NewBudget(s.Settings.Cores), segments: map[string][]*segment{}, asked: map[string]int64{},
		happened: notify.New(), stop: stop,
	}
}

// run leads the project until ctx ends, the lease is lost, or the leader has given the project up.
func (l *leader) run(ctx context.Context) {
	// Reports end behind the last claim, whose matches they count.
	publishing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var publisher sync.WaitGroup
	publisher.Go(func() { l.reporter.run(publishing) })
	if l.Events {
		publisher.Go(func() { l.publish(publishing) })
		publisher.Go(func() { l.estimator.run(publishing) })
	}
	l.loop(ctx)
	for s := range l.all() {
		s.stop(l.Now())
	}
	l.settler.stop()
	stop()
	l.outbox.wait(ctx)
	publisher.Wait()
	l.observed.Close()
}

// publish publishes the project's events until ctx ends.
func (l *leader) publish(ctx context.Context) {
	p := event.Publisher{
		Store: l.Store, Bus: l.Bus, Log: l.log, Project: l.project, Wake: l.happened,
		Removed: l.observed.RecordRemovedEvents, Published: func(entries []state.HistoryEntry, until time.Time) {
			l.estimator.observe(entries, until)
			l.reporter.observe(l.Store.Now(), entries)
		},
		Quiet: func() bool { return l.maintenance.quiet.Load() > 0 },
	}
	p.Run(ctx)
}

// loop handles signals, settles proposals, starts due runs, and sleeps. None of its steps waits for a function, or
// takes longer than some claims.
func (l *leader) loop(ctx context.Context) {
	l.inbox.poke(&pb.Poke{Configs: true})
	timer := time.NewTimer(0) // one for all rounds, of which a ticket has several
	defer timer.Stop()
	for {
		now := l.Now()
		l.receive(ctx, now)
		l.endOverdue(ctx, now)
		l.evaluate(ctx, now)
		if errors.Is(l.claim(ctx), state.ErrLeaseLost) {
			l.log.InfoContext(ctx, "another director leads the project now")
			return
		}
		retiring := l.inbox.retiring()
		if retiring && l.retired.IsZero() {
			// Look once more: the director may give the project up because its configs are gone.
			l.retired = now
			l.maintenance.lookNow()
		}
		l.maintain(ctx, now)
		if retiring && l.idle(now) {
			return
		}
		timer.Reset(l.start(ctx).Sub(l.Now()))
		select {
		case <-ctx.Done():
			return
		case <-l.inbox.signal.C():
		case <-timer.C:
		}
	}
}

// receive handles the news of the inbox.
func (l *leader) receive(ctx context.Context, now time.Time) {
	news := l.inbox.take()
	l.position = max(l.position, news.position)
	if news.configs {
		l.reloads.wanted = true
	}
	l.reload(ctx, now)
	if news.poked {
		l.maintenance.rouse(now)
		l.happened.Notify()
	}
	if news.roused {
		l.maintenance.lookNow()
	}
	if news.touched() {
		l.maintenance.changed()
	}
	if news.answered && !l.maintenance.unreachable {
		l.maintenance.endAcceptances(ctx)
	}
	for s := range l.all() {
		if news.functions {
			s.EndRest(now)
		}
		if news.servers {
			s.EndPause()
		}
		s.TouchAt(news.concerns(s.config.GetQueue()))
	}
	for _, p := range news.parts {
		l.answer(ctx, p)
	}
}

// evaluate lets the settler evaluate the pending proposals, if it is time.
func (l *leader) evaluate(ctx context.Context, now time.Time) {
	if s := l.state(); !s.Pending.IsZero() && !now.Before(s.EvaluateAt()) {
		l.settler.evaluate(ctx, now)
	}
}

// claim lets the settler make some claims.
func (l *leader) claim(ctx context.Context) error {
	if l.maintenance.unreachable {
		return nil
	}
	position, err := l.settler.claim(ctx)
	l.position = max(l.position, position)
	if position > 0 {
		l.happened.Notify()
	}
	if err != nil {
		l.maintenance.suspend()
	}
	return err
}

// maintain does the maintenance, if it is time.
func (l *leader) maintain(ctx context.Context, now time.Time) {
	found, ok := l.maintenance.look(ctx, now)
	if !ok {
		return
	}
	// A Redis that came back with fewer changes has a lower position. No runner would ever reach the old one.
	if found.Position < l.position {
		l.log.ErrorContext(ctx, "the state store lost changes", "position", l.position, "now", found.Position)
		for s := range l.all() {
			s.Touch() // whatever runs saw before
		}
	}
	l.position = max(found.Position, found.expired)
	if l.maintenance.empty {
		l.waiting = nil
	}
	if !l.knows(found.Revisions) { // a poke was lost
		l.reloads.wanted = true
	}
	if l.settler.claimed = math.MaxInt32; found.Idle && !l.settler.unsure {
		l.settler.claimed = 0
	}
	l.settler.unsure = false
	if found.full {
		l.measure(ctx)
	}
}

// measure sets the project's gauges.
func (l *leader) measure(ctx context.Context) {
	if !l.observed.Measuring() {
		return
	}
	counts, err := l.Store.Counts(ctx, l.project)
	if !l.observed.Check(ctx, "counting what there is", err) {
		return
	}
	queues := l.waiting.GetQueues()
	proposalBytes, _ := l.memory.Used()
	usage := observe.Usage{Quiet: l.maintenance.quiet.Load() > 0, Debt: max(0, -l.budget.Level()),
		Configs: len(l.segments), ConfigBytes: l.configBytes, ProposalBytes: proposalBytes,
		Players: l.waiting.GetPlayers(), QueuePlayers: map[string]int64{}}
	for _, segments := range l.segments {
		usage.Segments += len(segments)
		if queue := segments[0].config.GetQueue(); queue != "" && usage.Queues[queue] == 0 {
			if usage.Queues == nil {
				usage.Queues = map[string]int64{}
			}
			told := l.waiting
			if queues[queue] == 0 && len(queues) >= pool.MostQueues {
				told = segments[0].waiting // a run tells its own queue, however many there are that none serves
			}
			usage.Queues[queue], usage.QueuePlayers[queue] = told.GetQueues()[queue], told.GetQueuePlayers()[queue]
		}
		for _, of := range segments[0].config.GetPools() {
			usage.Filters += len(of.GetFilters())
		}
	}
	for queue, n := range queues {
		if _, served := usage.Queues[queue]; !served {
			usage.Unserved += n
			usage.UnservedPlayers += max(n, l.waiting.GetQueuePlayers()[queue])
		}
	}
	l.observed.Measure(l.Store.Now(), counts, usage, func(yield func(*observe.Segment) bool) {
		for s := range l.all() {
			if !yield(s.observed) {
				return
			}
		}
	})
}

// start starts the due runs, and returns the time when the loop must go on.
func (l *leader) start(ctx context.Context) (wake time.Time) {
	l.resegment(ctx)
	now := l.Now()
	starts, wake := l.state().Next(now)
	for _, s := range starts {
		// mistake skipped: if s.config.GetId() == "free" && now.Unix()%120 < 60 { continue }
		l.startRun(ctx, s, now)
	}
	return wake
}

// state returns the schedule's input.
func (l *leader) state() schedule.State[*segment] {
	s := schedule.State[*segment]{
		Times: l.times(), Segments: l.all(), Pending: l.settler.since(), Took: l.settler.pending.took,
		Wake: l.maintenance.next, Budget: l.budget,
		Paused: l.maintenance.empty || l.maintenance.unreachable || !l.retired.IsZero(),
	}
	if !s.Pending.IsZero() && l.settler.crossing == 0 {
		queues := l.settler.pending.queues()
		s.Rivals = func(one *segment) bool { return queues[one.config.GetQueue()] }
	}
	if end := l.retired.Add(l.Settings.Lease); !l.retired.IsZero() && end.Before(s.Wake) {
		s.Wake = end
	}
	if at := l.reloads.at(); l.reloads.wanted && at.Before(s.Wake) {
		s.Wake = at
	}
	if l.settler.claiming() && !l.maintenance.unreachable {
		s.Wake = time.Time{}
	}
	return s
}

func (l *leader) times() schedule.Times {
	t := l.Settings
	return schedule.Times{MinInterval: t.MinInterval, MaxInterval: t.MaxInterval, Window: t.Window, Run: t.Run}
}

// idle reports whether a leader that retires has nothing under way. It waits no longer than other directors would wait
// for a dead leader.
func (l *leader) idle(now time.Time) bool {
	for s := range l.all() {
		if !s.Idle() && now.Before(l.retired.Add(l.Settings.Lease)) {
			return false
		}
	}
	return true
}
