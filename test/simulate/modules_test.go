package simulate

import (
	"context"
	"maps"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// PutModule stores a module.
func (p port) PutModule(ctx context.Context, name string, module []byte) error {
	return p.module(ctx, "put "+name, func(all map[string][]byte) { all[name] = module })
}

// Module reads a module.
func (p port) Module(ctx context.Context, name string) (module []byte, err error) {
	err = p.module(ctx, "get "+name, func(all map[string][]byte) { module = all[name] })
	if err == nil && module == nil {
		err = bus.ErrNoModule
	}
	return module, err
}

// DeleteModule removes a module.
func (p port) DeleteModule(ctx context.Context, name string) error {
	return p.module(ctx, "delete "+name, func(all map[string][]byte) { delete(all, name) })
}

// Modules lists the modules.
func (p port) Modules(ctx context.Context) (names []string, err error) {
	err = p.module(ctx, "list", func(all map[string][]byte) { names = slices.Sorted(maps.Keys(all)) })
	return names, err
}

// ModuleBytes is how many bytes they have.
func (p port) ModuleBytes(ctx context.Context) (n int64, err error) {
	err = p.module(ctx, "size", func(all map[string][]byte) {
		for _, module := range all {
			n += int64(len(module))
		}
	})
	return n, err
}

// module lets the gate do something with the modules. A caller that left before gets nothing.
func (p port) module(ctx context.Context, label string, do func(all map[string][]byte)) error {
	err := p.gate.call(ctx, p.process, "modules: "+label, calls, func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		do(p.modules)
		return nil
	})
	if err != nil {
		return problem.Wrap(problem.Unavailable, err, "the message bus did not answer")
	}
	return nil
}

// Connected is true: what is lost is lost message by message.
func (p port) Connected() bool { return !p.process.dead() }

// ReadLog finds nothing: what functions write is dropped.
func (p port) ReadLog(context.Context, string, string, bus.LogStart, func(*pb.LogLines) bool) (uint64, error) {
	return 0, nil
}

// ShareLogs has nothing to do.
func (p port) ShareLogs(context.Context) (uint64, error) { return 0, nil }

// checkModules checks that the modules are there that functions name.
func (w *world) checkModules(ctx context.Context) {
	w.hub.mu.Lock()
	stored := maps.Clone(w.hub.modules)
	w.hub.mu.Unlock()
	for _, s := range w.studios {
		all, err := s.functions.Functions(ctx, s.Project)
		if err != nil {
			w.fail("%s: the functions cannot be read: %v", s.Project, err)
		}
		for name, f := range all {
			for _, module := range state.ModulesOf(f) {
				if stored[module] == nil {
					w.fail("%s: modules: %s of the function %s is not stored", s.Project, module, name)
				}
			}
		}
	}
}
