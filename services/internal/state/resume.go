package state

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Origin tells a feed, and the server that has it, from all others. A Redis that was restarted, restored from a backup
// or replaced by a replica has another History; a feed that was begun anew has another Feed.
type Origin struct {
	Feed    string `json:"feed"`
	History string `json:"history"`
}

// Known is false where the server does not tell who it is. Then nothing shows that it has lost no changes.
func (o Origin) Known() bool { return o.Feed != "" && o.History != "" }

// Keeper is a Sink that may have the tickets that waited at an earlier position of the feed.
type Keeper interface {
	Sink
	// Resume is called after Reset, from the same goroutine, with the feed that is read. If the sink has the tickets of
	// exactly this one, it fills itself with those, of backfill tickets with none, and returns their position. Otherwise
	// it stays empty and returns 0.
	Resume(ctx context.Context, origin Origin) (position uint64)
}

// resume lets the sink fill itself, and reads what changed since then. It returns false if the sink has nothing. The
// error is errGap when the feed does not have all changes since then.
func (r *reader) resume(ctx context.Context) (bool, error) {
	keeper, ok := r.sink.(Keeper)
	if !ok {
		return false, nil
	}
	origin := Origin{Feed: r.name}
	var err error
	if origin.History, err = r.store.historyOf(ctx, r.k.feed()); err != nil {
		return false, err
	}
	position := keeper.Resume(ctx, origin)
	if position == 0 {
		return false, nil
	}
	name, reached, err := r.store.feedPosition(ctx, r.k)
	if err != nil {
		return false, err
	}
	if name != r.name || reached < position {
		return false, errGap
	}
	r.position = position
	// mistake missed: r.position = reached
	for r.position < reached {
		before := r.position
		if _, err := r.read(ctx); err != nil {
			return false, err
		}
		if r.position == before {
			return false, errGap // the feed does not have what it counted
		}
	}
	// The backfill tickets are read as in a snapshot: their hashes are newer than the entries before.
	return true, r.scan(ctx, r.k.backfills(), &backfillRows)
}

// historyOf is the replication id of the server that has a key: "" when it does not tell it.
func (s *Store) historyOf(ctx context.Context, key string) (string, error) {
	node, _, err := nodeOf(ctx, s.feeds, key)
	if err != nil {
		return "", err
	}
	text, err := node.Info(ctx, "replication").Result()
	if _, answered := errors.AsType[redis.Error](err); answered {
		return "", nil // not permitted, or not known to this server
	}
	return historyIn(text), err
}

// secretSize is the size of a secret in bytes.
const secretSize = 32

// KeepSecret stores a new random secret of a project under a name, for an age at most. What is encrypted with it cannot
// be read once the secret is gone.
func (s *Store) KeepSecret(ctx context.Context, project, name string, age time.Duration) ([]byte, error) {
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret) // it returns no error
	text := base64.RawStdEncoding.EncodeToString(secret)
	return secret, unavailable(s.feeds.Set(ctx, keysOf(project).secret(name), text, age).Err())
}

// TakeSecret returns a secret and deletes it: nil when there is none any more.
func (s *Store) TakeSecret(ctx context.Context, project, name string) ([]byte, error) {
	text, err := s.feeds.GetDel(ctx, keysOf(project).secret(name)).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	secret, err := base64.RawStdEncoding.DecodeString(text)
	if err == nil && len(secret) != secretSize {
		err = errors.New("it has another size")
	}
	if err != nil {
		return nil, corrupt("secret", err)
	}
	return secret, nil
}
