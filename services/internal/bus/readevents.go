package bus

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
)

// eventBatch is how many messages of events are asked for at once. So many may lie in memory, whatever their reader's
// pace. eventWait is how long the server waits for the next ones.
const (
	eventBatch = 8
	eventWait  = 20 * time.Second
)

// EventStart is where reading events begins: behind a message if After is not 0, or with that message if Again is set.
// Else with what is to come if New is set, else with what was published since a time, else with the oldest that there
// is. With New there is a message without events first, which says where reading begins.
type EventStart struct {
	After uint64
	Again bool
	New   bool
	Since time.Time
}

// EventMessage is a message of the events of a project.
type EventMessage struct {
	*pb.Events
	// Sequence is its number in the stream. Of two messages the later one has the greater number.
	Sequence uint64
	// Lost: messages may be missing before this one, since the one behind which reading began is not kept any more.
	Lost bool
	// Bytes is its size.
	Bytes int
}

// ReadEvents hands the messages of a project's events to take, in order, until it wants no more. With follow it goes on
// with those that are published meanwhile, until ctx ends; otherwise it ends with those that there were when it began.
// Each message comes once. When one is lost on its way here, or the message bus goes away, the error is Unavailable: go
// on behind the last one. end is the number of the last message that there was, of any project.
func (b *Bus) ReadEvents(ctx context.Context, project string, from EventStart, follow bool,
	take func(EventMessage) (more bool)) (end uint64, err error) {
	stream, err := b.js.Stream(ctx, eventStream)
	if err != nil {
		b.restoreMissing(err)
		return 0, unavailable(err)
	}
	r := eventReader{bus: b, take: take}
	end = stream.CachedInfo().State.LastSeq
	config := jetstream.ConsumerConfig{
		FilterSubject: events + token(project),
		AckPolicy:     jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1,
		InactiveThreshold: time.Minute, // should its deletion be lost
		DeliverPolicy:     jetstream.DeliverAllPolicy,
	}
	switch {
	case from.After > end: // the stream was begun anew
		r.lost = true
	case from.After > 0:
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, from.After+1
		if from.Again {
			config.OptStartSeq = from.After
		}
		// The oldest messages go first, so none behind one that is there is missing.
		if _, err := stream.GetMsg(ctx, from.After); errors.Is(err, jetstream.ErrMsgNotFound) {
			r.lost = true
		} else if err != nil {
			return end, unavailable(err)
		}
	case from.New:
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, end+1
		if !take(EventMessage{Events: new(pb.Events), Sequence: end}) {
			return end, nil
		}
	case !from.Since.IsZero():
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &from.Since
	}
	consumer, err := stream.CreateConsumer(ctx, config)
	if err != nil {
		return end, unavailable(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = stream.DeleteConsumer(ctx, consumer.CachedInfo().Name)
	}()
	return end, r.read(ctx, consumer, follow)
}

// eventReader reads with a consumer of its own.
type eventReader struct {
	bus   *Bus
	take  func(EventMessage) bool
	lost  bool   // messages may be missing before the next
	count uint64 // of messages so far
}

func (r *eventReader) read(ctx context.Context, consumer jetstream.Consumer, follow bool) error {
	for pending := consumer.CachedInfo().NumPending; follow || pending > 0; {
		var batch jetstream.MessageBatch
		var err error
		if follow {
			batch, err = consumer.Fetch(eventBatch, jetstream.FetchMaxWait(eventWait))
		} else {
			batch, err = consumer.FetchNoWait(eventBatch)
		}
		if err != nil {
			return unavailable(err)
		}
		got, more, err := r.receive(ctx, batch)
		if err != nil || !more {
			return err
		}
		if got == 0 && !follow {
			return nil // they were removed meanwhile, by age or size
		}
		pending -= min(got, pending)
	}
	return nil
}

// receive takes the messages of a batch as they come.
func (r *eventReader) receive(ctx context.Context, batch jetstream.MessageBatch) (got uint64, more bool, err error) {
	for {
		select {
		case msg, open := <-batch.Messages():
			if !open {
				return got, true, unavailable(batch.Error())
			}
			got++
			if more, err := r.message(ctx, msg); err != nil || !more {
				return got, false, err
			}
		case <-ctx.Done():
			return got, false, context.Cause(ctx)
		}
	}
}

// message is false when no more is wanted.
func (r *eventReader) message(ctx context.Context, msg jetstream.Msg) (more bool, err error) {
	about, err := msg.Metadata()
	if err != nil {
		return false, unavailable(err)
	}
	if r.count++; about.Sequence.Consumer != r.count {
		return false, problem.New(problem.Unavailable, "some events were lost on their way, try again")
	}
	e := new(pb.Events)
	if err := proto.Unmarshal(msg.Data(), e); err != nil {
		r.bus.log.WarnContext(ctx, "message bus: unreadable events", "subject", msg.Subject(), "error", err)
		r.lost = true
		return true, nil
	}
	lost := r.lost
	r.lost = false
	return r.take(EventMessage{Events: e, Sequence: about.Sequence.Stream, Lost: lost, Bytes: len(msg.Data())}), nil
}
