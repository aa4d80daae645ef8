package state

import (
	"context"
	_ "embed"
	"strings"

	"github.com/redis/go-redis/v9"
)

// prelude comes before every script that changes tickets or matches.
//
//go:embed script/prelude.lua
var prelude string

// rates comes before every script that limits rates.
//
//go:embed script/rate.lua
var rates string

//go:embed script/allow.lua
var allowSource string

//go:embed script/create.lua
var createSource string

//go:embed script/delete.lua
var deleteSource string

//go:embed script/claim.lua
var claimSource string

//go:embed script/begin.lua
var beginSource string

//go:embed script/assign.lua
var assignSource string

//go:embed script/hold.lua
var holdSource string

//go:embed script/lend.lua
var lendSource string

//go:embed script/returned.lua
var returnedSource string

//go:embed script/server.lua
var serverSource string

//go:embed script/release.lua
var releaseSource string

//go:embed script/expire.lua
var expireSource string

//go:embed script/tell.lua
var tellSource string

//go:embed script/beat.lua
var beatSource string

//go:embed script/expire_read.lua
var expireReadSource string

//go:embed script/lease.lua
var leaseSource string

//go:embed script/config_put.lua
var configPutSource string

//go:embed script/config_delete.lua
var configDeleteSource string

//go:embed script/function_put.lua
var functionPutSource string

// backfills comes before every script that changes backfill tickets.
//
//go:embed script/backfill.lua
var backfills string

//go:embed script/backfill_create.lua
var backfillCreateSource string

//go:embed script/backfill_replace.lua
var backfillReplaceSource string

//go:embed script/backfill_approve.lua
var backfillApproveSource string

//go:embed script/backfill_delete.lua
var backfillDeleteSource string

//go:embed script/backfill_lapse.lua
var backfillLapseSource string

//go:embed script/backfill_propose.lua
var backfillProposeSource string

//go:embed script/backfill_open.lua
var backfillOpenSource string

//go:embed script/backfill_fill.lua
var backfillFillSource string

var (
	createScript       = newScript(prelude + rates + createSource)
	allowScript        = newScript(rates + allowSource)
	deleteScript       = newScript(prelude + deleteSource)
	claimScript        = newScript(prelude + claimSource)
	beginScript        = newScript(prelude + backfills + beginSource)
	assignScript       = newScript(prelude + backfills + assignSource)
	releaseScript      = newScript(prelude + backfills + releaseSource)
	expireScript       = newScript(prelude + expireSource)
	holdScript         = newScript(holdSource)
	lendScript         = newScript(lendSource)
	returnedScript     = newScript(prelude + returnedSource)
	serverScript       = newScript(serverSource)
	expireReadScript   = newScript(prelude + expireReadSource)
	tellScript         = newScript(prelude + tellSource)
	beatScript         = newScript(beatSource)
	leaseScript        = newScript(leaseSource)
	configPutScript    = newScript(configPutSource)
	configDeleteScript = newScript(configDeleteSource)
	functionPutScript  = newScript(functionPutSource)

	backfillCreateScript  = newScript(prelude + backfills + backfillCreateSource)
	backfillReplaceScript = newScript(prelude + backfills + backfillReplaceSource)
	backfillApproveScript = newScript(prelude + rates + backfills + backfillApproveSource)
	backfillDeleteScript  = newScript(prelude + backfills + backfillDeleteSource)
	backfillLapseScript   = newScript(prelude + backfills + backfillLapseSource)
	backfillProposeScript = newScript(prelude + backfills + backfillProposeSource)
	backfillOpenScript    = newScript(prelude + backfills + backfillOpenSource)
	backfillFillScript    = newScript(prelude + backfillFillSource)
)

// script is one that knows its text.
type script struct {
	*redis.Script
	text string
}

func newScript(text string) *script { return &script{redis.NewScript(text), text} }

// run runs a script by its hash, and by its text where Redis does not know it yet.
func (s *Store) run(ctx context.Context, script *script, keys []string, args ...any) (any, error) {
	reply, err := script.Run(ctx, s.redis, keys, args...).Result()
	return reply, unavailable(err)
}

// call is one script call.
type call struct {
	keys []string
	args []any
}

// change begins the call of a script that has the prelude.
func (s *Store) change(k keys, more ...string) call {
	return call{
		keys: append([]string{k.seq(), k.feed(), k.told(), k.history()}, more...),
		args: []any{s.feed, s.history},
	}
}

// runAll runs one script for every call, in one round trip and in order where Redis knows the script.
func (s *Store) runAll(ctx context.Context, script *script, calls []call) ([]any, error) {
	if len(calls) == 1 {
		reply, err := s.run(ctx, script, calls[0].keys, calls[0].args...)
		return []any{reply}, err
	}
	cmds := make([]*redis.Cmd, len(calls))
	// Each command has its own error, which is read below.
	_, _ = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, c := range calls {
			cmds[i] = script.EvalSha(ctx, p, c.keys, c.args...)
		}
		return nil
	})
	replies := make([]any, len(calls))
	for i, cmd := range cmds {
		reply, err := cmd.Result()
		if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
			reply, err = script.Run(ctx, s.redis, calls[i].keys, calls[i].args...).Result()
		}
		if err != nil {
			return replies[:i], unavailable(err)
		}
		replies[i] = reply
	}
	return replies, nil
}
