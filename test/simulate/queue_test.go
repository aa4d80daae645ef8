package simulate

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// ackWait is how long a match stays with an allocator that does not live, and window for how long a group of matches
// that is sent twice is stored once.
const (
	ackWait = 3 * time.Second
	window  = 2 * time.Minute
)

// queue is the work queue of a hub, whose mutex guards it.
type queue struct {
	hub       *hub
	sent      map[string]time.Time
	consumers []*consumer
}

// consumer is an allocator.
type consumer struct {
	process *process
	ctx     context.Context
	places  *semaphore.Weighted
	handle  bus.MatchHandler
}

// item is a match in the queue, with its content, which is empty if it came without.
type item struct {
	project, match string
	bodies         [][]byte
	attempt        int
	acked          bool
	// with works on it; nil when none does.
	with *process
}

// EnqueueMatches puts matches into the queue.
func (p port) EnqueueMatches(
	ctx context.Context, project string, contents map[string]*pb.Match, groups ...[]string,
) (sent []string, err error) {
	ids := slices.Concat(groups...)
	label := "enqueue " + project
	for _, id := range ids[:min(3, len(ids))] {
		label += " " + id
	}
	err = p.gate.call(ctx, p.process, label, append(calls, repeat), func() error {
		for _, group := range groups {
			p.queue.put(project, contents, group)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// put stores a group of matches, which have one name.
func (q *queue) put(project string, contents map[string]*pb.Match, group []string) {
	q.hub.mu.Lock()
	defer q.hub.mu.Unlock()
	name := project + "/" + strings.Join(group, " ")
	if at, is := q.sent[name]; is && time.Since(at) < window {
		return
	}
	q.sent[name] = time.Now()
	for _, id := range group {
		body, err := proto.Marshal(contents[id])
		if err != nil {
			panic(err)
		}
		q.offer(&item{project: project, match: id, bodies: [][]byte{body}}, 0)
	}
}

// offer delivers a match after a while.
func (q *queue) offer(i *item, after time.Duration) {
	q.hub.gate.add(&step{
		label: "match " + i.project + " " + i.match, due: time.Now().Add(after), faults: deliveries,
		do: func(f fault) { q.deliver(i, f) },
	})
}

// deliver gives a match to an allocator that has a place for it.
func (q *queue) deliver(i *item, f fault) {
	q.hub.mu.Lock()
	defer q.hub.mu.Unlock()
	if i.acked {
		return
	}
	free := slices.DeleteFunc(slices.Clone(q.consumers), func(c *consumer) bool {
		return c.process.dead() || c.ctx.Err() != nil
	})
	if len(free) == 0 {
		q.offer(i, 200*time.Millisecond)
		return
	}
	i.attempt++
	times := 1
	if f == repeat {
		times = 2 // as after an acknowledgement that came too late
	}
	for range times {
		c := free[q.hub.gate.pick(len(free))]
		if !c.places.TryAcquire(1) {
			continue
		}
		i.with = c.process
		if f == lose {
			c.places.Release(1)
			i.with = nil
			break
		}
		go q.work(c, i)
	}
	q.watch(i, i.attempt)
}

// work lets an allocator work on a match.
func (q *queue) work(c *consumer, i *item) {
	defer c.places.Release(1)
	err := c.handle(c.ctx, &pb.MatchWork{Project: i.project, Match: i.match, Bodies: i.bodies}, i.attempt)
	if c.process.dead() {
		return
	}
	q.hub.gate.add(&step{
		from: c.process, label: "ack " + i.project + " " + i.match, faults: []fault{lose, late},
		do: func(f fault) {
			q.hub.mu.Lock()
			defer q.hub.mu.Unlock()
			i.with = nil
			if f == lose || i.acked {
				return
			}
			if err == nil {
				i.acked = true
				return
			}
			q.offer(i, delays[1+q.hub.gate.pick(len(delays)-1)])
		},
	})
}

// watch delivers a match again when no allocator gave a sign of life for it.
func (q *queue) watch(i *item, attempt int) {
	q.hub.gate.add(&step{
		label: "watch " + i.project + " " + i.match, due: time.Now().Add(ackWait),
		do: func(fault) {
			q.hub.mu.Lock()
			defer q.hub.mu.Unlock()
			switch {
			case i.acked || i.attempt != attempt:
			case i.with != nil && !i.with.dead() && !i.with.frozen && q.hub.gate.pick(8) > 0:
				q.watch(i, attempt)
			default: // or the signs of life were lost
				q.offer(i, 0)
			}
		},
	})
}

// ConsumeMatches takes matches out of the queue until ctx ends.
func (p port) ConsumeMatches(ctx context.Context, parallel int, handle bus.MatchHandler) error {
	c := &consumer{process: p.process, ctx: ctx, places: semaphore.NewWeighted(int64(parallel)), handle: handle}
	p.mu.Lock()
	p.queue.consumers = append(p.queue.consumers, c)
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()
	p.queue.consumers = slices.DeleteFunc(p.queue.consumers, func(other *consumer) bool { return other == c })
	p.mu.Unlock()
	return c.places.Acquire(context.WithoutCancel(ctx), int64(parallel))
}
