package state

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// hook sees all round trips of a store: before is called with the commands of each, and after with their replies.
type hook struct{ before, after func(cmds []redis.Cmder) }

func (h *hook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.before([]redis.Cmder{cmd})
		err := next(ctx, cmd)
		h.after([]redis.Cmder{cmd})
		return err
	}
}

func (h *hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.before(cmds)
		err := next(ctx, cmds)
		h.after(cmds)
		return err
	}
}

// OnTrips calls before ahead of each round trip, with the number of its scripts.
func (s *Store) OnTrips(before func(scripts int)) {
	s.redis.AddHook(&hook{before: func(cmds []redis.Cmder) {
		if name := cmds[0].Name(); name == "hello" || name == "select" {
			return // of a new connection
		}
		scripts := 0
		for _, cmd := range cmds {
			if cmd.Name() == "evalsha" {
				scripts++
			}
		}
		before(scripts)
	}, after: func([]redis.Cmder) {}})
}

// MangleRows makes replies to HMGET and MGET wrong while it is on, and counts them.
func (s *Store) MangleRows(on *atomic.Bool, mangled *atomic.Int64, mangle func(row []any) []any) {
	h := &hook{before: func([]redis.Cmder) {}, after: func(cmds []redis.Cmder) {
		for _, cmd := range cmds {
			if row, is := cmd.(*redis.SliceCmd); is && on.Load() && row.Err() == nil {
				row.SetVal(mangle(row.Val()))
				mangled.Add(1)
			}
		}
	}}
	s.redis.AddHook(h)
	s.feeds.AddHook(h)
}

// LoseReplies loses the reply to the second command of each round trip of several, while it is on.
func (s *Store) LoseReplies(on *atomic.Bool) {
	s.redis.AddHook(&hook{before: func([]redis.Cmder) {}, after: func(cmds []redis.Cmder) {
		if on.Load() && len(cmds) > 1 {
			cmds[1].SetErr(errors.New("the reply is lost"))
		}
	}})
}
