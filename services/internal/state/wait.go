package state

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// lookEvery is how often readers that wait are looked after, and looksAtOnce how many of them in a round trip.
const (
	lookEvery   = time.Second
	looksAtOnce = 500
)

// waits makes the readers of many feeds wait for entries over few connections. They are woken by what runs say
// of their feeds, and their positions are looked up for all of a server together.
type waits struct {
	store *Store
	every time.Duration // lookEvery; tests replace it

	mu      sync.Mutex
	servers map[string]*lookout

	closed   chan struct{}
	closeAll sync.Once
}

// close ends all lookouts.
func (w *waits) close() { w.closeAll.Do(func() { close(w.closed) }) }

// next waits until there may be entries, and reads some.
func (r *reader) next(ctx context.Context) error {
	if !r.more {
		if err := r.store.waits.look(ctx, r); err != nil {
			return err
		}
	}
	position := r.position
	var err error
	r.more, err = r.read(ctx)
	if err == nil && r.position == position {
		err = r.check(ctx) // the feed may be another one
	}
	return err
}

// lookout looks whether there is something for the readers of the feeds of one server, in a goroutine of its own while
// any waits.
type lookout struct {
	store *Store

	mu      sync.Mutex
	wait    map[*look]struct{}
	running bool
}

// look is a reader that waits, and what it knows of its feed.
type look struct {
	k         keys
	name      string
	position  uint64
	primaries int
	found     chan struct{} // closed when there may be something
}

// look returns when the reader was woken, or when its feed is not as the reader knows it.
func (w *waits) look(ctx context.Context, r *reader) error {
	_, server, err := nodeOf(ctx, r.store.feeds, r.k.feed())
	if err != nil {
		return err
	}
	if server != r.server { // it may lack what was read
		return errGap
	}
	w.mu.Lock()
	o := w.servers[server]
	if o == nil {
		o = &lookout{store: w.store, wait: map[*look]struct{}{}}
		w.servers[server] = o
	}
	w.mu.Unlock()

	l := &look{k: r.k, name: r.name, position: r.position, primaries: r.primaries, found: make(chan struct{})}
	o.add(ctx, l)
	defer o.remove(l)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-r.wake:
	case <-l.found:
	}
	return nil
}

func (o *lookout) add(ctx context.Context, l *look) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wait[l] = struct{}{}; !o.running {
		o.running = true
		go o.run(context.WithoutCancel(ctx)) // it works for others too
	}
}

func (o *lookout) remove(l *look) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.wait, l)
}

// run looks after the readers until none waits.
func (o *lookout) run(ctx context.Context) {
	tick := time.Tick(o.store.waits.every)
	for {
		select {
		case <-o.store.waits.closed:
			return
		case <-tick:
		}
		o.mu.Lock()
		all := slices.Collect(maps.Keys(o.wait))
		o.running = len(all) > 0
		o.mu.Unlock()
		if len(all) == 0 {
			return
		}
		for some := range slices.Chunk(all, looksAtOnce) {
			o.check(ctx, some)
		}
	}
}

// check wakes the readers for which there is something, be it an error.
func (o *lookout) check(ctx context.Context, some []*look) {
	replies := make([]*redis.SliceCmd, len(some))
	// Each command has its own error, which is read below.
	_, _ = o.store.feeds.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, l := range some {
			replies[i] = p.MGet(ctx, l.k.feedName(), l.k.feedSeq())
		}
		return nil
	})
	primaries := o.store.primary.changeCount()
	for i, l := range some {
		name, position, err := positionIn(replies[i])
		if err != nil || name != l.name || position != l.position || primaries != l.primaries {
			o.remove(l)
			close(l.found)
		}
	}
}
