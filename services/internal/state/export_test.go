package state

import "context"

// Flush empties the server, as a restart without its data does.
func (s *Store) Flush(ctx context.Context) error { return s.redis.FlushAll(ctx).Err() }

// Players is how many buckets of players are stored.
func (s *Store) Players(ctx context.Context, project string) (int64, error) {
	players := keysOf(project).players()
	one, err := s.redis.HLen(ctx, players[0]).Result()
	if err != nil {
		return 0, err
	}
	two, err := s.redis.HLen(ctx, players[1]).Result()
	return one + two, err
}

// Forget makes the server forget all scripts, as a restart does.
func (s *Store) Forget(ctx context.Context) error { return s.redis.ScriptFlush(ctx).Err() }

// Usage is what the server says of the processor time that it used.
func (s *Store) Usage(ctx context.Context) (string, error) {
	return s.redis.Info(ctx, "cpu").Result()
}
