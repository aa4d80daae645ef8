package quota

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// halfLife is how fast usage is forgotten. It is long against one turn, so an owner that fills a queue stays behind the
// others while its next request is on its way.
const halfLife = 10 * time.Minute

// ErrBusy is the error of Enter when too many wait already.
var ErrBusy = errors.New("quota: too many wait")

// Options are what a [Queue] is made of.
type Options struct {
	Places  int // turns at a time
	Each    int // turns of an owner at a time; 0 for no limit
	Waiting int // turns that may wait, of which an owner has a fair share; 0 for no limit
	Now     func() time.Time
	// Usage is shared by queues whose turns count together; a new one when nil.
	Usage *Usage
}

// Queue gives its places to the owner that used least lately, and then to the turn that came first. It is safe for
// concurrent use.
type Queue struct {
	Options
	room *Shares[string] // of those that wait; nil for no limit

	mu      sync.Mutex
	taken   int
	held    map[string]int
	waiting []*Turn
}

// Turn is a place in a queue, until Leave.
type Turn struct {
	queue   *Queue
	owner   string
	granted chan struct{}
	since   time.Time // when it was granted
}

// NewQueue makes a Queue.
func NewQueue(o Options) *Queue {
	o.Usage = cmp.Or(o.Usage, &Usage{})
	q := &Queue{Options: o, held: map[string]int{}}
	if o.Waiting > 0 {
		q.room = NewShares[string](int64(o.Waiting))
	}
	return q
}

// Enter waits for a turn of an owner, until ctx ends. The error is ErrBusy, or the error of ctx.
func (q *Queue) Enter(ctx context.Context, owner string) (*Turn, error) {
	if q.room != nil {
		if !q.room.Take(owner, 1) {
			return nil, ErrBusy
		}
		defer q.room.Give(owner, 1)
	}
	t := &Turn{queue: q, owner: owner, granted: make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, t)
	q.grant()
	q.mu.Unlock()
	select {
	case <-t.granted:
		return t, nil
	case <-ctx.Done():
		t.abandon()
		return nil, ctx.Err()
	}
}

// grant gives free places to the next turns. The caller has the lock.
func (q *Queue) grant() {
	now := q.Now()
	for q.taken < q.Places {
		var next *Turn
		var least time.Duration
		for _, t := range q.waiting {
			if q.Each > 0 && q.held[t.owner] >= q.Each {
				continue
			}
			if used := q.Usage.Of(t.owner, now); next == nil || used < least {
				next, least = t, used
			}
		}
		if next == nil {
			return
		}
		q.remove(next)
		q.taken++
		q.held[next.owner]++
		q.Usage.begin(next.owner, now)
		next.since = now
		close(next.granted)
	}
}

func (q *Queue) remove(t *Turn) {
	q.waiting = slices.DeleteFunc(q.waiting, func(other *Turn) bool { return other == t })
}

// abandon ends a turn that may wait still.
func (t *Turn) abandon() {
	t.queue.mu.Lock()
	t.queue.remove(t)
	granted := !t.since.IsZero()
	t.queue.mu.Unlock()
	if granted {
		t.Leave(0)
	}
}

// Leave gives the place back. The owner is charged what it spent, or the time that it held the place if that is more.
func (t *Turn) Leave(spent time.Duration) {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.Now()
	q.Usage.end(t.owner, t.since, max(spent, now.Sub(t.since)), now)
	q.taken--
	if q.held[t.owner]--; q.held[t.owner] == 0 {
		delete(q.held, t.owner)
	}
	q.grant()
}

// Open calls each with how many turns of an owner have a place, and how many wait.
func (q *Queue) Open(each func(owner string, held, waiting int)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := map[string]int{}
	for _, t := range q.waiting {
		waiting[t.owner]++
	}
	for owner, held := range q.held {
		each(owner, held, waiting[owner])
		delete(waiting, owner)
	}
	for owner, n := range waiting {
		each(owner, 0, n)
	}
}

// Len returns how many turns wait.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
