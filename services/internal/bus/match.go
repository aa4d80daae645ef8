package bus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/wait"
)

// ackWait is how long an allocator may keep a match without a sign of life before another one gets it.
const ackWait = 10 * time.Second

// maxPending is how many matches all allocators together may work on or have postponed. Postponed matches must not keep
// the others away.
const maxPending = 1 << 20

// matchBytes is the most that the work queue takes: more than two hundred thousand matches. JetStream sets it aside on
// its disk. carriedMatch is how many bytes a match may have that comes with its content.
const matchBytes, carriedMatch = 256 << 20, 1 << 10

// matchAge is how long a match stays in the work queue. The tickets of a match that no allocator took wait again much
// earlier (--claim), and so do the tickets of a match that is taken out while it waits for an allocator.
const matchAge = time.Hour

// MatchGroup is how many matches a message should have at most. An allocator fetches enough messages for all of its
// slots. A message costs about as much as the rest of an allocation that hosting answers at once.
const MatchGroup = 32

// maxFetch is how many messages an allocator fetches at once: waiting messages send no sign of life.
const maxFetch = 64

// retryAfter asks for the match to come again.
type retryAfter time.Duration

func (l retryAfter) Error() string { return "the match comes again in " + time.Duration(l).String() }

// RetryAfter is the error of a handler that wants the match again after a while. It is not logged.
func RetryAfter(d time.Duration) error { return retryAfter(d) }

// pullExpiry is how long one request for matches lasts, and pullHeartbeat how often the server confirms it. If the
// server of a cluster that has the request dies, two missed heartbeats tell; with the client's defaults no allocator
// would get a match for half a minute.
const (
	pullExpiry    = 5 * time.Second
	pullHeartbeat = time.Second
)

// EnqueueMatches puts groups of matches into the work queue, each with its contents as one message, and returns what is
// stored. A group that is sent twice within two minutes is stored once. Nothing is sent while there is no server.
func (b *Bus) EnqueueMatches(
	ctx context.Context, project string, contents map[string]*pb.Match, groups ...[]string,
) (sent []string, err error) {
	if !b.conn.IsConnected() {
		return nil, unavailable(nats.ErrDisconnected)
	}
	var failed error
	futures := make([]jetstream.PubAckFuture, 0, len(groups))
	for _, group := range groups {
		w := &pb.MatchWork{Project: project, Match: group[0], More: group[1:]}
		for _, id := range group {
			w.Bodies = append(w.Bodies, bodyOf(contents[id]))
		}
		msg, err := b.message(ctx, matches+token(project), w)
		if err != nil {
			return nil, err
		}
		msg.Header.Set(jetstream.MsgIDHeader, nameOf(project, group))
		future, err := b.js.PublishMsgAsync(msg)
		if err != nil {
			failed = err // the outbox has the rest
			break
		}
		futures = append(futures, future)
	}
	for i, future := range futures {
		select {
		case <-future.Ok():
			sent = append(sent, groups[i]...)
		case err := <-future.Err():
			b.restoreMissing(err)
			failed = errors.Join(failed, err)
		case <-ctx.Done():
			return sent, context.Cause(ctx)
		}
	}
	return sent, unavailable(failed)
}

// bodyOf is the content of a match that is known and small. Hosting keys are nowhere but in Redis.
func bodyOf(m *pb.Match) []byte {
	body, err := proto.Marshal(m)
	if err != nil || len(body) > carriedMatch || len(m.GetHosting().GetKeys()) > 0 {
		return nil
	}
	return body
}

// nameOf is one name of a group of matches.
func nameOf(project string, group []string) string {
	sum := sha256.New()
	for _, id := range group {
		_, _ = fmt.Fprintf(sum, "%q", id)
	}
	return project + "/" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// MatchHandler works on a match, whose content is in Bodies if it came with it. An error means that the match comes
// again; attempt counts from 1.
type MatchHandler func(ctx context.Context, w *pb.MatchWork, attempt int) error

// ConsumeMatches takes matches out of the work queue, up to parallel at once, until ctx ends; then it waits for the
// matches under way. A match whose handler fails comes again after a while, to any allocator.
func (b *Bus) ConsumeMatches(ctx context.Context, parallel int, handle MatchHandler) error {
	if b.Prepare(ctx) != nil {
		return nil //nolint:nilerr // ctx has ended
	}
	c := &consumption{Bus: b, handle: handle, slots: semaphore.NewWeighted(int64(parallel)),
		messages: semaphore.NewWeighted(math.MaxInt64)}
	for ctx.Err() == nil {
		err := b.consume(ctx, parallel, func(msg jetstream.Msg) { c.take(ctx, msg) })
		if err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "reading the work queue again", "error", err)
			_ = wait.For(ctx, time.Second)
		}
	}
	// Since ctx has ended no new match gets a slot. Matches under way end soon.
	return c.messages.Acquire(context.WithoutCancel(ctx), math.MaxInt64)
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
		jetstream.PullMaxMessages(max(1, min(parallel/MatchGroup, maxFetch))),
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
			// Pass on fetched messages too, so that they can be given back.
			consuming.Drain()
			select {
			case <-consuming.Closed():
			case <-time.After(time.Second): // without a server: the queue misses them in time
			}
			return nil
		case <-doubt.C():
			// Asking a consumer that no longer exists never ends. A server that came back without its store has none.
			_, err := consumer.Info(ctx)
			if errors.Is(err, jetstream.ErrConsumerNotFound) || b.restoreMissing(err) {
				return err
			}
		}
	}
}

