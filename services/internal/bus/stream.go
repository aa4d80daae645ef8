package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/wait"
)

// Names of the streams and of the object store.
const (
	matchStream = "MM_MATCHES"
	logStream   = "MM_LOGS"
	eventStream = "MM_EVENTS"
	moduleStore = "MM_MODULES"
)

// Prepare creates the streams that this process makes, and waits for the others (see makerOf), until all exist or ctx
// ends. Any process may call it, at any time, in any order.
func (b *Bus) Prepare(ctx context.Context) error {
	for said := false; ; said = true {
		err := b.prepare(ctx)
		if err == nil {
			b.prepared.Store(true)
			return nil
		}
		if !said && ctx.Err() == nil {
			b.log.WarnContext(ctx, "waiting for the message bus", "error", err)
		}
		if wait.For(ctx, 250*time.Millisecond) != nil {
			return fmt.Errorf("the message bus is not ready: %w: %w", context.Cause(ctx), err)
		}
	}
}

// restore runs Prepare again in the background: a server may have come back without its store. Matches that were in the
// work queue are found by their claim deadlines.
func (b *Bus) restore() {
	if !b.prepared.Load() || !b.restoring.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer b.restoring.Store(false)
		_ = b.Prepare(b.life) // it has said what is wrong
	}()
}

// restoreMissing reports whether an operation failed because a stream does not exist, and restores it then.
func (b *Bus) restoreMissing(err error) bool {
	if !errors.Is(err, jetstream.ErrNoStreamResponse) && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return false
	}
	b.restore()
	return true
}

func (b *Bus) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if !b.conn.IsConnected() {
		if why := b.connError.Load(); why != nil {
			return errors.New(*why)
		}
		return nats.ErrDisconnected
	}
	if err := b.conn.FlushWithContext(ctx); err != nil {
		return err
	}
	service := b.options.Service
	for _, stream := range streamsOf(service) {
		var err error
		if service == account.All || makerOf(stream) == service {
			err = b.makeStream(ctx, stream)
		} else if _, err = b.js.Stream(ctx, stream); errors.Is(err, jetstream.ErrStreamNotFound) {
			err = fmt.Errorf("the stream %s is not there yet: the %s makes it", stream, makerOf(stream))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeStream creates a stream, or updates its settings.
func (b *Bus) makeStream(ctx context.Context, name string) error {
	config := jetstream.StreamConfig{Name: name, Replicas: b.options.Server.Replicas}
	switch name {
	case matchStream:
		config.Description = "claimed matches that wait for a game server"
		config.Subjects = []string{matches + "*"}
		config.Retention = jetstream.WorkQueuePolicy
		config.Duplicates = 2 * time.Minute
		// What does not fit stays in the outbox. Removing the oldest would make its players wait for the claim's deadline.
		config.MaxBytes = cmp.Or(b.options.MatchBytes, matchBytes)
		config.Discard = jetstream.DiscardNew
		config.MaxAge = matchAge
	case logStream:
		config.Description = "what the instances of match functions wrote"
		config.Subjects = []string{logs + "*.*"}
		config.MaxAge = b.options.Logs.Age
		config.MaxBytes = b.options.Logs.Total << 20
		config.MaxMsgsPerSubject = cmp.Or(b.options.LogMessages, b.options.Logs.Size<<20/MaxLogText)
		config.MaxMsgSize = logMessage
		config.Discard = jetstream.DiscardOld
		config.AllowDirect = true
	case eventStream:
		config.Description = "what happened to tickets and matches"
		config.Subjects = []string{events + "*"}
		config.MaxAge = b.options.Events.Age
		config.MaxBytes = b.options.Events.Bytes
		config.Discard = jetstream.DiscardOld
	case moduleStream:
		_, err := b.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket:      moduleStore,
			Description: "uploaded match functions",
			Replicas:    b.options.Server.Replicas,
		})
		return err
	}
	_, err := b.js.CreateOrUpdateStream(ctx, config)
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == tooLittleRoom {
		return fmt.Errorf("the disk of NATS has no room for the %d MiB that the stream %s may have: make some, or limit the "+
			"stream to less: %w", config.MaxBytes>>20, name, err)
	}
	return err
}

// tooLittleRoom is the code of NATS for a stream that may become larger than what is left.
const tooLittleRoom = 10047
