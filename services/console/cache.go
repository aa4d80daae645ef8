package console

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/memo"
)

// cache keeps answers of the API for a moment. Those with the same token share them.
type cache = memo.Memo[cacheKey, answer]

type cacheKey struct {
	token [sha256.Size]byte
	what  string
}

type answer struct {
	value any
	err   error
}

// remember reads something, or gives what was read a moment ago with the same token.
func remember[T any](ctx context.Context, v *view, what string, age time.Duration,
	read func(*client.Client, context.Context) (T, error)) (T, error) {
	key := cacheKey{sha256.Sum256([]byte(v.viewer.Project + "\x00" + v.viewer.Token)), what}
	got, _ := v.cache.Get(key, v.Now, func() (answer, time.Time, error) {
		value, err := read(v.API, ctx)
		return answer{value, err}, v.Now().Add(age), ctx.Err() // a viewer that went away spoils nothing for others
	})
	value, _ := got.value.(T)
	return value, got.err
}

// recall is remember for a call that asks for something.
func recall[Q, T any](ctx context.Context, v *view, what string, age time.Duration, q Q,
	read func(*client.Client, context.Context, Q) (T, error)) (T, error) {
	return remember(ctx, v, fmt.Sprintf("%s %#v", what, q), age,
		func(api *client.Client, ctx context.Context) (T, error) { return read(api, ctx, q) })
}
