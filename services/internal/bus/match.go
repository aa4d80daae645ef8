package bus

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/notify"
	"matchmaker.dev/services/internal/wait"
)

// ackWait is how long an allocator may keep a match without a sign of life before another one gets it.
const ackWait = 10 * time.Second

// maxPending is how many matches all allocators together may work on or have postponed. Postponed matches must not keep
// the others away.
const maxPending = 1 << 20

// matchBytes is the most that the work queue takes: more than half a million matches. JetStream sets it
// aside on its disk.
const matchBytes = 256 << 20

// matchAge is how long a match stays in the work queue. The tickets of a match that no allocator took wait again much
// earlier (--claim), and so do those of one that is taken out while it waits for an allocator.
const matchAge = time.Hour

// maxFetch is how many matches an allocator fetches at once: fetched matches that wait for a slot show no sign of life.
const maxFetch = 256

// retryAfter asks for the match to come again.
type retryAfter time.Duration

func (l retryAfter) Error() string { return "the match comes again in " + time.Duration(l).String() }

// RetryAfter is the error of a handler that wants the match again after a while. It is not logged.
func RetryAfter(d time.Duration) error { return retryAfter(d) }

// pullExpiry is how long one request for matches lasts, and pullHeartbeat how often the server confirms it. If the
// server of a cluster that has the request dies, two missed heartbeats tell; with the client's defaults nobody would
// get a match for half a minute.
const (
	pullExpiry    = 5 * time.Second
	pullHeartbeat = time.Second
)

// EnqueueMatches puts matches into the work queue, and returns those that it has stored. A match that is sent twice
// within two minutes is stored once. Nothing is sent while there is no server.
func (b *Bus) EnqueueMatches(ctx context.Context, project string, ids []string) (sent []string, err error) {
	if !b.conn.IsConnected() {
		return nil, unavailable(nats.ErrDisconnected)
	}
	futures := make([]jetstream.PubAckFuture, 0, len(ids))
	for _, id := range ids {
		msg, err := b.message(ctx, matches+token(project), &pb.MatchWork{Project: project, Match: id})
		if err != nil {
			return nil, err
		}
		carrier{msg}.Set(jetstream.MsgIDHeader, project+"/"+id)
		future, err := b.js.PublishMsgAsync(msg)
		if err != nil {
			break // the outbox has the rest
		}
		futures = append(futures, future)
	}
	var failed error
	for i, future := range futures {
		select {
		case <-future.Ok():
			sent = append(sent, ids[i])
		case err := <-future.Err():
			b.restoreMissing(err)
			failed = errors.Join(failed, err)
		case <-ctx.Done():
			return sent, context.Cause(ctx)
		}
	}
	return sent, unavailable(failed)
}

// MatchHandler works on a match. An error means that the match comes again; attempt counts from 1.
type MatchHandler func(ctx context.Context, w *pb.MatchWork, attempt int) error

// ConsumeMatches takes matches out of the work queue, up to parallel at once, until ctx ends; then it waits for those
// under way. A match whose handler fails comes again after a while, to any allocator.
func (b *Bus) ConsumeMatches(ctx context.Context, parallel int, handle MatchHandler) error {
	if b.Prepare(ctx) != nil {
		return nil //nolint:nilerr // ctx has ended
	}
	slots := semaphore.NewWeighted(int64(parallel))
	for ctx.Err() == nil {
		err := b.consume(ctx, parallel, func(msg jetstream.Msg) {
			if slots.Acquire(ctx, 1) != nil {
				_ = msg.Nak() // another allocator may have it at once
				return
			}
			go func() {
				defer slots.Release(1)
				b.handleMatch(ctx, msg, handle)
			}()
		})
		if err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "reading the work queue again", "error", err)
			_ = wait.For(ctx, time.Second)
		}
	}
	// Since ctx has ended no new match gets a slot. Matches under way end soon.
	return slots.Acquire(context.WithoutCancel(ctx), int64(parallel))
}

// consume passes messages on until ctx ends or the consumer fails for good.
func (b *Bus) consume(ctx context.Context, parallel int, handle func(jetstream.Msg)) error {
	consumer, err := b.js.CreateOrUpdateConsumer(ctx, matchStream, jetstream.ConsumerConfig{
		Durable:       allocatorConsumer,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       b.options.AckWait,
		MaxAckPending: maxPending,
	})
	if err != nil {
		b.restoreMissing(err)
		return err
	}
	doubt := notify.New()
	consuming, err := consumer.Consume(handle,
		jetstream.PullMaxMessages(min(parallel, maxFetch)),
		jetstream.PullExpiry(pullExpiry),
		jetstream.PullHeartbeat(pullHeartbeat),
		jetstream.ConsumeErrHandler(func(jetstream.ConsumeContext, error) { doubt.Notify() }))
	if err != nil {
		return err
	}
	defer consuming.Stop()
	for {
		select {
		case <-ctx.Done():
			// Those that were fetched and are in no hand yet are handed on too, so that they can be given back.
			consuming.Drain()
			select {
			case <-consuming.Closed():
			case <-time.After(time.Second): // without a server: the queue misses them in time
			}
			return nil
		case <-doubt.C():
			// A consumer that does not exist any more is asked in vain for ever, as is that of a server which came back without
			// its store.
			_, err := consumer.Info(ctx)
			if errors.Is(err, jetstream.ErrConsumerNotFound) || b.restoreMissing(err) {
				return err
			}
		}
	}
}

func (b *Bus) handleMatch(ctx context.Context, msg jetstream.Msg, handle MatchHandler) {
	w := new(pb.MatchWork)
	if err := proto.Unmarshal(msg.Data(), w); err != nil {
		b.log.WarnContext(ctx, "message bus: unreadable match", "subject", msg.Subject(), "error", err)
		_ = msg.Term()
		return
	}
	attempt := 1
	if m, err := msg.Metadata(); err == nil {
		attempt = int(m.NumDelivered)
	}
	ctx = b.extract(ctx, headers(msg.Headers()))
	stop := keepAlive(ctx, msg, b.options.AckWait/3)
	err := handle(ctx, w, attempt)
	stop()
	again, asked := errors.AsType[retryAfter](err)
	switch {
	case err == nil:
		err = msg.Ack()
	case ctx.Err() != nil:
		err = msg.Nak() // another allocator may have it at once
	case asked:
		err = msg.NakWithDelay(time.Duration(again))
	default:
		b.log.WarnContext(ctx, "match comes again", "project", w.GetProject(), "match", w.GetMatch(), "attempt", attempt,
			"error", err)
		err = msg.NakWithDelay(min(time.Duration(attempt)*500*time.Millisecond, b.options.AckWait))
	}
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		b.log.WarnContext(ctx, "message bus: acknowledging a match", "error", err)
	}
}

// keepAlive tells the queue until stop that a message is being worked on.
func keepAlive(ctx context.Context, msg jetstream.Msg, every time.Duration) (stop func()) {
	done := make(chan struct{})
	go func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				_ = msg.InProgress()
			case <-done:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { close(done) }
}

// headers lets a propagator read those of a JetStream message.
type headers nats.Header

func (h headers) Get(key string) string { return nats.Header(h).Get(key) }
func (h headers) Set(key, value string) { nats.Header(h).Set(key, value) }
func (h headers) Keys() []string        { return carrier{&nats.Msg{Header: nats.Header(h)}}.Keys() }
