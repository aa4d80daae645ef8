package bus

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Names of the streams and of the object store.
const (
	matchStream = "MM_MATCHES"
	logStream   = "MM_LOGS"
	eventStream = "MM_EVENTS"
	moduleStore = "MM_MODULES"
)

// Prepare makes sure that the streams exist, trying until they do or ctx ends.
// Any process may do it, at any time, in any order.
func (b *Bus) Prepare(ctx context.Context) error {
	for said := false; ; said = true {
		err := b.prepare(ctx)
		if err == nil {
			b.prepared.Store(true)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !said {
			b.log.WarnContext(ctx, "waiting for the message bus", "error", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// restore makes sure in the background that the streams still exist: a server may have come back without what it had. What was in
// the work queue is found out by the claim deadlines.
func (b *Bus) restore() {
	if !b.prepared.Load() || !b.restoring.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer b.restoring.Store(false)
		_ = b.Prepare(b.life) // it has said what is wrong
	}()
}

// gone tells whether an operation failed because a stream does not exist, and sees to it.
func (b *Bus) gone(err error) bool {
	if !errors.Is(err, jetstream.ErrNoStreamResponse) && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return false
	}
	b.restore()
	return true
}

func (b *Bus) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:        matchStream,
		Description: "claimed matches that wait for a game server",
		Subjects:    []string{matches + "*"},
		Retention:   jetstream.WorkQueuePolicy,
		Duplicates:  2 * time.Minute,
		Replicas:    b.options.Replicas,
	})
	if err != nil {
		return err
	}
	_, err = b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:              logStream,
		Description:       "what the instances of match functions wrote",
		Subjects:          []string{logs + "*.*"},
		MaxAge:            b.options.LogAge,
		MaxBytes:          b.options.LogTotal,
		MaxMsgsPerSubject: max(1, b.options.LogSize/LogText),
		MaxMsgSize:        logMessage,
		Discard:           jetstream.DiscardOld,
		Replicas:          b.options.Replicas,
		AllowDirect:       true,
	})
	if err != nil {
		return err
	}
	_, err = b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:        eventStream,
		Description: "what happened to tickets and matches",
		Subjects:    []string{events + "*"},
		MaxAge:      b.options.EventAge,
		MaxBytes:    b.options.EventBytes,
		Discard:     jetstream.DiscardOld,
		Replicas:    b.options.Replicas,
	})
	if err != nil {
		return err
	}
	_, err = b.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket:      moduleStore,
		Description: "uploaded match functions",
		Replicas:    b.options.Replicas,
	})
	return err
}
