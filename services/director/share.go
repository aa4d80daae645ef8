package director

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// balance renews the leases of the projects that this replica leads, and brings their number to its share: it takes
// leases that are free, or gives some up.
func (s *service) balance(ctx context.Context, lead func(project string, epoch uint64)) {
	leading := s.leading()
	if !s.trouble.note(ctx, "renewing leases", s.renew(ctx, leading)) {
		return // claims are refused should they run out
	}
	projects, err := s.Store.Projects(ctx)
	if !s.trouble.note(ctx, "reading the projects", err) {
		return
	}
	staying := s.staying()
	living, err := s.Store.Heartbeat(ctx, s.Name, len(staying), s.Now(), s.Times.Lease)
	if !s.trouble.note(ctx, "telling the other directors that this one lives", err) {
		return
	}
	switch n := share(living, s.Name, len(projects)); {
	case n < len(staying):
		s.retire(staying[n:])
	case n > len(staying):
		free := slices.DeleteFunc(projects, func(p string) bool { return slices.Contains(leading, p) })
		s.trouble.note(ctx, "taking leases", s.take(ctx, free, n-len(staying), lead))
	}
}

// share is how many of the projects a director leads when the living ones, with so many projects each, share them
// evenly: none has two more than another. Those who lead most keep one more where it does not come out even.
func share(living map[string]int, name string, projects int) int {
	if len(living) == 0 {
		return projects
	}
	names := slices.SortedFunc(maps.Keys(living), func(a, b string) int {
		return cmp.Or(cmp.Compare(living[b], living[a]), cmp.Compare(a, b))
	})
	n := projects / len(names)
	if slices.Index(names, name) < projects%len(names) {
		n++
	}
	return n
}

// leading are the projects that this replica leads, those that it is giving up included, in order.
func (s *service) leading() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.leaders))
}

// staying are those that it leads and goes on to.
func (s *service) staying() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.leaders)), func(p string) bool { return s.leaders[p].inbox.retiring() })
}

// renew renews the leases of projects, and stops leading those whose lease is another's by now.
func (s *service) renew(ctx context.Context, projects []string) error {
	epochs, err := s.Store.AcquireLeases(ctx, projects, s.Name, s.Now(), s.Times.Lease)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, epoch := range epochs {
		if l := s.leaders[projects[i]]; l != nil && l.epoch != epoch {
			if epoch > 0 && epoch < l.epoch {
				l.log.Error("the state store lost changes: the lease is an older one", "now", epoch)
			}
			l.stop()
			delete(s.leaders, projects[i])
		}
	}
	return err
}

// take takes up to n leases that are free, and leads their projects.
func (s *service) take(ctx context.Context, projects []string, n int, lead func(project string, epoch uint64)) error {
	leases, err := s.Store.Leases(ctx, projects)
	if err != nil {
		return err
	}
	var free []string
	for i, l := range leases {
		if l.Free(s.Now()) {
			free = append(free, projects[i])
		}
	}
	free = free[:min(n, len(free))]
	epochs, err := s.Store.AcquireLeases(ctx, free, s.Name, s.Now(), s.Times.Lease)
	for i, epoch := range epochs {
		if epoch > 0 { // else another was faster
			lead(free[i], epoch)
		}
	}
	return err
}

// retire gives projects up, each when what is under way for it has ended.
func (s *service) retire(projects []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range projects {
		if l := s.leaders[p]; l != nil {
			l.log.Info("giving a project up to another director")
			l.inbox.retire()
		}
	}
}

// farewell is how long a replica that ends may take to say so.
const farewell = time.Second

// leave says that this replica ends.
func (s *service) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err := s.Store.RemoveDirector(ctx, s.Name, s.Now()); err != nil {
		s.Log.WarnContext(ctx, "telling the other directors that this one ends", "error", err)
	}
}

// yield gives a project's lease up, and tells the others that it is free.
func (s *service) yield(ctx context.Context, project string) {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if err := s.Store.ReleaseLease(ctx, project, s.Name, s.Now()); err != nil {
		s.Log.WarnContext(ctx, "giving up a lease", "project", project, "error", err)
		return
	}
	s.Bus.Poke(ctx, project, &pb.Poke{Configs: true})
}
