package bus

import (
	"context"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// MaxEventBytes is about how many bytes of events a message may have: a quarter of the bus's limit.
const MaxEventBytes = 256 << 10

// ErrEventConflict means that another process has published events of the project in the meantime.
var ErrEventConflict = errors.New("bus: events of this project were published by another")

// EventTail is the end of a project's events in the stream; the zero value is before the first one.
type EventTail struct {
	// Sequence is the number of the last message.
	Sequence uint64
	// bytes is about how many bytes of the project's events were published so far, and looked how many when the room was
	// shared last.
	bytes, looked uint64
}

// LastEvents returns the last message of a project's events, and its position; nil if there is none.
func (b *Bus) LastEvents(ctx context.Context, project string) (*pb.Events, EventTail, error) {
	stream, err := b.js.Stream(ctx, eventStream)
	if err != nil {
		b.restoreMissing(err)
		return nil, EventTail{}, unavailable(err)
	}
	msg, err := stream.GetLastMsgForSubject(ctx, events+token(project))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, EventTail{}, nil
	}
	if err != nil {
		return nil, EventTail{}, unavailable(err)
	}
	e := new(pb.Events)
	if err := proto.Unmarshal(msg.Data, e); err != nil {
		return nil, EventTail{}, err
	}
	return e, EventTail{Sequence: msg.Sequence, bytes: publishedBytes(msg)}, nil
}

// PublishEvents publishes a project's next events after last, and returns their position. It returns ErrEventConflict
// if last is no longer the project's last message: so each event is published once, however many processes try. Now and
// then it removes the project's oldest events, see shareEvents; removed is how many messages went.
func (b *Bus) PublishEvents(ctx context.Context, e *pb.Events, last EventTail) (tail EventTail, removed uint64,
	err error) {
	msg, err := b.message(ctx, events+token(e.GetProject()), e)
	if err != nil {
		return last, 0, err
	}
	tail = EventTail{bytes: last.bytes + uint64(len(msg.Data)+eventOverhead), looked: last.looked}
	msg.Header.Set(eventBytes, strconv.FormatUint(tail.bytes, 10))
	ack, err := b.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(last.Sequence))
	if refused, ok := errors.AsType[*jetstream.APIError](err); ok &&
		(refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
			refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
		return last, 0, ErrEventConflict
	}
	if err != nil {
		b.restoreMissing(err)
		return last, 0, unavailable(err)
	}
	tail.Sequence = ack.Sequence
	if tail.bytes-tail.looked >= uint64(b.options.Events.Bytes)/eventLooks {
		tail.looked = tail.bytes
		if removed, err = b.shareEvents(ctx, msg.Subject, tail.bytes); err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "message bus: the room for events was not shared", "project", e.GetProject(), "error", err)
		}
	}
	return tail, removed, nil
}

// PublishCloudEvent publishes an event of a project as a CloudEvent in JSON, as the binding of NATS has it, and
// returns when a stream has it. A stream that is asked twice for the same id of a project drops the second one.
func (b *Bus) PublishCloudEvent(ctx context.Context, project, id string, body []byte) error {
	msg := &nats.Msg{Subject: cloudEvents + token(project), Data: body,
		Header: nats.Header{"Content-Type": {"application/cloudevents+json"}}}
	_, err := b.js.PublishMsg(ctx, msg, jetstream.WithMsgID(project+"/"+id))
	return unavailable(err)
}

// OnEvents calls handle with a project's events as they are published, from now on. Some may be missed: ReadEvents
// misses none.
func (b *Bus) OnEvents(project string, handle func(*pb.Events)) (Subscription, error) {
	return subscribe(b, events+token(project), "", func(_ context.Context, _ string, e *pb.Events, _ *nats.Msg) {
		handle(e)
	})
}
