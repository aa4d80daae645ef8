package state

import "context"

// Flush empties the server, as a restart without its data does.
func (s *Store) Flush(ctx context.Context) error { return s.redis.FlushAll(ctx).Err() }
