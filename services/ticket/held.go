package ticket

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/services/internal/telemetry"
)

// held limits how many requests this process holds open, in all, of a project and of a player. What is beyond a limit
// is not refused: it is answered at once, as if it had not asked to wait. The other limits count it like any other.
//
// A project may hold as many as there are free places left in all. So one project takes half of the places at most, and
// n of them leave a share of 1/(n+1) to the others.
type held struct {
	places, perPlayer int
	open              metric.Int64UpDownCounter
	refused           metric.Int64Counter

	mu       sync.Mutex
	all      int
	projects map[string]int
	players  map[player]int
}

// player is one of a project.
type player struct{ project, name string }

func newHeld(places, perPlayer int, m telemetry.Meter) *held {
	return newPlaces(places, perPlayer,
		m.UpDownCounter("matchmaker.requests.held", "{request}",
			"Requests that this process holds open until a ticket has a result."),
		m.Counter("matchmaker.requests.unheld", "{request}",
			"Requests that asked to wait and were answered at once, because too many are held open."))
}

// newPlaces makes places that are counted by instruments.
func newPlaces(places, perPlayer int, open metric.Int64UpDownCounter, refused metric.Int64Counter) *held {
	return &held{places: places, perPlayer: perPlayer, projects: map[string]int{}, players: map[player]int{}, open: open,
		refused: refused}
}

// take takes a place for a request of a player, "" for a game service that asks for many. leave gives it back; it is
// nil when there is no place.
func (h *held) take(ctx context.Context, project, name string) (leave func()) {
	p := player{project, name}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.projects[project] >= h.places-h.all || name != "" && h.players[p] >= h.perPlayer {
		h.refused.Add(ctx, 1)
		return nil
	}
	h.all++
	h.projects[project]++
	h.players[p]++
	h.open.Add(ctx, 1)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all--
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
