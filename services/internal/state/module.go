package state

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// ModulesOf returns the modules of all versions of a function, each once.
func ModulesOf(f *pb.Function) []string {
	modules := []string{f.GetModule()}
	for _, v := range f.GetVersions() {
		modules = append(modules, v.GetModule())
	}
	slices.Sort(modules)
	return slices.DeleteFunc(slices.Compact(modules), func(module string) bool { return module == "" })
}

// namedAnew returns the modules of after that are not in before.
func namedAnew(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(module string) bool { return slices.Contains(before, module) })
}

// NoteModule is called before a module is stored that a function of the project is to name. If no function ever does,
// the module becomes one of UnusedModules.
func (s *Store) NoteModule(ctx context.Context, project, module string) error {
	return s.eval(ctx, s.call("module_note", keysOf(project), ids{},
		"module", module))
}

// UnusedModules are modules that no function of a project names.
type UnusedModules struct {
	// All unused modules, and Due, the modules that have been unused for long enough, the oldest first.
	All, Due []string
}

// UnusedModules lists the unused modules of projects. Due have been unused for longer than grace and withSlack. A
// module that is not listed may be in use, also when Redis lost its entry.
func (s *Store) UnusedModules(
	ctx context.Context, projects []string, grace time.Duration,
) (map[string]UnusedModules, error) {
	latest := float64(millis(s.Now().Add(-withSlack(grace))))
	rows, err := forEach(ctx, s.redis, projects, func(p redis.Pipeliner, project string) *redis.ZSliceCmd {
		return p.ZRangeWithScores(ctx, keysOf(project).unused(), 0, -1)
	})
	if err != nil {
		return nil, err
	}
	listed := map[string]UnusedModules{}
	for i, row := range rows {
		var u UnusedModules
		for _, z := range row.Val() {
			module := memberOf(z)
			u.All = append(u.All, module)
			if z.Score <= latest {
				u.Due = append(u.Due, module)
			}
		}
		if len(u.All) > 0 {
			listed[projects[i]] = u
		}
	}
	return listed, nil
}

// TakeModules takes the modules that have been unused for longer than grace and withSlack: no function can name them
// any more. The caller removes them from the object store and calls ForgetModules. If it does not, they stay due.
func (s *Store) TakeModules(
	ctx context.Context, project string, grace time.Duration, modules []string,
) (taken []string, err error) {
	take := s.call("module_take", keysOf(project), ids{},
		"grace", grace.Milliseconds())
	take.addArgs(modules)
	err = s.eval(ctx, take, &taken)
	return taken, err
}

// ForgetModules removes modules from the list of unused ones.
func (s *Store) ForgetModules(ctx context.Context, project string, modules []string) error {
	if len(modules) == 0 {
		return nil
	}
	return unavailable(s.redis.ZRem(ctx, keysOf(project).unused(), modules).Err())
}
