package state

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/platform/wait"
)

// How often a command follows a cluster's MOVED, and the pause before another try. While a slot changes hands, both
// servers name the other one for some milliseconds.
const (
	maxMoves  = 20
	movePause = 10 * time.Millisecond
)

// redirect sends commands of a cluster again that were answered MOVED: their server has not carried them out. The
// client itself would also send commands again whose answer was lost, which may have been carried out. It does not
// follow ASK: a script runs only where all its keys are.
//
// When a server does not answer, it has the client ask where the slots are now. The client itself would do so once a
// minute only.
type redirect struct {
	// reload makes the client read the places of slots again, soon.
	reload func(context.Context)
	// servers are the clients of the cluster's servers, by address.
	servers sync.Map
}

// add adds the client of a server.
func (r *redirect) add(addr string, server *redis.Client) { r.servers.Store(addr, server) }

// DialHook is part of redis.Hook.
func (r *redirect) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook is part of redis.Hook.
func (r *redirect) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if isUnanswered(err) {
			r.reload(ctx)
		}
		if _, moved := movedTo(err); moved {
			return r.follow(ctx, cmd, err, next)
		}
		return err
	}
}

// ProcessPipelineHook is part of redis.Hook.
func (r *redirect) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if isUnanswered(err) || slices.ContainsFunc(cmds, func(c redis.Cmder) bool { return isUnanswered(c.Err()) }) {
			r.reload(ctx)
		}
		for _, cmd := range cmds {
			if _, moved := movedTo(cmd.Err()); moved {
				_ = r.follow(ctx, cmd, cmd.Err(), nil) // the command has its error
			}
		}
		if _, moved := movedTo(err); !moved {
			return err
		}
		for _, cmd := range cmds {
			if cmd.Err() != nil {
				return cmd.Err()
			}
		}
		return nil
	}
}

// follow sends a command that was answered MOVED to where its slot is now, and returns its error. A server that is not
// known yet is found by elsewhere, after the client has read the new places.
func (r *redirect) follow(ctx context.Context, cmd redis.Cmder, err error, elsewhere redis.ProcessHook) error {
	for range maxMoves {
		addr, moved := movedTo(err)
		if !moved {
			break
		}
		server, known := r.servers.Load(addr)
		switch {
		case known:
			err = server.(*redis.Client).Process(ctx, cmd) //nolint:forcetypeassert // nothing else is in the map
		case elsewhere != nil:
			err = elsewhere(ctx, cmd)
		}
		if _, again := movedTo(err); !again {
			break
		}
		if wait.For(ctx, movePause) != nil {
			return err
		}
	}
	cmd.SetErr(err)
	return err
}

// isUnanswered reports whether no server answered, not even with an error, though the caller waited.
func isUnanswered(err error) bool {
	_, answered := errors.AsType[redis.Error](err)
	return err != nil && !answered && !errors.Is(err, context.Canceled)
}

// movedTo is the address in an answer "MOVED slot address".
func movedTo(err error) (addr string, moved bool) {
	if err == nil {
		return "", false
	}
	words := strings.Fields(err.Error())
	if len(words) != 3 || words[0] != "MOVED" {
		return "", false
	}
	return words[2], true
}

// isMoving reports whether a cluster refused a command because it moves a slot key by key, or no server has the slot
// yet.
func isMoving(err error) bool {
	word, _, _ := strings.Cut(err.Error(), " ")
	return slices.Contains([]string{"ASK", "TRYAGAIN", "MOVED", "CLUSTERDOWN"}, word)
}
