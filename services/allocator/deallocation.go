package allocator

import (
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/services/internal/state"
)

// A server that no ticket uses is noted in the state store, in the same step that ends its match. This loop of every
// allocator deallocates what is noted, so it does not matter which process dies when.

// deallocationBatch is how many servers of a project an allocator deallocates at once.
const deallocationBatch = 16

// deallocate deallocates servers until ctx ends.
func (s *service) deallocate(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	busy := new(sync.Map) // the projects whose deallocations run: one whose hosting system hangs gets no more of them
	for ctx.Err() == nil {
		if err := s.deallocateDue(ctx, busy, &running); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "looking for servers to deallocate", "error", err)
		}
		s.deallocations.Await(ctx, s.Settings.Sweep, nil)
	}
}

// deallocateDue starts the deallocations that are due.
func (s *service) deallocateDue(ctx context.Context, busy *sync.Map, running *sync.WaitGroup) error {
	projects, err := s.Store.Projects(ctx)
	if err != nil {
		return err
	}
	idle := slices.DeleteFunc(projects, func(project string) bool {
		_, runs := busy.Load(project)
		return runs
	})
	backoff := state.Backoff{First: s.Settings.Retry, Max: state.LongestBackoff, Patience: s.Settings.Return}
	due, err := s.Store.ClaimDeallocations(ctx, idle, deallocationBatch, backoff)
	for project, servers := range due {
		busy.Store(project, true)
		running.Go(func() {
			var all sync.WaitGroup
			for _, d := range servers {
				all.Go(func() { s.deallocateServer(ctx, project, d) })
			}
			all.Wait()
			busy.Delete(project)
			s.deallocations.Notify() // there may be more
		})
	}
	return err
}

// deallocateServer releases the server of a match, if it has one, or those that its tickets do not use. When that
// fails, any allocator tries again later, but not for longer than Settings.Return: keys may have been revoked for good.
func (s *service) deallocateServer(ctx context.Context, project string, d state.Deallocation) {
	m := d.Match
	ref, err := s.refOf(project, m.GetId(), m.GetConfig(), hostingOf(m), m.GetHosting())
	ref.Used = d.Used
	logged := ctx // with the span of the call
	if err == nil {
		err = s.call(ctx, "hosting release", ref, func(ctx context.Context) error {
			logged = ctx
			return s.Provider.Release(ctx, ref)
		})
	}
	if err == nil && d.Used == "" {
		s.metrics.returned.Add(ctx, 1, metric.WithAttributes(s.nameOf(project, ref.Hosting)))
	}
	if err == nil {
		_, err = s.Store.FinishDeallocation(ctx, project, d, false)
	}
	switch {
	case err == nil || ctx.Err() != nil:
	case !d.Last:
		s.Log.WarnContext(logged, "a server could not be deallocated, and is tried again later",
			"project", project, "match", m.GetId(), "fleet", ref.Hosting.Fleet, "error", err)
	default:
		ended, failed := s.Store.FinishDeallocation(ctx, project, d, true)
		if failed != nil {
			s.Log.WarnContext(ctx, "giving up a deallocation", "project", project, "match", m.GetId(), "error", failed)
		}
		if !ended { // it stays due, or another allocator goes on
			return
		}
		s.metrics.unreturned.Add(ctx, 1, metric.WithAttributes(s.nameOf(project, ref.Hosting)))
		s.Log.ErrorContext(logged,
			"a server could not be deallocated, and is not tried again: look for it at the hosting system",
			"project", project, "match", m.GetId(), "fleet", ref.Hosting.Fleet, "tried", s.Settings.Return, "error", err)
	}
}
