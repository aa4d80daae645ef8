package registry

import (
	"context"
	"sync"
	"time"

	"matchmaker.dev/services/internal/problem"
)

// patience is how long an upload waits until it may begin.
const patience = 30 * time.Second

// admission lets some uploads be worked on at the same time, and of one project only a part of them: who
// uploads what takes long to send, or to compile, holds up nobody else's. It is safe for concurrent use.
type admission struct {
	seats chan struct{} // holds a token for each upload that is worked on
	share int           // of the seats that one project may have

	mu       sync.Mutex
	projects map[string]*queue // those with an upload
}

// queue is the uploads of a project.
type queue struct {
	seats chan struct{}
	users int // those that are worked on, and those that wait
}

func newAdmission(seats int) *admission {
	return &admission{seats: make(chan struct{}, seats), share: max(1, seats/4), projects: map[string]*queue{}}
}

// enter waits until an upload may begin; leave ends it.
func (a *admission) enter(ctx context.Context, project string) (leave func(), err error) {
	busy := problem.New(problem.Limited, "too many uploads at the same time: try again later")
	busy.RetryAfter = patience
	ctx, cancel := context.WithTimeoutCause(ctx, patience, busy)
	defer cancel()
	var taken []chan struct{}
	leave = func() {
		for _, seats := range taken {
			<-seats
		}
		a.unqueue(project)
	}
	for _, seats := range []chan struct{}{a.queue(project), a.seats} {
		select {
		case seats <- struct{}{}:
			taken = append(taken, seats)
		case <-ctx.Done():
			leave()
			return nil, context.Cause(ctx)
		}
	}
	return leave, nil
}

// queue is the seats of a project, to be given back with unqueue.
func (a *admission) queue(project string) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.projects[project]
	if q == nil {
		q = &queue{seats: make(chan struct{}, a.share)}
		a.projects[project] = q
	}
	q.users++
	return q.seats
}

func (a *admission) unqueue(project string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.projects[project]
	if q.users--; q.users == 0 {
		delete(a.projects, project)
	}
}
