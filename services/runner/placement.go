package runner

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"
)

// placeProjects reads the list of projects and hosts those that are placed on this runner, until ctx ends.
func (r *Runner) placeProjects(ctx context.Context, goroutines *sync.WaitGroup) {
	heartbeat, poll := time.Tick(r.env.Settings.Heartbeat), time.Tick(r.env.Settings.Poll)
	settled := time.After(r.env.Settings.Settle)
	r.readProjects(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll:
			r.readProjects(ctx)
		case <-r.projectsChanged.C():
			r.readProjects(ctx)
		case <-r.peersChanged.C():
		case <-heartbeat:
		case <-settled:
		}
		r.reconcile(ctx, goroutines)
	}
}

// readProjects reads the list of projects. The old list stays when the state store does not answer.
func (r *Runner) readProjects(ctx context.Context) {
	projects, err := r.env.Store.Projects(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.env.Log.WarnContext(ctx, "the projects cannot be read", "error", err)
		}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.projects, r.projectsRead = projects, true
}

// reconcile starts to host the projects that are placed on this runner, and hands the others over to the runners where
// they are placed.
func (r *Runner) reconcile(ctx context.Context, goroutines *sync.WaitGroup) {
	alive := r.peers.alive()
	if len(alive) == 0 {
		return // it is not known yet, or no runner can take projects over
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.releaseDeleted()
	for _, project := range r.projects {
		h := r.hosted[project]
		hosts := hostsOf(project, alive, r.hostCount(project, h, len(alive)))
		switch {
		case !slices.Contains(hosts, r.env.Name):
			if h != nil {
				h.handOver(len(hosts), func(f functionKey) int { return r.peers.countServing(hosts, f) })
			}
		case h != nil:
			h.cancelHandover()
		default:
			r.host(ctx, project, goroutines)
		}
	}
	r.placed = r.projectsRead
}

// releaseDeleted stops hosting projects that are not listed and have no functions: they were deleted. Others stay,
// since the list may be lost.
func (r *Runner) releaseDeleted() {
	for project, h := range r.hosted {
		if r.projectsRead && !slices.Contains(r.projects, project) && len(h.sortedFunctions()) == 0 {
			h.end()
		}
	}
}

// hostCount is how many runners should host a project: Settings.Hosts, or more when a host is overloaded. h is nil when
// this runner does not host the project.
func (r *Runner) hostCount(project string, h *hostedProject, alive int) int {
	others := min(max(r.env.Settings.Hosts, r.peers.desiredHosts(project)), r.env.Settings.MaxHosts)
	own := 0
	if h != nil {
		own = h.desiredHosts(min(max(others, int(r.desiredHosts[project])), alive))
	}
	if own == 0 {
		delete(r.desiredHosts, project)
		return others
	}
	if int32(own) != r.desiredHosts[project] {
		r.desiredHosts[project] = int32(own)
		r.env.Log.Info("the load of a project changed how many runners should host it", "project", project, "runners", own)
		r.env.statusChanged.Notify()
	}
	return max(others, own)
}

// host starts to host a project, until ctx ends or the project is handed over.
func (r *Runner) host(ctx context.Context, project string, goroutines *sync.WaitGroup) {
	hosting, cancel := context.WithCancel(ctx)
	h := newHostedProject(r.env, project, cancel)
	r.hosted[project] = h
	goroutines.Go(func() {
		defer cancel()
		h.run(hosting)
		r.mu.Lock()
		delete(r.hosted, project)
		r.mu.Unlock()
		r.env.statusChanged.Notify()
		r.peersChanged.Notify() // the project may have been placed here again meanwhile
	})
}

// hostsOf is the n runners that host a project, by rendezvous hashing: those with the highest weights for it. Every
// runner computes the same. When a runner joins or leaves, a project moves only if that runner is one of its n.
func hostsOf(project string, runners []string, n int) []string {
	if len(runners) <= n {
		return runners
	}
	ranked := slices.Clone(runners)
	slices.SortFunc(ranked, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(b, project), weight(a, project)), cmp.Compare(a, b))
	})
	return ranked[:n]
}

// weight is a hash of the pair. FNV hardly mixes its last bytes into the high bits, which decide a comparison. So the
// finaliser of MurmurHash3 follows.
func weight(runner, project string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(runner))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(project))
	w := h.Sum64()
	w ^= w >> 33
	w *= 0xff51afd7ed558ccd
	w ^= w >> 33
	w *= 0xc4ceb9fe1a85ec53
	w ^= w >> 33
	return w
}
