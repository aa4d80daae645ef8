package state

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// due lists up to limit members of a set ordered by time whose time has come, the oldest first.
func (s *Store) due(ctx context.Context, set string, latest int64, limit int) ([]string, error) {
	ids, err := s.redis.ZRangeArgs(ctx, redis.ZRangeArgs{
		Key: set, ByScore: true, Start: "-inf", Stop: strconv.FormatInt(latest, 10), Count: int64(limit),
	}).Result()
	return ids, unavailable(err)
}
