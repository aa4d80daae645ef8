package state

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/redis/go-redis/v9"
)

// How many round trips of shared commands are under way at once, and how many commands one of them has at the most: the
// replies to one batch are handed out while Redis works on the other, and nobody waits for a long one.
const (
	pipeDepth = 2
	pipeBatch = 128
)

// pipe sends what many callers ask for in few round trips: while some are under way, the commands that come are
// collected, and the next one takes all of them. A lone command goes at once. What most of a command costs, at both
// ends, is to send it and to wake up for its reply; together they cost about as much as one.
//
// Each command stands alone: it has its own reply and its own error, and others come between any two.
type pipe struct {
	redis redis.UniversalClient

	mu     sync.Mutex
	queue  []*sending
	flying int
}

// sending is a command on its way.
type sending struct {
	cmd  redis.Cmder
	done chan struct{}
}

// do returns when the command was answered, and what it failed with. When ctx ends first, the command may or may not
// have been done, and must not be looked at.
func (p *pipe) do(ctx context.Context, cmd redis.Cmder) error {
	own := &sending{cmd, make(chan struct{})}
	p.mu.Lock()
	p.queue = append(p.queue, own)
	first := p.flying < pipeDepth
	if first {
		p.flying++
	}
	p.mu.Unlock()
	if first {
		// Others' commands may be among them, which must not end with this caller.
		p.flush(context.WithoutCancel(ctx))
	}
	select {
	case <-own.done:
		return cmd.Err()
	default:
	}
	select {
	case <-own.done:
		return cmd.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// flush sends one batch. What has come meanwhile is sent besides: whoever sends goes on as soon as it has its reply.
func (p *pipe) flush(ctx context.Context) {
	batch := p.next()
	if len(batch) > 0 {
		p.send(ctx, batch)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.flying--
		return
	}
	go p.flush(ctx)
}

// next takes a batch out of the queue.
func (p *pipe) next() []*sending {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.queue), pipeBatch)
	batch := p.queue[:n:n]
	if p.queue = p.queue[n:]; len(p.queue) == 0 {
		p.queue = nil
	}
	return batch
}

func (p *pipe) send(ctx context.Context, batch []*sending) {
	if len(batch) == 1 {
		_ = p.redis.Process(ctx, batch[0].cmd)
	} else {
		_, _ = p.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, s := range batch {
				_ = pipe.Process(ctx, s.cmd)
			}
			return nil
		})
	}
	if err := batch[len(batch)-1].cmd.Err(); timedOut(err) {
		// A Redis that hangs is not waited for by one batch after the other: those who queued up behind this one have
		// waited for as long.
		p.mu.Lock()
		for _, s := range p.queue {
			s.cmd.SetErr(err)
			close(s.done)
		}
		p.queue = nil
		p.mu.Unlock()
	}
	for _, s := range batch {
		close(s.done)
	}
}

func timedOut(err error) bool {
	failure, ok := errors.AsType[net.Error](err)
	return ok && failure.Timeout()
}

// shared is the pipe that commands about a project go through. On a cluster each project has its own, since the
// node of another one may be away.
func (s *Store) shared(project string) *pipe {
	if _, ok := s.redis.(*redis.ClusterClient); !ok {
		project = ""
	}
	if p, ok := s.pipes.Load(project); ok {
		return p.(*pipe)
	}
	p, _ := s.pipes.LoadOrStore(project, &pipe{redis: s.redis})
	return p.(*pipe)
}

// runShared runs a script as run does, in a round trip that others share.
func (s *Store) runShared(ctx context.Context, project string, c call) (any, error) {
	cmd := c.script.EvalSha(ctx, s.redis.Pipeline(), c.keys, c.args...) // the pipeline itself is never sent
	err := s.shared(project).do(ctx, cmd)
	if isUnknown(err) {
		return s.run(ctx, c)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return cmd.Val(), nil
}

// readShared reads fields of a hash in a round trip that others share.
func (s *Store) readShared(ctx context.Context, project, key string, fields ...string) ([]any, error) {
	args := make([]any, 0, 8)
	args = append(args, "HMGET", key)
	for _, field := range fields {
		args = append(args, field)
	}
	cmd := redis.NewSliceCmd(ctx, args...)
	if err := s.shared(project).do(ctx, cmd); err != nil {
		return nil, unavailable(err)
	}
	return cmd.Val(), nil
}
