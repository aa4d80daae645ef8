package allocator

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// Servers that nobody goes to are noted among the returns of their project, in the same step that ends their match. What gives them
// back is this loop of every allocator, so that it does not matter who dies when.
const (
	// returnBatch is how many servers of a project an allocator gives back at once.
	returnBatch = 16
	// mostRetry is how long at the most until a server is given back again that could not be.
	mostRetry = 10 * time.Minute
)

// giveBack gives servers back until ctx ends.
func (s *service) giveBack(ctx context.Context) {
	var under sync.WaitGroup
	defer under.Wait()
	busy := &counts{n: map[string]int{}}
	every := time.NewTicker(s.Settings.Sweep)
	defer every.Stop()
	for {
		if err := s.sweep(ctx, busy, &under); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "looking for servers to give back", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		case <-s.kicked:
		}
	}
}

// kick makes giveBack look at once.
func (s *service) kick() {
	select {
	case s.kicked <- struct{}{}:
	default:
	}
}

// counts are the servers that are being given back, by project: one whose hosting system hangs takes no more of them.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(project string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n[project] += n; c.n[project] == 0 {
		delete(c.n, project)
	}
}

func (c *counts) free(project string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[project] == 0
}

func (s *service) sweep(ctx context.Context, busy *counts, under *sync.WaitGroup) error {
	projects, err := s.Store.Projects(ctx)
	if err != nil {
		return err
	}
	var free []string
	for _, project := range projects {
		if busy.free(project) {
			free = append(free, project)
		}
	}
	lent, err := s.Store.ClaimDeallocations(ctx, free, s.Now(), returnBatch, state.Backoff{First: s.Settings.Retry, Max: mostRetry})
	for project, matches := range lent {
		busy.add(project, len(matches))
		for _, m := range matches {
			under.Go(func() {
				defer s.kick() // there may be more
				defer busy.add(project, -1)
				s.giveBackOne(ctx, project, m)
			})
		}
	}
	return err
}

// giveBackOne gives the server of a match back, if it has one. What fails is tried again later, by whoever is there then.
func (s *service) giveBackOne(ctx context.Context, project string, m *pb.Match) {
	call, cancel := context.WithTimeout(ctx, s.Settings.Call)
	defer cancel()
	about := ctx // of what is logged
	ref, err := s.refOf(project, m.GetId(), m.GetConfig(), hostingOf(m), m.GetHosting())
	if err == nil {
		call, span := s.called(call, "hosting release", ref.Hosting)
		about = trace.ContextWithSpanContext(ctx, span.SpanContext())
		err = s.Provider.Release(call, ref)
		s.answered(span, err)
	}
	if err == nil {
		s.metrics.returned.Add(ctx, 1, metric.WithAttributes(s.nameOf(ref.Hosting)))
		err = s.Store.FinishDeallocation(ctx, project, m, s.Now())
	}
	if err != nil && ctx.Err() == nil {
		s.Log.WarnContext(about, "a server could not be given back, and is again later", "project", project, "match", m.GetId(), "fleet", ref.Hosting.Fleet, "error", err)
	}
}
