package registry

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"matchmaker.dev/services/internal/problem"
)

// patience is how long an upload waits until it may begin.
const patience = 30 * time.Second

// admission bounds how many uploads are worked on at the same time, and how many of one project: a project whose
// uploads take long to send or to compile holds up no other. It is safe for concurrent use.
type admission struct {
	all        *semaphore.Weighted
	perProject int64

	mu       sync.Mutex
	projects map[string]*queue // those with an upload
}

// queue is the uploads of a project.
type queue struct {
	slots *semaphore.Weighted
	users int // uploads under way, and those that wait
}

func newAdmission(most int) *admission {
	return &admission{
		all:        semaphore.NewWeighted(int64(most)),
		perProject: int64(max(1, most/4)),
		projects:   map[string]*queue{},
	}
}

// enter waits until an upload may begin; leave ends it.
func (a *admission) enter(ctx context.Context, project string) (leave func(), err error) {
	busy := problem.New(problem.Limited, "too many uploads at the same time: try again later")
	busy.RetryAfter = patience
	ctx, cancel := context.WithTimeoutCause(ctx, patience, busy)
	defer cancel()
	own := a.queue(project)
	if own.Acquire(ctx, 1) != nil {
		a.unqueue(project)
		return nil, context.Cause(ctx)
	}
	if a.all.Acquire(ctx, 1) != nil {
		own.Release(1)
		a.unqueue(project)
		return nil, context.Cause(ctx)
	}
	return func() {
		a.all.Release(1)
		own.Release(1)
		a.unqueue(project)
	}, nil
}

// queue is the slots of a project; unqueue gives them back.
func (a *admission) queue(project string) *semaphore.Weighted {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.projects[project]
	if q == nil {
		q = &queue{slots: semaphore.NewWeighted(a.perProject)}
		a.projects[project] = q
	}
	q.users++
	return q.slots
}

func (a *admission) unqueue(project string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.projects[project]
	if q.users--; q.users == 0 {
		delete(a.projects, project)
	}
}
