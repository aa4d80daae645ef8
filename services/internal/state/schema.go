package state

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Schema is the version of what is stored. A change raises it when an older version of the service would read or write
// something wrong beside it: after that nobody can go back. Any other change leaves it. State without a version is of
// schema 0, which this version reads.
const Schema = 1

// SchemaError says that a newer version of the service wrote the state.
type SchemaError struct{ stored string }

func (e *SchemaError) Error() string {
	return fmt.Sprintf("redis: the state has the schema %s, and this version of the service knows those up to %d: run "+
		"the version that wrote it, or a newer one", e.stored, Schema)
}

// CheckSchema returns a *SchemaError when a newer version of the service wrote the state. Otherwise, if it is to note
// this version's schema, older ones do not start any more. A process with a director does: of accounts, the director's
// alone may, since what it notes keeps all services from starting. Errors: Unavailable when Redis does not answer.
func (s *Store) CheckSchema(ctx context.Context, note bool) error {
	text, err := s.redis.Get(ctx, global.schema()).Result()
	if errors.Is(err, redis.Nil) {
		text, err = "0", nil
	}
	if err != nil {
		return s.unreachable(err)
	}
	stored, err := strconv.Atoi(text)
	if err != nil || stored > Schema {
		return &SchemaError{text}
	}
	if stored == Schema || !note {
		return nil
	}
	if err := s.redis.Set(ctx, global.schema(), Schema, 0).Err(); err != nil && !isFull(err) {
		return s.unreachable(err)
	}
	return nil // one that starts later notes it when Redis is full
}
