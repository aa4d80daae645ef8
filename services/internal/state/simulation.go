package state

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/edge/problem"
)

// simulationTime is for how long a simulation is kept after it was read last while it ran.
const simulationTime = time.Hour

// PutSimulation stores how far a simulation is, and returns how long ago it was read last.
func (s *Store) PutSimulation(ctx context.Context, project, id string, body []byte) (unread time.Duration, err error) {
	key := keysOf(project).simulation(id)
	left, err := s.redis.PTTL(ctx, key).Result()
	if err != nil {
		return 0, unavailable(err)
	}
	if left <= 0 { // it is new
		left = simulationTime
	}
	return simulationTime - left, unavailable(s.redis.Set(ctx, key, body, left).Err())
}

// Simulation reads a simulation. Errors: NotFound when it is not kept.
func (s *Store) Simulation(ctx context.Context, project, id string) ([]byte, error) {
	key := keysOf(project).simulation(id)
	body, err := s.redis.Get(ctx, key).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, problem.New(problem.NotFound, "there is no simulation %.64q: it is kept for an hour after it ended",
			id)
	}
	return body, unavailable(err)
}

// KeepSimulation notes that a simulation was read.
func (s *Store) KeepSimulation(ctx context.Context, project, id string) error {
	return unavailable(s.redis.PExpire(ctx, keysOf(project).simulation(id), simulationTime).Err())
}
