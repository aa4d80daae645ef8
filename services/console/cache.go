package console

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
)

// maxCached bounds the answers that are kept, and the pages that are made of them.
const maxCached = 256

// cache keeps answers of the API for a moment. Those with the same token share them.
type cache struct {
	mu  sync.Mutex
	all map[cacheKey]*cached
}

type cacheKey struct {
	token [sha256.Size]byte
	what  string
}

type cached struct {
	mu    sync.Mutex
	until time.Time
	value any
	err   error
}

func (c *cache) of(key cacheKey, now time.Time) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.all[key]
	if one == nil {
		maps.DeleteFunc(c.all, func(_ cacheKey, old *cached) bool {
			if !old.mu.TryLock() { // it is being read
				return false
			}
			defer old.mu.Unlock()
			return now.After(old.until)
		})
		if c.all == nil || len(c.all) >= maxCached {
			c.all = map[cacheKey]*cached{}
		}
		one = new(cached)
		c.all[key] = one
	}
	return one
}

// remember reads something, or gives what was read a moment ago with the same token.
func remember[T any](ctx context.Context, v *view, what string, age time.Duration,
	read func(*client.Client, context.Context) (T, error)) (T, error) {
	one := v.cache.of(cacheKey{sha256.Sum256([]byte(v.viewer.Project + "\x00" + v.viewer.Token)), what}, v.Now())
	one.mu.Lock()
	defer one.mu.Unlock()
	if v.Now().After(one.until) {
		value, err := read(v.API, ctx)
		if ctx.Err() == nil { // a viewer that went away spoils nothing for others
			one.value, one.err, one.until = value, err, v.Now().Add(age)
		}
		return value, err
	}
	value, _ := one.value.(T)
	return value, one.err
}

// recall is remember for a call that asks for something.
func recall[Q, T any](ctx context.Context, v *view, what string, age time.Duration, q Q,
	read func(*client.Client, context.Context, Q) (T, error)) (T, error) {
	return remember(ctx, v, fmt.Sprintf("%s %#v", what, q), age,
		func(api *client.Client, ctx context.Context) (T, error) { return read(api, ctx, q) })
}
