package bus

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Log keeps what an instance of a function wrote.
func (b *Bus) Log(ctx context.Context, project, function string, l *pb.LogLines) error {
	return b.say(ctx, logs+token(project)+"."+token(function), l)
}

// Logs reads what a function's instances wrote since a time, the oldest first.
func (b *Bus) Logs(ctx context.Context, project, function string, since time.Time) ([]*pb.LogLines, error) {
	lines, _, err := b.LogsAfter(ctx, project, function, since, 0)
	return lines, err
}

// LogsAfter reads what a function's instances wrote since a time and behind a position, the oldest first, and returns the
// position behind which the next lines will be. Who reads on from there misses no line and sees none twice. The position 0, and one
// that the log has not reached because it was begun anew, are before all lines.
func (b *Bus) LogsAfter(ctx context.Context, project, function string, since time.Time, after uint64) ([]*pb.LogLines, uint64, error) {
	stream, err := b.js.Stream(ctx, logStream)
	if err != nil {
		return nil, 0, lost(err)
	}
	// What is written from here on may be read all the same, and then moves the position.
	position := stream.CachedInfo().State.LastSeq
	from := jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{logs + token(project) + "." + token(function)},
		DeliverPolicy:  jetstream.DeliverByStartTimePolicy,
		OptStartTime:   &since,
	}
	switch {
	case after > 0 && after == position:
		return nil, position, nil
	case after > 0 && after < position:
		from.DeliverPolicy, from.OptStartTime, from.OptStartSeq = jetstream.DeliverByStartSequencePolicy, nil, after+1
	}
	consumer, err := stream.OrderedConsumer(ctx, from)
	if err != nil {
		return nil, 0, lost(err)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return nil, 0, lost(err)
	}
	var lines []*pb.LogLines
	for pending := info.NumPending; pending > 0; {
		batch, err := consumer.Fetch(int(min(pending, 1000)), jetstream.FetchContext(ctx))
		if err != nil {
			return nil, 0, lost(err)
		}
		got := uint64(0)
		for msg := range batch.Messages() {
			got++
			about, err := msg.Metadata()
			if err != nil {
				return nil, 0, lost(err)
			}
			position = max(position, about.Sequence.Stream)
			l := new(pb.LogLines)
			if err := proto.Unmarshal(msg.Data(), l); err == nil && !about.Timestamp.Before(since) {
				lines = append(lines, l)
			}
		}
		if err := batch.Error(); err != nil {
			return nil, 0, lost(err)
		}
		if got == 0 {
			break // they were removed meanwhile, by age or size
		}
		pending -= min(got, pending)
	}
	return lines, position, nil
}
