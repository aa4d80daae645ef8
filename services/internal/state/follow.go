package state

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// reader reads the feed of a project into a sink, from one goroutine.
type reader struct {
	store *Store
	k     keys
	sink  Sink
	// name is the feed's name, server its server in the cluster, and primaries how many servers had been found at the
	// start: the reader starts again when one of these changes. checked is when the name was read.
	name      string
	server    string
	primaries int
	checked   time.Time

	position uint64
	complete bool            // the snapshot was read
	wake     <-chan struct{} // there may be entries
	more     bool            // there may be more than it had
	pace     pace
	changes  []Change
}

// follow reads a snapshot, and then every change until it meets an error.
func (s *Store) follow(ctx context.Context, project string, sink Sink, wake <-chan struct{}) error {
	r := &reader{store: s, k: keysOf(project), sink: sink, wake: wake, primaries: s.primary.changeCount()}
	var err error
	if _, r.server, err = nodeOf(ctx, s.feeds, r.k.feed()); err != nil {
		return err
	}
	if err := s.nameFeed(ctx, r.k); err != nil {
		return err
	}
	if r.name, r.position, err = s.feedPosition(ctx, r.k); err != nil {
		return err
	}
	r.checked = time.Now()
	sink.Reset()
	if err := r.snapshot(ctx); err != nil {
		return err
	}
	r.complete = true
	sink.Apply(nil, r.position)
	for {
		if err := r.next(ctx); err != nil {
			return err
		}
	}
}

// read gives the sink the changes of the next entries. It reports whether there may be more.
func (r *reader) read(ctx context.Context) (more bool, err error) {
	reply, err := r.ask(ctx)
	idle := errors.Is(err, redis.Nil)
	if err != nil && !idle {
		return false, err
	}
	if time.Since(r.checked) > checkEvery {
		if err := r.check(ctx); err != nil {
			return false, err
		}
	}
	var got entries
	if !idle {
		if got, err = decode(reply, r.changes[:0], r.position); err != nil {
			return false, err
		}
		if err := r.fill(ctx, &got); err != nil {
			return false, err
		}
	}
	if r.store.primary.changeCount() != r.primaries { // what was read may be of two servers
		return false, errGap
	}
	if idle {
		return false, nil
	}
	r.changes, r.position = got.changes, got.position
	r.give(r.changes)
	clear(r.changes) // the bodies are the sink's
	return r.pace.learn(got.count, got.largest) || got.cut, nil
}

// ask reads entries after the position. The error is redis.Nil when there are none.
func (r *reader) ask(ctx context.Context) (any, error) {
	xread := redis.NewCmd(ctx, "XREAD", "COUNT", r.pace.next(), "STREAMS", r.k.feed(),
		strconv.FormatUint(r.position, 10)+"-0")
	xread.SetFirstKeyPos(4) // a cluster's client finds the server by this key
	_ = r.store.feeds.Process(ctx, xread)
	return xread.Result()
}

// give gives the sink changes. While the snapshot is incomplete it gets no position, and no call without changes.
func (r *reader) give(changes []Change) {
	switch {
	case r.complete:
		r.sink.Apply(changes, r.position)
	case len(changes) > 0:
		r.sink.Apply(changes, 0)
	}
}

// check checks that the feed has the same name as at the reader's start, and that its position has not gone back.
// Either happens when Redis lost its data, or when a replica that lagged replaced it.
func (r *reader) check(ctx context.Context) error {
	name, position, err := r.store.feedPosition(ctx, r.k)
	// mistake rewound: name, position = r.name, r.position
	if err == nil && (name != r.name || position < r.position) {
		return errGap
	}
	r.checked = time.Now()
	return err
}

// replyBytes is the most bytes of entries that Redis is asked for in a round trip: it serves no other client while it
// writes a reply. With its framing a reply has 2 MiB at most. Entries that carry more than usual may exceed it once,
// until pace knows of them.
const replyBytes = 2<<20 - 200<<10

// Entries per read. That many of the largest entries fit into replyBytes, and a reader asks for more when entries are
// smaller.
const (
	firstEntries = 12
	mostEntries  = 1000
)

// pace is how many entries are asked for at once. Redis limits replies in entries, not in bytes.
type pace struct {
	count   int
	largest int // bytes of an entry; what was read long ago counts less
}

// next is how many entries to ask for. The first is read alone, since nothing is known of its size.
func (p *pace) next() int { return max(p.count, 1) }

// learn notes the size of a reply. It reports whether there may be more entries.
func (p *pace) learn(entries, largest int) (more bool) {
	more = entries >= p.next()
	p.largest = max(largest, p.largest-p.largest/16)
	// Twice as many as before: a reader that is up to date does not ask for a thousand.
	p.count = min(max(2*entries, firstEntries), mostEntries, max(replyBytes/max(p.largest, 1), 1))
	return more
}
