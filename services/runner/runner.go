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
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/telemetry"
)

// Options are what a [Runner] is made of. All but Settings are required.
type Options struct {
	Store *state.Store
	Bus   *bus.Bus
	// Box is where instances live. The caller closes it after Run returned.
	Box *sandbox.Box
	// Name tells this runner from all others that live, or lived a moment ago.
	Name     string
	Log      *slog.Logger
	Now      func() time.Time
	Settings Settings
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
	// Tracer makes the spans; the zero Tracer makes none.
	Tracer telemetry.Tracer
}

// Runner hosts projects. Run does it all.
type Runner struct {
	env   *env
	peers *peers

	kicked    chan struct{} // the placement is to be looked at
	repoll    chan struct{} // the projects are to be read
	heartbeat chan struct{} // the others are to be told

	mu       sync.Mutex
	hosts    map[string]*host
	projects []string
	listed   bool             // projects was read once
	wanted   map[string]int32 // how many runners should host a project, as this one sees it
}

// env is what the parts of a runner have in common.
type env struct {
	Options
	// changed tells the others soon that an instance came, went or changed.
	changed func()
	metrics *metrics
	stamped atomic.Int64
}

// stamp is the time, or a little later: each is behind all others of this runner, also as text.
func (e *env) stamp() string {
	for {
		last := e.stamped.Load()
		if next := max(last+1, e.Now().UnixMilli()); e.stamped.CompareAndSwap(last, next) {
			return strconv.FormatInt(next, 36) // of eight letters and digits until 2059
		}
	}
}

// New makes a runner.
func New(o Options) (*Runner, error) {
	if o.Store == nil || o.Bus == nil || o.Box == nil || o.Name == "" || o.Log == nil || o.Now == nil {
		return nil, errors.New("runner: Store, Bus, Box, Name, Log and Now are required")
	}
	var err error
	if o.Settings, err = o.Settings.complete(); err != nil {
		return nil, err
	}
	r := &Runner{
		peers:  newPeers(&o),
		kicked: make(chan struct{}, 1), repoll: make(chan struct{}, 1), heartbeat: make(chan struct{}, 1),
		hosts: map[string]*host{}, wanted: map[string]int32{},
	}
	r.env = &env{Options: o, changed: func() { signal(r.heartbeat) }}
	r.env.metrics = newMetrics(o.Meter, r)
	return r, nil
}

// signal makes sure that c, which has room for one, has something in it.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run hosts projects until ctx ends. Then it says that it leaves, takes no more
// runs, finishes those under way within Settings.Drain, and ends all instances.
func (r *Runner) Run(ctx context.Context) error {
	beats, err := r.env.Bus.OnHeartbeat(r.hear)
	if err != nil {
		return err
	}
	defer beats.Stop()
	pokes, err := r.env.Bus.OnPoke(r.poke)
	if err != nil {
		return err
	}
	defer pokes.Stop()

	var parts sync.WaitGroup
	parts.Go(func() { r.beat(ctx) })
	r.place(ctx, &parts)
	parts.Wait()
	return nil
}

// Ready is nil when the bus answers and this runner knows the projects.
func (r *Runner) Ready(ctx context.Context) error {
	if err := r.env.Bus.Ready(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.listed {
		return problem.New(problem.Unavailable, "the runner has not read the list of projects yet")
	}
	return nil
}

// hear is called with every runner's heartbeat.
func (r *Runner) hear(s *pb.RunnerStatus) {
	if !r.peers.hear(s) {
		return
	}
	r.env.changed() // a new one learns of this one without waiting
	signal(r.kicked)
}

// poke is called when something changed in any project.
func (r *Runner) poke(project string, p *pb.Poke) {
	if !p.GetFunctions() {
		return
	}
	r.mu.Lock()
	h, known := r.hosts[project], slices.Contains(r.projects, project)
	r.mu.Unlock()
	switch {
	case h != nil:
		signal(h.kicked)
	case !known:
		signal(r.repoll)
	}
}

// place reads the list of projects and keeps hosts for those that this runner
// is to host, until ctx ends.
func (r *Runner) place(ctx context.Context, parts *sync.WaitGroup) {
	look := time.NewTicker(r.env.Settings.Heartbeat)
	defer look.Stop()
	poll := time.NewTicker(r.env.Settings.Poll)
	defer poll.Stop()
	settled := time.NewTimer(r.env.Settings.Settle)
	defer settled.Stop()
	r.read(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			r.read(ctx)
		case <-r.repoll:
			r.read(ctx)
		case <-r.kicked:
		case <-look.C:
		case <-settled.C:
		}
		r.arrange(ctx, parts)
	}
}

// read reads the list of projects. When the state store does not answer, the old one stays.
func (r *Runner) read(ctx context.Context) {
	projects, err := r.env.Store.Projects(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.env.Log.WarnContext(ctx, "the projects cannot be read", "error", err)
		}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.projects, r.listed = projects, true
}

// arrange begins to host what is placed here, and gives up what is not, once
// the runners where it is placed serve it.
func (r *Runner) arrange(ctx context.Context, parts *sync.WaitGroup) {
	living := r.peers.living()
	if living == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, project := range r.projects {
		h := r.hosts[project]
		homes := placed(project, living, r.spread(project, h, len(living)))
		switch {
		case !slices.Contains(homes, r.env.Name):
			if h != nil {
				h.yield(len(homes), func(t target) int { return r.peers.serving(homes, t) })
			}
		case h != nil:
			h.stay()
		default:
			r.host(ctx, project, parts)
		}
	}
}

// spread is how many runners host a project: what the settings say, or more when those that do have too
// much to do. h is nil where it is not hosted here.
func (r *Runner) spread(project string, h *host, living int) int {
	others := min(max(r.env.Settings.Hosts, r.peers.hosts(project)), r.env.Settings.MaxHosts)
	if h == nil {
		delete(r.wanted, project)
		return others
	}
	own := h.weigh(min(max(others, int(r.wanted[project])), living))
	if own == 0 {
		delete(r.wanted, project)
		return others
	}
	if int32(own) != r.wanted[project] {
		r.wanted[project] = int32(own)
		r.env.Log.Info("a project has more to do, or less, than its runners", "project", project, "runners", own)
		r.env.changed()
	}
	return max(others, own)
}

// host begins to host a project, until ctx ends or the host yields.
func (r *Runner) host(ctx context.Context, project string, parts *sync.WaitGroup) {
	ctx, cancel := context.WithCancel(ctx)
	h := newHost(r.env, project, cancel)
	r.hosts[project] = h
	parts.Go(func() {
		defer cancel()
		h.run(ctx)
		r.mu.Lock()
		delete(r.hosts, project)
		r.mu.Unlock()
		r.env.changed()
		signal(r.kicked) // it may have been placed here again meanwhile
	})
}
