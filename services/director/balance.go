package director

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// welcomePause is the least time between two claims of new projects: many new projects do not make directors read the
// list of all projects each time.
const welcomePause = 50 * time.Millisecond

// balance renews the leases of the projects that this replica leads, and brings their number to its share.
func (s *service) balance(ctx context.Context, lead func(project string, epoch uint64)) {
	if !s.errorLog.Check(ctx, "renewing leases", s.renew(ctx, s.leading())) {
		return // if the leases expire, claims are refused
	}
	if projects, err := s.Store.Projects(ctx); s.errorLog.Check(ctx, "reading the projects", err) {
		s.share(ctx, s.completed(ctx, projects), lead)
	}
}

// welcome leads projects that are new, or whose leases are free, without renewing all others.
func (s *service) welcome(ctx context.Context, lead func(project string, epoch uint64)) {
	if projects, err := s.Store.Projects(ctx); s.errorLog.Check(ctx, "reading the projects", err) {
		s.share(ctx, projects, lead)
	}
}

// share brings the number of projects that this replica leads to its share: it acquires leases that are free, or gives
// some up.
func (s *service) share(ctx context.Context, projects []string, lead func(project string, epoch uint64)) {
	keeping := s.keeping()
	alive, err := s.Store.Heartbeat(ctx, s.Name, len(keeping), s.Settings.Lease)
	if !s.errorLog.Check(ctx, "sending the heartbeat to the other directors", err) {
		return
	}
	switch n := share(alive, s.Name, len(projects)); {
	case n < len(keeping):
		s.retire(keeping[n:])
	case n > len(keeping):
		free := without(projects, s.leading())
		s.errorLog.Check(ctx, "acquiring leases", s.acquire(ctx, free, n-len(keeping), lead))
	}
}

// without returns the names that are not among others.
func without(names, others []string) []string {
	known := make(map[string]bool, len(others))
	for _, name := range others {
		known[name] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return known[name] })
}

// share is how many of the projects a director leads. alive is how many each living director leads now. The shares are
// even: none is larger by two than another, and the directors that lead most now get the larger ones.
func share(alive map[string]int, name string, projects int) int {
	if len(alive) == 0 {
		return projects
	}
	names := slices.SortedFunc(maps.Keys(alive), func(a, b string) int {
		return cmp.Or(cmp.Compare(alive[b], alive[a]), cmp.Compare(a, b))
	})
	n := projects / len(names)
	if slices.Index(names, name) < projects%len(names) {
		n++
	}
	return n
}

// leading returns the projects that this replica leads in order, with projects that it is giving up.
func (s *service) leading() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.leaders))
}

// keeping returns the projects that this replica leads in order, without projects that it is giving up.
func (s *service) keeping() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	retiring := func(project string) bool { return s.leaders[project].inbox.retiring() }
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.leaders)), retiring)
}

// renew renews the leases of projects, and stops the leaders of projects whose lease another director has.
func (s *service) renew(ctx context.Context, projects []string) error {
	epochs, err := s.Store.AcquireLeases(ctx, projects, s.Name, s.Settings.Lease)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, epoch := range epochs {
		if l := s.leaders[projects[i]]; l != nil && l.epoch != epoch {
			if epoch > 0 {
				l.log.Error("the state store lost changes, or another director led the project meanwhile", "now", epoch)
			}
			l.stop()
			delete(s.leaders, projects[i])
		}
	}
	return err
}

// acquire acquires up to n leases that are free, and leads their projects.
func (s *service) acquire(
	ctx context.Context, projects []string, n int, lead func(project string, epoch uint64),
) error {
	leases, err := s.Store.Leases(ctx, projects)
	if err != nil {
		return err
	}
	var free []string
	for i, l := range leases {
		if l.Free(s.Store.Now(), s.Settings.Lease) {
			free = append(free, projects[i])
		}
	}
	free = free[:min(n, len(free))]
	epochs, err := s.Store.AcquireLeases(ctx, free, s.Name, s.Settings.Lease)
	for i, epoch := range epochs {
		if epoch > 0 { // otherwise another director was faster
			lead(free[i], epoch)
		}
	}
	return err
}

// retire gives projects up, each once nothing is under way for it.
func (s *service) retire(projects []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range projects {
		if l := s.leaders[p]; l != nil {
			l.log.Info("giving a project up to another director")
			l.inbox.startRetiring()
		}
	}
}

// leaveTime limits how long a replica that ends takes to leave the others, or to release a lease.
const leaveTime = time.Second

// leave removes this replica from the directors that share the projects.
func (s *service) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	if err := s.Store.RemoveDirector(ctx, s.Name); err != nil {
		s.Log.WarnContext(ctx, "leaving the other directors", "error", err)
	}
}

// release releases a project's lease, and pokes the others to acquire it.
func (s *service) release(ctx context.Context, project string) {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	if err := s.Store.ReleaseLease(ctx, project, s.Name); err != nil {
		s.Log.WarnContext(ctx, "releasing a lease", "project", project, "error", err)
		return
	}
	s.Bus.Poke(ctx, project, &pb.Poke{Configs: true})
}
