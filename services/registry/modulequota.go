package registry

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"sync"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/quota"
)

// stored counts what limits bound in a project.
type stored struct {
	functions, uploads int   // uploads that are kept
	machineCode        int64 // of the versions that run
	modules            int64 // bytes of those that are kept
}

func storedOf(functions map[string]*pb.Function) (s stored) {
	for _, f := range functions {
		s.functions++
		s.machineCode += machineCode(f)
		for _, v := range f.GetVersions() {
			s.uploads++
			s.modules += v.GetBytes()
		}
	}
	return s
}

// inventory has the counts of each project at the last sweep, for the metrics.
type inventory struct {
	mu       sync.Mutex
	projects map[string]stored
}

func (s *inventory) put(project string, has stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.projects == nil {
		s.projects = map[string]stored{}
	}
	if s.projects[project] = has; has == (stored{}) {
		delete(s.projects, project)
	}
}

// replace sets the counts of all projects.
func (s *inventory) replace(all map[string]stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.projects = all
}

func (s *inventory) all() map[string]stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.projects)
}

// tellChange recounts the functions of a project of which one was changed, and pokes the other services.
func (r *registry) tellChange(ctx context.Context, project string) {
	r.recount(ctx, project)
	r.Bus.Poke(ctx, project, &pb.Poke{Functions: true})
}

// recount counts a project after a change. Without an answer of the state store the numbers stay as they were, until
// the next sweep.
func (r *registry) recount(ctx context.Context, project string) {
	if functions, err := r.Store.Functions(ctx, project); err == nil {
		r.inventory.put(project, storedOf(functions))
	}
}

// checkShare refuses a module with which the project would have more than its share of the object store: half of what
// the others leave, modules included that no function has any more and that are not removed yet. So there is always
// room for the next project. Some uploads at the same time can exceed the limit by one module each.
func (r *registry) checkShare(ctx context.Context, project string, size int) error {
	all, err := r.Bus.ModuleBytes(ctx)
	if err != nil {
		return err
	}
	functions, err := r.Store.Functions(ctx, project)
	if err != nil {
		return err
	}
	unused, err := r.Store.UnusedModules(ctx, []string{project}, r.Settings.ModuleGrace)
	if err != nil {
		return err
	}
	own := storedOf(functions).modules
	for _, module := range unused[project].All {
		own += sizeIn(module)
	}
	most := int64(r.Settings.AllModules) * mib
	others := max(0, all-own)
	if own += int64(size); own <= quota.Share(others, most) {
		return nil
	}
	e := problem.New(problem.Limited, "file: the modules of all projects take %d of %d MiB. This project would have "+
		"%d MiB of them, earlier uploads included, and those that were dropped within %v; a project may have half of what "+
		"the others leave (--max-modules-total)",
		(all+mib-1)/mib, r.Settings.AllModules, (own+mib-1)/mib, r.Settings.ModuleGrace)
	e.RetryAfter = sweepInterval(r.Settings.ModuleGrace)
	e.Limit = &problem.Limit{Name: "max-modules-total", Amount: r.Settings.AllModules}
	return e
}

// sizeIn is the size that a module's name has, see moduleName; 0 for another name.
func sizeIn(name string) (n int64) {
	if parts := strings.Split(name, "."); len(parts) == 4 {
		n, _ = strconv.ParseInt(parts[2], 10, 64)
	}
	return n
}
