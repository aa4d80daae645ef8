package stream

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/services/internal/platform/quota"
)

// Places limits how many streams, or held requests, of one kind this process has open: of a project by its fair share
// of all, and of a player.
type Places struct {
	perPlayer int
	projects  *quota.Shares[string]
	open      metric.Int64UpDownCounter
	refused   metric.Int64Counter

	mu      sync.Mutex
	players map[player]int
}

// player is one of a project.
type player struct{ project, name string }

// NewPlaces makes places that are counted by instruments.
func NewPlaces(all, perPlayer int, open metric.Int64UpDownCounter, refused metric.Int64Counter) *Places {
	return &Places{perPlayer: perPlayer, projects: quota.NewShares[string](int64(all)), players: map[player]int{},
		open: open, refused: refused}
}

// Take takes a place for a request of a player, "" for a game service that asks for many. leave gives it back; it is
// nil when there is no place.
func (h *Places) Take(ctx context.Context, project, name string) (leave func()) {
	p := player{project, name}
	h.mu.Lock()
	defer h.mu.Unlock()
	if name != "" && h.players[p] >= h.perPlayer || !h.projects.Take(project, 1) {
		h.refused.Add(ctx, 1)
		return nil
	}
	h.players[p]++
	h.open.Add(ctx, 1)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.projects.Give(project, 1)
		if h.players[p]--; h.players[p] == 0 {
			delete(h.players, p)
		}
		h.open.Add(context.Background(), -1) //nolint:forbidigo // a stream must not keep its request's
	}
}
