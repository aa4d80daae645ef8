package bus

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// MaxLogText is the most bytes of text that a message of a log has. The number of messages limits a log, so this bounds
// its size: shorter messages would cost more than they carry, and with longer ones a function that writes few lines
// would keep fewer of them.
const MaxLogText = 1 << 10

// logMessage is the most bytes that the stream takes of a message, with the name of the instance and the headers.
const logMessage = 2 * MaxLogText

// PublishLog stores an instance's output: up to LogText bytes of UTF-8. Texts are read one behind the other as they
// are, so that each line ends with a newline, and one that is longer than a message may go on in the next.
func (b *Bus) PublishLog(ctx context.Context, project, function string, l *pb.LogLines) error {
	return b.publish(ctx, logs+token(project)+"."+token(function), l)
}

// LogStart is where reading a log begins: behind a position, and not before a time. The position 0, and one that the
// log has not reached because it was begun anew, are before all lines.
type LogStart struct {
	Since time.Time
	After uint64
}

// logBatch is how many messages are asked for at once: they come without a pause, whatever their reader's pace.
const logBatch = 256

// ReadLog calls take with the lines of a function's instances, the oldest first, until take returns false, and returns
// the position behind which the next lines will be. A reader that continues there misses no line and sees none twice.
// It holds one batch of messages in memory, whatever the log's size.
func (b *Bus) ReadLog(ctx context.Context, project, function string, from LogStart,
	take func(*pb.LogLines) bool) (position uint64, err error) {
	stream, err := b.js.Stream(ctx, logStream)
	if err != nil {
		return 0, unavailable(err)
	}
	end := stream.CachedInfo().State.LastSeq
	if from.After > 0 && from.After == end {
		return end, nil
	}
	config := jetstream.ConsumerConfig{
		FilterSubject: logs + token(project) + "." + token(function),
		DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &from.Since,
	}
	if from.After > 0 && from.After < end {
		config.DeliverPolicy, config.OptStartTime, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, nil,
			from.After+1
	}
	if from.After < end {
		position = from.After
	}
	r := streamReader{batch: logBatch, lost: "a part of the log was lost on its way, try again"}
	r.take = func(msg jetstream.Msg, about *jetstream.MsgMetadata) bool {
		l := new(pb.LogLines)
		// Leave out lines that cannot be decoded.
		readable := proto.Unmarshal(msg.Data(), l) == nil && !about.Timestamp.Before(from.Since)
		if readable && !take(l) {
			return false
		}
		position = max(position, about.Sequence.Stream)
		return true
	}
	whole, err := r.read(ctx, stream, config)
	if whole {
		position = max(position, end) // behind lines of other functions
	}
	return position, err
}
