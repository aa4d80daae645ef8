package party

import (
	"context"
	"sync"
	"time"

	"matchmaker.dev/services/internal/problem"
)

// maxSearches is how many requests look for players, or wait for that.
const maxSearches = 64

// searchQueue lets one request at a time look for a player. The others wait, one of each project, in the order in which
// they came.
type searchQueue struct {
	turn chan struct{} // has one element while a request looks

	mu       sync.Mutex
	projects map[string]struct{}
}

func newSearchQueue() *searchQueue {
	return &searchQueue{turn: make(chan struct{}, 1), projects: map[string]struct{}{}}
}

// begin waits for the turn of a project's request, which ends with end.
func (l *searchQueue) begin(ctx context.Context, project string) (end func(), err error) {
	if !l.add(project) {
		return nil, busy()
	}
	select {
	case l.turn <- struct{}{}:
		return func() {
			<-l.turn
			l.remove(project)
		}, nil
	case <-ctx.Done():
		l.remove(project)
		return nil, busy()
	}
}

func (l *searchQueue) add(project string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.projects[project]; there || len(l.projects) == maxSearches {
		return false
	}
	l.projects[project] = struct{}{}
	return true
}

func (l *searchQueue) remove(project string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.projects, project)
}

func busy() error {
	e := problem.New(problem.Limited, "this process looks for a player already, try again").Exceeds("players")
	e.RetryAfter = time.Second
	return e
}
