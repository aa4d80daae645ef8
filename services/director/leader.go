package director

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/event"
	"matchmaker.dev/services/internal/notify"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/state"
)

// leader runs the cycles of one project, in one goroutine: only its inbox is shared.
type leader struct {
	*service
	project string
	epoch   uint64
	stop    context.CancelFunc
	log     *slog.Logger
	inbox   *inbox

	// courses are those of each config, by its id.
	courses map[string][]*course
	// position is the feed position that the next run must have seen.
	position uint64
	// pending are proposals that have not been evaluated, since when.
	pending []*proposal
	since   time.Time
	// rounds are contests whose winners are still to be claimed, the first one first.
	rounds []*round
	// repair is when to mend next.
	repair time.Time
	// empty: nobody waited when the leader looked last, and nobody was heard of since. A function would have nothing to propose.
	empty bool
	// blind: the state store did not answer, so that no run makes sense.
	blind   bool
	trouble *trouble
	// retired is since when it gives the project up; zero when it does not.
	retired time.Time
	sends   sync.WaitGroup
	// resending: the outbox is being emptied.
	resending atomic.Bool
	// happened wakes the publisher of events.
	happened notify.Signal
}

func newLeader(s *service, project string, epoch uint64, stop context.CancelFunc) *leader {
	log := s.Log.With("project", project, "epoch", epoch)
	return &leader{
		service: s, project: project, epoch: epoch, stop: stop,
		log: log, trouble: newTrouble(log),
		inbox:    newInbox(),
		courses:  map[string][]*course{},
		happened: notify.New(),
	}
}

// publish publishes the project's events until ctx ends.
func (l *leader) publish(ctx context.Context) {
	p := event.Publisher{Store: l.Store, Bus: l.Bus, Log: l.log, Now: l.Now, Project: l.project, Wake: l.happened}
	p.Run(ctx)
}

// run is the loop: take in what happened, settle what can be settled, start what is due, sleep. None of its steps waits
// for a function, and none takes longer than some claims do.
func (l *leader) run(ctx context.Context) {
	defer l.sends.Wait()
	defer l.stopRuns()
	if l.Events {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		l.sends.Go(func() { l.publish(ctx) })
	}
	l.inbox.poke(&pb.Poke{Configs: true})
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		l.take(ctx)
		now := l.Now()
		l.overdue(now)
		l.evaluate(now)
		if errors.Is(l.settle(ctx), state.ErrLeaseLost) {
			l.log.InfoContext(ctx, "another director leads the project now")
			return
		}
		retiring := l.inbox.retiring()
		if retiring && l.retired.IsZero() {
			l.retired, l.repair = now, time.Time{} // with a last look: it may be given up because the state is not what it was
		}
		l.mend(ctx)
		if retiring && l.done(now) {
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

// done tells whether a leader that gives its project up has nothing under way. It waits for that as long as others
// would for a leader that is dead.
func (l *leader) done(now time.Time) bool {
	for c := range l.all() {
		if !c.idle() && now.Before(l.retired.Add(l.Times.Lease)) {
			return false
		}
	}
	return true
}

// take takes in pokes and parts.
func (l *leader) take(ctx context.Context) {
	news := l.inbox.take()
	l.position = max(l.position, news.position)
	if news.configs {
		l.reload(ctx)
	}
	if news.functions {
		for c := range l.all() {
			c.notBefore = time.Time{}
		}
	}
	if news.poked {
		l.empty = false
		l.happened.Notify()
		for c := range l.all() {
			c.dirty = true
		}
	}
	for _, n := range news.parts {
		l.part(n)
	}
}

// reload reads the configs. Runs of configs that changed or went are forgotten: their claims would be refused.
func (l *leader) reload(ctx context.Context) {
	configs, err := l.Store.Configs(ctx, l.project)
	if !l.trouble.note(ctx, "reading the configs", err) {
		l.repair = l.Now().Add(repairAgain) // which finds out that they are not what they were
		return
	}
	for id, courses := range l.courses {
		if configs[id].GetRevision() != courses[0].config.GetRevision() {
			for _, c := range courses {
				c.halt()
			}
			delete(l.courses, id)
		}
	}
	for id, config := range configs {
		if l.courses[id] == nil {
			l.courses[id] = l.coursesOf(ctx, config, newCensus(config.GetPools()))
		}
	}
}

// revisions are those of the configs, as this leader knows them.
func (l *leader) revisions() map[string]int64 {
	all := make(map[string]int64, len(l.courses))
	for id, courses := range l.courses {
		all[id] = courses[0].config.GetRevision()
	}
	return all
}

// coursesOf makes a course for each segment of a config's pools: they run side by side.
func (l *leader) coursesOf(ctx context.Context, config *pb.Config, census *census) []*course {
	segments, err := pool.Expand(config.GetPools(), census.population())
	if err != nil {
		// The Configs API refuses such a config; this one comes from another version of it.
		l.log.ErrorContext(ctx, "the segments of a config are ignored", "config", config.GetId(), "error", err)
		segments = []map[string]*pb.Pool{config.GetPools()}
	}
	courses := make([]*course, len(segments))
	for i, pools := range segments {
		courses[i] = &course{config: config, pools: pools, census: census, dirty: true, labels: l.metrics.labels(l.project, config.GetId())}
	}
	return courses
}

// all are the courses of all configs.
func (l *leader) all() iter.Seq[*course] {
	return func(yield func(*course) bool) {
		for _, courses := range l.courses {
			for _, c := range courses {
				if !yield(c) {
					return
				}
			}
		}
	}
}

func (l *leader) stopRuns() {
	for c := range l.all() {
		c.halt()
	}
}

// inbox collects what others tell the loop. None of its writers ever waits.
type inbox struct {
	signal notify.Signal

	mu      sync.Mutex
	news    news
	retired bool
}

// news are what came since the loop looked last.
type news struct {
	poked, configs, functions bool
	position                  uint64
	parts                     []part
}

// part is a part of the answer to a run.
type part struct {
	flight *flight
	part   *pb.RunPart
}

func newInbox() *inbox { return &inbox{signal: notify.New()} }

func (i *inbox) take() news {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := i.news
	i.news = news{}
	return n
}

func (i *inbox) poke(p *pb.Poke) {
	i.mu.Lock()
	i.news.poked = true
	i.news.configs = i.news.configs || p.GetConfigs()
	i.news.functions = i.news.functions || p.GetFunctions()
	i.news.position = max(i.news.position, p.GetPosition())
	i.mu.Unlock()
	i.signal.Notify()
}

// retire makes the loop end once what is under way has ended.
func (i *inbox) retire() {
	i.mu.Lock()
	i.retired = true
	i.mu.Unlock()
	i.signal.Notify()
}

// retiring tells whether the loop is to end.
func (i *inbox) retiring() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.retired
}

func (i *inbox) add(p part) {
	i.mu.Lock()
	i.news.parts = append(i.news.parts, p)
	i.mu.Unlock()
	i.signal.Notify()
}
