package runner

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/runner/lasthour"
)

// hostedProject is a project on this runner: its feed and its functions.
type hostedProject struct {
	env              *env
	project          string
	end              context.CancelFunc // of run
	functionsChanged notify.Signal

	logBudget  *rate.Limiter // bytes that all functions together may log
	goroutines sync.WaitGroup
	feed       *feed              // nil while the project has no functions; only run sets it
	unfollow   context.CancelFunc // stops following the feed

	mu            sync.Mutex
	functions     map[string]*function
	read          bool      // the list of functions, at least once
	handoverSince time.Time // since when the project is placed elsewhere; zero when it is placed here
	scaler        scaler
}

func newHostedProject(e *env, project string, end context.CancelFunc) *hostedProject {
	return &hostedProject{
		env: e, project: project, end: end, functionsChanged: notify.New(), functions: map[string]*function{},
		logBudget: rate.NewLimiter(projectLogRate, projectLogBurst),
	}
}

// run hosts the project until ctx ends, and returns when all of its goroutines have ended.
func (h *hostedProject) run(ctx context.Context) {
	// Runs in flight may outlive ctx, and so does what they need.
	life := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		desired, err := h.env.Store.Functions(ctx, h.project)
		switch {
		case err == nil:
			h.reconcile(life, desired, deletedDrain)
		case ctx.Err() == nil:
			h.env.Log.WarnContext(ctx, "the functions of a project cannot be read", "project", h.project, "error", err)
		}
		if h.feed != nil {
			h.feed.recorder.Trim(h.env.Store.Now())
		}
		h.functionsChanged.Await(ctx, h.env.Settings.Poll, nil)
	}
	h.reconcile(life, nil, h.env.Settings.Drain)
	h.goroutines.Wait()
}

// deletedDrain is how long runs of a deleted function or config may still take.
const deletedDrain = 500 * time.Millisecond

// reconcile starts, updates and stops functions until they are the desired ones. Runs of stopped functions may take
// drain.
func (h *hostedProject) reconcile(life context.Context, desired map[string]*pb.Function, drain time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.read = true
	if len(desired) > 0 && h.feed == nil {
		h.follow(life)
	}
	for name, spec := range desired {
		f := h.functions[name]
		if f == nil {
			f = newFunction(life, h.env, functionKey{h.project, name}, h.feed, h.logBudget)
			h.functions[name] = f
		}
		f.update(spec)
	}
	for name, f := range h.functions {
		if desired[name] == nil {
			delete(h.functions, name)
			h.goroutines.Go(func() { f.stop(life, min(drain, h.env.Settings.Drain)) })
		}
	}
	if len(desired) == 0 && h.feed != nil {
		// Runs in flight keep the index as it is.
		h.unfollow()
		h.feed.recorder.Close()
		h.feed = nil
	}
}

func (h *hostedProject) follow(life context.Context) {
	f := newFeed(h.project, h.env.Settings.IndexNames, h.env.Log)
	f.recorder = lasthour.NewRecorder(&h.env.recorders, h.env.Store.Now())
	sink := recorded{f, h.env.Store.Now}
	ctx, cancel := context.WithCancel(life)
	h.feed, h.unfollow = f, cancel
	h.goroutines.Go(func() {
		f.follow(ctx, func(ctx context.Context) { h.env.Store.Follow(ctx, h.project, sink, f.wake.C()) })
	})
}

// sortedFunctions is the functions by name.
func (h *hostedProject) sortedFunctions() []*function {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*function, 0, len(h.functions))
	for _, name := range slices.Sorted(maps.Keys(h.functions)) {
		list = append(list, h.functions[name])
	}
	return list
}

// settled reports whether each function is served, or cannot be.
func (h *hostedProject) settled() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.functions {
		if !f.serves() && !f.fails() {
			return false
		}
	}
	return h.read
}

// handOver stops hosting the project once all n new hosts serve its functions. After Settings.Handover one of them is
// enough. As long as none serves them this runner goes on, so that one does.
func (h *hostedProject) handOver(n int, countServing func(functionKey) int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.env.Now()
	if h.handoverSince.IsZero() {
		h.handoverSince = now
	}
	if now.Sub(h.handoverSince) >= h.env.Settings.Handover {
		n = 1
	}
	for _, f := range h.functions {
		if f.serves() && countServing(f.functionKey) < n {
			return
		}
	}
	h.end()
}

// cancelHandover keeps the project here, unless it was handed over already.
func (h *hostedProject) cancelHandover() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handoverSince = time.Time{}
}

// desiredHosts is how many runners should host the project, given how many do; 0 means Settings.Hosts.
func (h *hostedProject) desiredHosts(hosts int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	overloaded := false
	for _, f := range h.functions {
		overloaded = overloaded || f.overloaded()
	}
	return h.scaler.update(h.env.Now(), overloaded, hosts, &h.env.Settings)
}
