package registry

import (
	"context"
	"time"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/state"
)

// sweeper removes modules from the object store that no version of any function has.
//
// An upload stores its module before the record that names it, and a runner fetches the module after it has read the
// record. So a module is removed only after it was unused at every look for a whole grace period. A name that fell out
// of use does not come back, see moduleName. Every replica sweeps: removing a module twice is no error.
type sweeper struct {
	store *state.Store
	bus   *bus.Bus
	now   func() time.Time
	grace time.Duration

	unused map[string]time.Time // since when, as seen by this replica
}

// sweep looks once, and returns how many modules it removed. It removes none if the functions cannot be read: they may
// name any module.
func (s *sweeper) sweep(ctx context.Context) (removed int, err error) {
	stored, err := s.bus.Modules(ctx) // before the functions: what comes later is not looked at
	if err != nil {
		return 0, err
	}
	used, err := s.used(ctx)
	if err != nil {
		return 0, err
	}
	now := s.now()
	unused := make(map[string]time.Time, len(s.unused))
	for _, name := range stored {
		if used[name] {
			continue
		}
		since, known := s.unused[name]
		if !known {
			since = now
		}
		if known && now.Sub(since) >= s.grace {
			if err := s.bus.DeleteModule(ctx, name); err != nil {
				return removed, err
			}
			removed++
			continue
		}
		unused[name] = since
	}
	s.unused = unused
	return removed, nil
}

// used returns the modules that functions have.
func (s *sweeper) used(ctx context.Context) (map[string]bool, error) {
	projects, err := s.store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, project := range projects {
		functions, err := s.store.Functions(ctx, project)
		if err != nil {
			return nil, err
		}
		for _, f := range functions {
			used[f.GetModule()] = true
			for _, v := range f.GetVersions() {
				used[v.GetModule()] = true
			}
		}
	}
	return used, nil
}

// sweepLoop sweeps now and then, until ctx ends.
func (r *registry) sweepLoop(ctx context.Context) {
	s := &sweeper{store: r.Store, bus: r.Bus, now: r.Now, grace: r.Settings.ModuleGrace, unused: map[string]time.Time{}}
	t := time.NewTicker(max(r.Settings.ModuleGrace/6, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
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