// consumption is one ConsumeMatches.
type consumption struct {
	*Bus
	handle MatchHandler
	// slots limits the matches, and messages the messages in hand.
	slots, messages *semaphore.Weighted
}

// take starts to handle the matches of a message, and returns when each has a slot. The message is acknowledged when
// all of them are done. One that is alone comes again in the same message, and one of several in a message of its own,
// so that it does not wait for the others.
func (c *consumption) take(ctx context.Context, msg jetstream.Msg) {
	w := new(pb.MatchWork)
	if err := proto.Unmarshal(msg.Data(), w); err != nil {
		c.log.WarnContext(ctx, "message bus: unreadable match", "subject", msg.Subject(), "error", err)
		_ = msg.Term()
		return
	}
	attempt, postponed := attemptOf(msg, w)
	if postponed {
		c.acknowledged(ctx, msg.NakWithDelay(time.Duration(w.GetWait())*time.Millisecond))
		return
	}
	if !c.messages.TryAcquire(1) {
		_ = msg.Nak() // this process stops
		return
	}
	stop := keepAlive(ctx, msg, c.options.AckWait/3)
	ctx = c.extract(ctx, headers(msg.Headers()))
	var again atomic.Int64 // after which time the message is to come again; 0 when all is done
	var working sync.WaitGroup
	all := append([]string{w.GetMatch()}, w.GetMore()...)
	for i, match := range all {
		n := len(w.GetBodies())
		one := &pb.MatchWork{Project: w.GetProject(), Match: match, Bodies: w.GetBodies()[min(i, n):min(i+1, n)]}
		if c.slots.Acquire(ctx, 1) != nil {
			again.Store(int64(atOnce))
			break
		}
		working.Go(func() {
			defer c.slots.Release(1)
			if pause := c.handleMatch(ctx, one, attempt, len(all) == 1); pause > 0 {
				again.Store(int64(pause))
			}
		})
	}
	go func() {
		defer c.messages.Release(1)
		working.Wait()
		stop()
		switch pause := time.Duration(again.Load()); pause {
		case 0:
			c.acknowledged(ctx, msg.Ack())
		case atOnce:
			c.acknowledged(ctx, msg.Nak()) // another allocator may have it
		default:
			c.acknowledged(ctx, msg.NakWithDelay(pause))
		}
	}()
}

// atOnce is the pause of a message that comes again at once.
const atOnce time.Duration = 1

// attemptOf counts the deliveries of a message's matches from 1 on. postponed is true when it is to come later.
func attemptOf(msg jetstream.Msg, w *pb.MatchWork) (attempt int, postponed bool) {
	attempt = 1
	if m, err := msg.Metadata(); err == nil {
		attempt = int(m.NumDelivered)
	}
	if w.GetWait() > 0 {
		if attempt == 1 {
			return attempt, true
		}
		attempt--
	}
	return attempt + int(w.GetAttempts()), false
}

// handleMatch handles one match. It returns the time after which its message is to come again, 0 when it need not.
func (c *consumption) handleMatch(ctx context.Context, w *pb.MatchWork, attempt int, alone bool) time.Duration {
	err := c.handle(ctx, w, attempt)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil {
		return atOnce
	}
	pause := min(time.Duration(attempt)*500*time.Millisecond, c.options.AckWait)
	if asked, ok := errors.AsType[retryAfter](err); ok {
		pause = max(time.Millisecond, time.Duration(asked))
	} else {
		c.log.WarnContext(ctx, "match comes again", "project", w.GetProject(), "match", w.GetMatch(), "attempt", attempt,
			"error", err)
	}
	if !alone && c.postpone(ctx, w, attempt, pause) == nil {
		return 0
	}
	return pause
}

// postpone puts one match of a message into the work queue again.
func (b *Bus) postpone(ctx context.Context, w *pb.MatchWork, attempt int, pause time.Duration) error {
	w.Attempts, w.Wait = int32(min(attempt, math.MaxInt32)), max(1, pause.Milliseconds())
	msg, err := b.message(ctx, matches+token(w.GetProject()), w)
	if err != nil {
		return err
	}
	if _, err = b.js.PublishMsg(ctx, msg); err != nil {
		b.log.WarnContext(ctx, "message bus: a match comes again with the others of its message",
			"project", w.GetProject(), "match", w.GetMatch(), "error", err)
	}
	return err
}

// acknowledged logs that a message could not be acknowledged: it comes again.
func (b *Bus) acknowledged(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		b.log.WarnContext(ctx, "message bus: acknowledging a match", "error", err)
	}
}

// keepAlive tells the queue until stop that a message is being worked on.
func keepAlive(ctx context.Context, msg jetstream.Msg, every time.Duration) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		for n := range wait.Every(ctx, every) {
			if n > 0 {
				_ = msg.InProgress()
			}
		}
	}()
	return stop
}
