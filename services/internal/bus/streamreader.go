package bus

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"matchmaker.dev/services/internal/edge/problem"
)

// streamReader reads messages of a stream with a consumer of its own. It holds one batch in memory.
type streamReader struct {
	batch int           // messages that are asked for at once
	wait  time.Duration // for messages to come; 0 to end with those that there are when it begins
	lost  string        // the error when a message is lost on its way
	take  func(msg jetstream.Msg, about *jetstream.MsgMetadata) (more bool)
	count uint64 // of messages so far
}

// read reads until take wants no more, ctx ends, or all is read: whole is true then.
func (r *streamReader) read(
	ctx context.Context, stream jetstream.Stream, config jetstream.ConsumerConfig,
) (whole bool, err error) {
	config.AckPolicy, config.MemoryStorage, config.Replicas = jetstream.AckNonePolicy, true, 1
	config.InactiveThreshold = time.Minute // should its deletion be lost
	consumer, err := stream.CreateConsumer(ctx, config)
	if err != nil {
		return false, unavailable(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = stream.DeleteConsumer(ctx, consumer.CachedInfo().Name)
	}()
	for pending := consumer.CachedInfo().NumPending; r.wait > 0 || pending > 0; {
		most, wait := r.batch, r.wait
		if wait == 0 { // they are there; FetchNoWait would lose what comes a second late
			most, wait = int(min(uint64(most), pending)), 4*time.Second
		}
		batch, err := consumer.Fetch(most, jetstream.FetchMaxWait(wait))
		if err != nil {
			return false, unavailable(err)
		}
		got, more, err := r.receive(ctx, batch)
		if err != nil || !more {
			return false, err
		}
		if pending -= min(got, pending); r.wait > 0 || got == uint64(most) {
			continue
		}
		// Messages were removed meanwhile, by age or size, or are lost.
		if info, err := consumer.Info(ctx); err != nil {
			return false, unavailable(err)
		} else if pending = info.NumPending; pending == 0 && info.Delivered.Consumer != r.count {
			return false, problem.New(problem.Unavailable, "%s", problem.Word(r.lost))
		}
	}
	return true, nil
}

// receive takes the messages of a batch as they come.
func (r *streamReader) receive(ctx context.Context, batch jetstream.MessageBatch) (got uint64, more bool, err error) {
	for {
		select {
		case msg, open := <-batch.Messages():
			if !open {
				return got, true, unavailable(batch.Error())
			}
			got++
			about, err := msg.Metadata()
			if err != nil {
				return got, false, unavailable(err)
			}
			if r.count++; about.Sequence.Consumer != r.count {
				return got, false, problem.New(problem.Unavailable, "%s", problem.Word(r.lost))
			}
			if !r.take(msg, about) {
				return got, false, nil
			}
		case <-ctx.Done():
			return got, false, context.Cause(ctx)
		}
	}
}
