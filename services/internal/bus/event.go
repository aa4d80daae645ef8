package bus

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// MaxEventBytes is about how many bytes of events a message may have: a quarter of the bus's limit.
const MaxEventBytes = 256 << 10

// ErrEventConflict means that another process has published events of the project in the meantime.
var ErrEventConflict = errors.New("bus: events of this project were published by another")

// LastEvents returns the last message of a project's events and its number in the stream; nil and 0 if there is none.
func (b *Bus) LastEvents(ctx context.Context, project string) (*pb.Events, uint64, error) {
	msg, err := b.lastEvents(ctx, project)
	if err != nil || msg == nil {
		return nil, 0, err
	}
	e := new(pb.Events)
	if err := proto.Unmarshal(msg.Data, e); err != nil {
		return nil, 0, err
	}
	return e, msg.Sequence, nil
}

// HasEvents tells whether a project has an event since a time.
func (b *Bus) HasEvents(ctx context.Context, project string, since time.Time) (bool, error) {
	msg, err := b.lastEvents(ctx, project)
	return msg != nil && !msg.Time.Before(since), err
}

func (b *Bus) lastEvents(ctx context.Context, project string) (*jetstream.RawStreamMsg, error) {
	stream, err := b.js.Stream(ctx, eventStream)
	if err != nil {
		b.restoreMissing(err)
		return nil, unavailable(err)
	}
	msg, err := stream.GetLastMsgForSubject(ctx, events+token(project))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	return msg, unavailable(err)
}

// PublishEvents publishes a project's next events after the message with the number last, and returns their own number.
// It returns ErrEventConflict if that is no longer the project's last message: so each event is published once, however
// many processes try.
func (b *Bus) PublishEvents(ctx context.Context, e *pb.Events, last uint64) (uint64, error) {
	msg, err := b.message(ctx, events+token(e.GetProject()), e)
	if err != nil {
		return 0, err
	}
	ack, err := b.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(last))
	if refused, ok := errors.AsType[*jetstream.APIError](err); ok &&
		(refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
			refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
		return 0, ErrEventConflict
	}
	if err != nil {
		b.restoreMissing(err)
		return 0, unavailable(err)
	}
	return ack.Sequence, nil
}

// FollowEvents reads a project's events since a time, or all that are stored if since is zero, and then those to come,
// in order, until ctx ends or handle returns an error. pending is how many stored messages follow this one.
func (b *Bus) FollowEvents(ctx context.Context, project string, since time.Time,
	handle func(e *pb.Events, pending uint64) error) error {
	from := jetstream.OrderedConsumerConfig{FilterSubjects: []string{events + token(project)}}
	if !since.IsZero() {
		from.DeliverPolicy, from.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
	}
	consumer, err := b.js.OrderedConsumer(ctx, eventStream, from)
	if err != nil {
		return unavailable(err)
	}
	messages, err := consumer.Messages()
	if err != nil {
		return unavailable(err)
	}
	defer messages.Stop()
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return unavailable(err)
		}
		e := new(pb.Events)
		if err := proto.Unmarshal(msg.Data(), e); err != nil {
			b.log.WarnContext(ctx, "message bus: unreadable events", "subject", msg.Subject(), "error", err)
			continue
		}
		about, err := msg.Metadata()
		if err != nil {
			return unavailable(err)
		}
		if err := handle(e, about.NumPending); err != nil {
			return err
		}
	}
}
