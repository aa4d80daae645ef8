package state

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync"

	"github.com/redis/go-redis/v9"
)

// pipeDepth is how many round trips of shared commands are under way at once: Redis works on one batch while the
// replies to the other are handed out. pipeBatch is the most commands of a batch: no caller waits for a long one.
const (
	pipeDepth = 2
	pipeBatch = 128
)

// pipe sends the commands of many callers in few round trips. While some are under way, it collects the commands that
// arrive, and the next round trip takes all of them. A lone command is sent at once. Most of a command's cost, at both
// ends, is to send it and to wake up for its reply. A batch costs about as much as one command.
//
// A batch is no transaction: each command has its own reply and its own error, and other clients' commands may run
// between two of them.
type pipe struct {
	redis redis.UniversalClient

	mu    sync.Mutex
	queue []*request
	trips int
}

// request is a command that waits for its reply.
type request struct {
	cmd  redis.Cmder
	done chan struct{}
}

// do runs commands and returns the first error. When ctx ends first, the commands may or may not have run, and their
// replies must not be read.
func (p *pipe) do(ctx context.Context, cmds ...redis.Cmder) error {
	own := make([]*request, len(cmds))
	for i, cmd := range cmds {
		own[i] = &request{cmd, make(chan struct{})}
	}
	p.mu.Lock()
	p.queue = append(p.queue, own...)
	first := p.trips < pipeDepth
	if first {
		p.trips++
	}
	p.mu.Unlock()
	if first {
		// The batch may have other callers' commands, which must not end with this caller.
		p.flush(context.WithoutCancel(ctx))
	}
	var err error
	for _, r := range own {
		select {
		case <-r.done:
		default:
			select {
			case <-r.done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		err = cmp.Or(err, r.cmd.Err())
	}
	return err
}

// flush sends one batch. Another goroutine sends what arrived meanwhile, so that this caller returns as soon as it has
// its reply.
func (p *pipe) flush(ctx context.Context) {
	batch := p.next()
	if len(batch) > 0 {
		p.send(ctx, batch)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.trips--
		return
	}
	go p.flush(ctx)
}

// next takes a batch out of the queue.
func (p *pipe) next() []*request {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.queue), pipeBatch)
	batch := p.queue[:n:n]
	if p.queue = p.queue[n:]; len(p.queue) == 0 {
		p.queue = nil
	}
	return batch
}

func (p *pipe) send(ctx context.Context, batch []*request) {
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
		// When Redis hangs, the commands in the queue have waited as long as this batch. They fail now, so that batches do
		// not wait one after the other.
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

// shared returns the pipe for the commands of a project. On a cluster each project has its own pipe, since the node of
// another project may be down.
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

// runShared runs a script as run does, in a round trip shared with other callers.
func (s *Store) runShared(ctx context.Context, project string, c call) (any, error) {
	args := append(make([]any, 0, 3+len(c.keys)+len(c.args)), "evalsha", c.script.Hash(), len(c.keys))
	for i := range c.keys {
		args = append(args, &c.keys[i]) // a pointer is no allocation
	}
	cmd := redis.NewCmd(ctx, append(args, c.args...)...)
	err := s.shared(project).do(ctx, cmd)
	if isUnknown(err) {
		return s.run(ctx, c)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return cmd.Val(), nil
}

// readShared reads fields of a hash in a round trip shared with other callers.
func (s *Store) readShared(ctx context.Context, project, key string, fields ...string) ([]any, error) {
	cmd := hmget(ctx, key, fields...)
	if err := s.shared(project).do(ctx, cmd); err != nil {
		return nil, unavailable(err)
	}
	return rowOf(cmd)
}

// hmget is a command that reads fields of a hash.
func hmget(ctx context.Context, key string, fields ...string) *redis.SliceCmd {
	args := make([]any, 0, 2+len(fields))
	args = append(args, "HMGET", key)
	for _, field := range fields {
		args = append(args, field)
	}
	return redis.NewSliceCmd(ctx, args...)
}
