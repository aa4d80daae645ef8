package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Schema is the version of what is stored. A change raises it when another version of the service would read or write
// something wrong beside it: there is no way back to the older version. Any other change leaves it. Redis has no schema
// until a director was there.
const Schema = "v2"

// SchemaError says that another version of the service wrote the state.
type SchemaError struct{ stored string }

func (e *SchemaError) Error() string {
	return fmt.Sprintf("redis: the state has the schema %.80q, and this version of the service reads %q alone: run the "+
		"version that wrote it, or use an empty Redis", e.stored, Schema)
}

// CheckSchema returns a *SchemaError when another version of the service wrote the state. Otherwise, if it is to write
// this version's schema, other versions do not start any more. A process with a director writes it: only the director's
// account may, since a schema keeps other versions from starting. Errors: Unavailable when Redis does not answer.
func (s *Store) CheckSchema(ctx context.Context, note bool) error {
	stored, err := s.redis.Get(ctx, global.schema()).Result()
	switch {
	case errors.Is(err, redis.Nil):
	case err != nil:
		return s.unreachable(err)
	case stored != Schema:
		return &SchemaError{stored}
	default:
		return nil
	}
	if !note {
		return nil
	}
	if err := s.redis.Set(ctx, global.schema(), Schema, 0).Err(); err != nil && !isFull(err) {
		return s.unreachable(err)
	}
	return nil // one that starts later notes it when Redis is full
}
