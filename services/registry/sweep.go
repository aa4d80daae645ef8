package registry

import (
	"context"
	"log/slog"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

// sweeper removes modules from the object store that no version of any function has.
//
// It needs proof: the state store lists the module as unused, for a whole grace period, and no function of that project
// names it. An upload lists its module before it stores it, and the script that writes a function takes it off the list
// or puts back what the function dropped. A list that is empty, or lost, proves nothing. Every replica sweeps: removing
// a module twice is no error.
type sweeper struct {
	store *state.Store
	bus   Bus
	log   *slog.Logger
	grace time.Duration

	// found gets the counts of all projects; it may be nil.
	found func(map[string]stored)
	// stray are the modules without a proof at the last look.
	stray []string
}

func newSweeper(store *state.Store, bus Bus, log *slog.Logger, grace time.Duration) *sweeper {
	return &sweeper{store: store, bus: bus, log: log, grace: grace}
}

// sweepInterval is how often a sweeper looks.
func sweepInterval(grace time.Duration) time.Duration { return max(grace/6, time.Millisecond) }

// sweep looks once, and returns how many modules it removed.
func (s *sweeper) sweep(ctx context.Context) (removed int, err error) {
	// Before the lists: what is stored later is not looked at. It fails when another replica removes one meanwhile.
	inStore, unlisted := s.bus.Modules(ctx)
	projects, err := s.store.Projects(ctx)
	if err != nil {
		return 0, err
	}
	unused, err := s.store.UnusedModules(ctx, projects, s.grace)
	if err != nil {
		return 0, err
	}
	known, has := map[string]bool{}, map[string]stored{}
	for _, project := range projects {
		functions, err := s.store.Functions(ctx, project)
		if err != nil {
			return removed, err
		}
		if len(functions) > 0 {
			has[project] = storedOf(functions)
		}
		used := modulesOf(functions)
		for _, module := range unused[project].All {
			known[module] = true
		}
		for module := range used {
			known[module] = true
		}
		n, err := s.remove(ctx, project, unused[project].Due, used)
		removed += n
		if err != nil {
			return removed, err
		}
	}
	if s.found != nil {
		s.found(has)
	}
	if unlisted == nil {
		s.reportStray(ctx, slices.DeleteFunc(inStore, func(module string) bool { return known[module] }))
	}
	return removed, nil
}

// modulesOf returns the modules that functions name.
func modulesOf(functions map[string]*pb.Function) map[string]bool {
	used := map[string]bool{}
	for _, f := range functions {
		for _, module := range state.ModulesOf(f) {
			used[module] = true
		}
	}
	return used
}

// remove removes the modules of a project that are due and that no function names.
func (s *sweeper) remove(ctx context.Context, project string, due []string, used map[string]bool) (n int, err error) {
	var named, free []string
	for _, module := range due {
		if used[module] {
			named = append(named, module)
		} else {
			free = append(free, module)
		}
	}
	if len(named) > 0 { // written by a version that did not know the list
		s.log.WarnContext(ctx, "modules that a function names are listed as unused; they are kept", "project", project,
			"modules", named)
		if err := s.store.ForgetModules(ctx, project, named); err != nil {
			return 0, err
		}
	}
	if len(free) == 0 {
		return 0, nil
	}
	taken, err := s.store.TakeModules(ctx, project, s.grace, free)
	if err != nil {
		return 0, err
	}
	for _, module := range taken {
		if err := s.bus.DeleteModule(ctx, module); err != nil {
			return n, err
		}
		n++
	}
	return n, s.store.ForgetModules(ctx, project, taken)
}

// reportStray logs modules that no function names and no list has, when they have changed: the state store may have
// lost what names them.
func (s *sweeper) reportStray(ctx context.Context, stray []string) {
	slices.Sort(stray)
	if len(stray) > 0 && !slices.Equal(stray, s.stray) {
		s.log.WarnContext(ctx, "stored modules are in no function and no list of unused ones; they are kept",
			"count", len(stray), "first", stray[0])
	}
	s.stray = stray
}

// sweepLoop sweeps now and then, until ctx ends.
func (r *registry) sweepLoop(ctx context.Context) {
	s := newSweeper(r.Store, r.Bus, r.Log, r.Settings.ModuleGrace)
	s.found = r.inventory.replace
	for range wait.Every(ctx, sweepInterval(r.Settings.ModuleGrace)) {
		var removed int
		_ = r.traceStep(ctx, "sweep modules", func(ctx context.Context) (err error) {
			if removed, err = s.sweep(ctx); err != nil && ctx.Err() == nil {
				r.Log.WarnContext(ctx, "unused modules not removed", "error", err)
			}
			return err
		})
		if removed > 0 {
			r.Log.InfoContext(ctx, "unused modules removed", "count", removed)
		}
	}
}
