package runner

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// host is a project on this runner: its index and its functions.
type host struct {
	env     *env
	project string
	end     context.CancelFunc // of run
	kicked  chan struct{}      // its functions changed

	going sync.WaitGroup // what the host started and has to wait for
	feed  *feed          // nil while the project has no functions; run's alone
	// unfollow ends the feed's follower.
	unfollow context.CancelFunc

	mu        sync.Mutex
	functions map[string]*function
	yielding  time.Time // since when the project is placed elsewhere; zero when it is here
	demand    demand
}

func newHost(e *env, project string, end context.CancelFunc) *host {
	return &host{env: e, project: project, end: end, kicked: make(chan struct{}, 1), functions: map[string]*function{}}
}

// run hosts the project until ctx ends, and returns when nothing of it is left.
func (h *host) run(ctx context.Context) {
	// Runs under way may outlive ctx, and with them what they need.
	life := context.WithoutCancel(ctx)
	poll := time.NewTicker(h.env.Settings.Poll)
	defer poll.Stop()
	for ctx.Err() == nil {
		wanted, err := h.env.Store.Functions(ctx, h.project)
		switch {
		case err == nil:
			h.reconcile(life, wanted)
		case ctx.Err() == nil:
			h.env.Log.WarnContext(ctx, "the functions of a project cannot be read", "project", h.project, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-poll.C:
		case <-h.kicked:
		}
	}
	h.reconcile(life, nil)
	h.going.Wait()
}

// reconcile makes the functions what is wanted.
func (h *host) reconcile(life context.Context, wanted map[string]*pb.Function) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(wanted) > 0 && h.feed == nil {
		h.follow(life)
	}
	for name, spec := range wanted {
		f := h.functions[name]
		if f == nil {
			f = newFunction(life, h.env, target{h.project, name}, h.feed)
			h.functions[name] = f
		}
		f.want(spec)
	}
	for name, f := range h.functions {
		if wanted[name] == nil {
			delete(h.functions, name)
			h.going.Go(func() { f.stop(life) })
		}
	}
	if len(wanted) == 0 && h.feed != nil {
		// Runs that still go on have the index as it is.
		h.unfollow()
		h.feed = nil
	}
}

func (h *host) follow(life context.Context) {
	f := newFeed(h.project, h.env.Log)
	ctx, cancel := context.WithCancel(life)
	h.feed, h.unfollow = f, cancel
	h.going.Go(func() { h.env.Store.Follow(ctx, h.project, f) })
}

// list is the functions by name.
func (h *host) list() []*function {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*function, 0, len(h.functions))
	for _, name := range slices.Sorted(maps.Keys(h.functions)) {
		list = append(list, h.functions[name])
	}
	return list
}

// yield ends the host when each of the runners where the project is placed now serves its functions, after Settings.Handover
// when one of them does: those that cannot would leave nobody.
func (h *host) yield(homes int, serving func(target) int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.env.Now()
	if h.yielding.IsZero() {
		h.yielding = now
	}
	if now.Sub(h.yielding) >= h.env.Settings.Handover {
		homes = 1
	}
	for _, f := range h.functions {
		if f.serves() && serving(f.target) < homes {
			return
		}
	}
	h.end()
}

// weigh looks how much there is to do, given how many runners host the project, and returns how
// many should; 0 is as many as without load.
func (h *host) weigh(hosts int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	crowded := false
	for _, f := range h.functions {
		crowded = crowded || f.crowded()
	}
	return h.demand.look(h.env.Now(), crowded, hosts, &h.env.Settings)
}

// stay takes a yield back that has not ended the host yet.
func (h *host) stay() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.yielding = time.Time{}
}
