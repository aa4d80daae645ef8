package bus

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
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
	end = stream.CachedInfo().State.LastSeq
	config := jetstream.ConsumerConfig{
		FilterSubject: events + token(project),
		DeliverPolicy: jetstream.DeliverAllPolicy,
	}
	first, lost := from.After, false // what may be read first, and whether messages may be missing before the next
	if !from.Again {
		first++
	}
	switch {
	case from.After > end: // the stream was begun anew
		lost = true
	case from.After > 0:
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, first
		// The oldest messages go first, so none behind one that is there is missing, and none behind the last of all.
		if _, err := stream.GetMsg(ctx, from.After); errors.Is(err, jetstream.ErrMsgNotFound) {
			lost = from.After < end
		} else if err != nil {
			return end, unavailable(err)
		}
	case from.New:
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, end+1
		if !take(EventMessage{Events: new(pb.Events), Sequence: end}) {
			return end, nil
		}
	case !from.Since.IsZero():
		// Callers ask for times of invented ids, too. NATS takes none after 2262, and this bound is in 2248.
		since := time.UnixMilli(min(max(from.Since.UnixMilli(), 0), 1<<43))
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
	}
	r := streamReader{batch: eventBatch, lost: "some events were lost on their way, try again"}
	if follow {
		r.wait = eventWait
	}
	r.take = func(msg jetstream.Msg, about *jetstream.MsgMetadata) bool {
		e := new(pb.Events)
		if err := proto.Unmarshal(msg.Data(), e); err != nil {
			b.log.WarnContext(ctx, "message bus: unreadable events", "subject", msg.Subject(), "error", err)
			lost = true
			return true
		}
		// None is missing if the project's message before this one lies before the first.
		lost = lost && (from.After > end || e.GetAfter() == 0 || e.GetAfter() >= first)
		m := EventMessage{Events: e, Sequence: about.Sequence.Stream, Lost: lost, Bytes: len(msg.Data())}
		lost = false
		return take(m)
	}
	_, err = r.read(ctx, stream, config)
	return end, err
}
