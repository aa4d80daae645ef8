package state

import (
	"context"
	"slices"
	"time"
)

// remover owns the lease of a project that is being deleted, for seizeHold: no longer than directors accept a lease,
// which is a minute and their own --lease.
const (
	remover   = "matchmaker project delete"
	seizeHold = 30 * time.Second
)

// removeBatch is how many keys are deleted at a time. Redis frees large ones in the background.
const removeBatch = 100

// WithdrawProject takes a project from its director, and off the list. Directors notice when they renew their leases.
func (s *Store) WithdrawProject(ctx context.Context, project string) error {
	if err := s.seizeLease(ctx, project); err != nil {
		return err
	}
	return unavailable(s.redis.SRem(ctx, global.projects(), project).Err())
}

func (s *Store) seizeLease(ctx context.Context, project string) error {
	return s.eval(ctx, s.call("director_lease", keysOf(project), ids{},
		"owner", remover,
		"duration", seizeHold.Milliseconds(),
		"seizes", "1"))
}

// RemoveProject deletes the state of a project that was withdrawn, in small steps, and its name. It may be repeated. It
// returns how many keys it deleted. If it deletes keys that RemoveProject had deleted before, another process still
// writes.
func (s *Store) RemoveProject(ctx context.Context, project string) (deleted int, err error) {
	k := keysOf(project)
	// Delete what is counted before its counters: a new project of the same name must not continue them.
	n, err := s.redis.Unlink(ctx, k.streamBytes(), k.results()).Result()
	if err != nil {
		return 0, unavailable(err)
	}
	deleted = int(n)
	seized := time.Time{}
	err = s.scanKeys(ctx, k, func(names []string) error {
		if now := s.measured.host(); now.Sub(seized).Abs() > seizeHold/3 {
			if err := s.seizeLease(ctx, project); err != nil {
				return err
			}
			seized = now
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == k.lease() })
		// mistake remnant: names = names[min(1, len(names)):]
		for batch := range slices.Chunk(names, removeBatch) {
			n, err := s.redis.Unlink(ctx, batch...).Result()
			if err != nil {
				return unavailable(err)
			}
			deleted += int(n)
		}
		return nil
	})
	if err != nil {
		return deleted, err
	}
	if err := s.redis.SRem(ctx, global.projects(), project).Err(); err != nil {
		return deleted, unavailable(err)
	}
	return deleted, unavailable(s.redis.Unlink(ctx, k.lease()).Err())
}

// scanKeys calls take with all keys of a project, some at a time.
func (s *Store) scanKeys(ctx context.Context, k keys, take func(names []string) error) error {
	node, _, err := nodeOf(ctx, s.redis, k.lease())
	if err != nil {
		return unavailable(err)
	}
	return scan(ctx, node, string(k)+"*", take)
}
