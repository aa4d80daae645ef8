package stream

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/metric"
)

// Places limits how many streams, or held requests, of one kind this process has open, in all, of a project and of a
// player.
//
// A project may hold as many as there are free places left in all. So one project takes half of the places at most, and
// n of them leave a share of 1/(n+1) to the others.
type Places struct {
	all, perPlayer int
	open           metric.Int64UpDownCounter
	refused        metric.Int64Counter

	mu       sync.Mutex
	taken    int
	projects map[string]int
	players  map[player]int
}

// player is one of a project.
type player struct{ project, name string }

// NewPlaces makes places that are counted by instruments.
func NewPlaces(all, perPlayer int, open metric.Int64UpDownCounter, refused metric.Int64Counter) *Places {
	return &Places{all: all, perPlayer: perPlayer, projects: map[string]int{}, players: map[player]int{}, open: open,
		refused: refused}
}

// Take takes a place for a request of a player, "" for a game service that asks for many. leave gives it back; it is
// nil when there is no place.
func (h *Places) Take(ctx context.Context, project, name string) (leave func()) {
	p := player{project, name}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.projects[project] >= h.all-h.taken || name != "" && h.players[p] >= h.perPlayer {
		h.refused.Add(ctx, 1)
		return nil
	}
	h.taken++
	h.projects[project]++
	h.players[p]++
	h.open.Add(ctx, 1)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.taken--
		release(h.projects, project)
		release(h.players, p)
		h.open.Add(context.Background(), -1) //nolint:forbidigo // a stream must not keep its request's
	}
}

// release counts down, and forgets what has come to nothing.
func release[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}
