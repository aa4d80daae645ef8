package runner

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/runner/gate"
	"matchmaker.dev/services/runner/lasthour"
)

// Options are what a [Runner] needs. All but Settings, Meter and Tracer are required.
type Options struct {
	Store *state.Store
	Bus   Bus
	// Engine starts the instances. The caller closes what is behind it after Run returned.
	Engine Engine
	// Name is unique among the runners that live, or lived a moment ago.
	Name     string
	Log      *slog.Logger
	Now      func() time.Time
	Settings Settings
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
	// Tracer makes the spans; the zero Tracer makes none.
	Tracer telemetry.Tracer
}

// Bus is what a runner needs of the bus: a *bus.Bus.
type Bus interface {
	Ready(ctx context.Context) error
	OnHeartbeat(handle func(*pb.RunnerStatus)) (bus.Subscription, error)
	Heartbeat(ctx context.Context, s *pb.RunnerStatus) error
	OnFunctions(handle func(project string, p *pb.Poke)) (bus.Subscription, error)
	ServeRuns(runner, project, function string,
		handle func(ctx context.Context, r *pb.RunRequest, answer bus.SendPart)) (bus.Subscription, error)
	Module(ctx context.Context, name string) ([]byte, error)
	PublishLog(ctx context.Context, project, function string, l *pb.LogLines) error
}

// Runner hosts projects.
type Runner struct {
	env   *env
	peers *peers

	peersChanged    notify.Signal // place projects again
	projectsChanged notify.Signal // read the list of projects again

	mu           sync.Mutex
	hosted       map[string]*hostedProject
	projects     []string
	projectsRead bool // at least once
	placed       bool // it is known which of them this runner hosts
	served       bool // all that was placed on this runner at first is served
	began        time.Time
	desiredHosts map[string]int32 // by project, where this runner wants more hosts than Settings.Hosts
}

// env is what all parts of a runner share.
type env struct {
	Options
	// statusChanged makes the runner send a heartbeat soon.
	statusChanged notify.Signal
	metrics       *metrics
	gate          *gate.Gate[*run]
	instances     *instanceQuota
	backlog       *backlog
	invokers      invokers
	lastTimestamp atomic.Int64
	// lists has room for the one list that is being made.
	lists chan struct{}
	// simulations has room for the one simulation that is played, and unasked has what ends each, by its run.
	simulations chan struct{}
	unasked     sync.Map
	recorders   lasthour.Quota
}

func newEnv(o Options) *env {
	return &env{
		Options: o, statusChanged: notify.New(), gate: gate.New[*run](o.Settings.slots()),
		backlog: newBacklog(), instances: &instanceQuota{most: o.Settings.RunnerInstances}, lists: make(chan struct{}, 1),
		simulations: make(chan struct{}, 1),
	}
}

// timestamp is the time in milliseconds as text, increased where needed so that each one sorts after those before it.
func (e *env) timestamp() string {
	for {
		last := e.lastTimestamp.Load()
		if next := max(last+1, e.Now().UnixMilli()); e.lastTimestamp.CompareAndSwap(last, next) {
			return strconv.FormatInt(next, 36) // eight characters until 2059
		}
	}
}

// New makes a runner.
func New(o Options) (*Runner, error) {
	if o.Store == nil || o.Bus == nil || o.Engine == nil || o.Name == "" || o.Log == nil || o.Now == nil {
		return nil, errors.New("runner: Store, Bus, Engine, Name, Log and Now are required")
	}
	var err error
	if o.Settings, err = o.Settings.complete(); err != nil {
		return nil, err
	}
	r := &Runner{
		env:   newEnv(o),
		peers: newPeers(&o), peersChanged: notify.New(), projectsChanged: notify.New(),
		hosted: map[string]*hostedProject{}, desiredHosts: map[string]int32{}, began: o.Now(),
	}
	r.env.metrics = newMetrics(o.Meter, r)
	return r, nil
}

// Run hosts projects until ctx ends. Then it announces that it leaves, takes no more runs, finishes those in flight
// within Settings.Drain, and ends all instances.
func (r *Runner) Run(ctx context.Context) error {
	heartbeats, err := r.env.Bus.OnHeartbeat(r.onHeartbeat)
	if err != nil {
		return err
	}
	defer heartbeats.Stop()
	pokes, err := r.env.Bus.OnFunctions(r.onPoke)
	if err != nil {
		return err
	}
	defer pokes.Stop()

	var goroutines sync.WaitGroup
	goroutines.Go(func() { r.sendHeartbeats(ctx) })
	r.placeProjects(ctx, &goroutines)
	goroutines.Wait()
	return nil
}

// Ready is nil when the bus answers and this runner serves what it hosts: a runner that is to replace this one's
// predecessor reads the waiting tickets and starts instances first. It waits for that for Settings.Handover.
func (r *Runner) Ready(ctx context.Context) error {
	if err := r.env.Bus.Ready(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.placed {
		return problem.New(problem.Unavailable, "the runner has not read the list of projects yet")
	}
	if r.served {
		return nil
	}
	if r.env.Now().Sub(r.began) < r.env.Settings.Handover {
		for project, h := range r.hosted {
			if !h.settled() {
				return problem.New(problem.Unavailable, "the runner does not serve the functions of %s yet", project)
			}
		}
	}
	r.served = true
	return nil
}

// HandOver lets the other runners host this one's projects, before this one stops. It returns when they serve them, at
// once when there are no others, and after Settings.Leave at the latest.
func (r *Runner) HandOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.env.Settings.Leave)
	defer cancel()
	r.peers.leave()
	r.env.statusChanged.Notify()
	r.peersChanged.Notify()
	for len(r.peers.alive()) > 0 && r.countHosted() > 0 {
		if wait.For(ctx, minHeartbeatPause) != nil {
			r.env.Log.WarnContext(ctx, "other runners do not serve all projects of this runner, which stops", "projects",
				r.countHosted())
			return
		}
	}
}

func (r *Runner) countHosted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.hosted)
}

// onHeartbeat is called with every runner's heartbeat.
func (r *Runner) onHeartbeat(s *pb.RunnerStatus) {
	if r.peers.update(s) {
		r.env.statusChanged.Notify() // a new runner learns of this one without waiting
		r.peersChanged.Notify()
	}
}

// onPoke is called after a change of functions, or the end of a config, in any project.
func (r *Runner) onPoke(project string, p *pb.Poke) {
	r.mu.Lock()
	h := r.hosted[project]
	known := p.GetFunctions() && slices.Contains(r.projects, project)
	r.mu.Unlock()
	if h != nil && p.GetDeleted() != "" {
		for _, f := range h.sortedFunctions() {
			f.endRuns(p.GetDeleted())
		}
	}
	if end, known := r.env.unasked.Load(p.GetUnasked()); known {
		end.(context.CancelFunc)()
	}
	switch {
	case !p.GetFunctions():
	case h != nil:
		h.functionsChanged.Notify()
	case !known:
		r.projectsChanged.Notify()
	}
}
