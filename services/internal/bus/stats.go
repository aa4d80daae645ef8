package bus

import (
	"context"

	"github.com/nats-io/nats.go"

	"matchmaker.dev/services/internal/platform/account"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// StreamUse is how many bytes a stream has, and the most that it may have, 0 where it has no limit of its own.
type StreamUse struct {
	Stream       string // matches, logs, events or modules
	Bytes, Limit int64
}

// Streams reads what the streams take that this process makes.
func (b *Bus) Streams(ctx context.Context) ([]StreamUse, error) {
	names := map[string]string{
		matchStream: "matches", logStream: "logs", eventStream: "events", moduleStream: "modules",
	}
	var all []StreamUse
	for _, stream := range streamsOf(b.options.Service) {
		if b.options.Service != account.All && makerOf(stream) != b.options.Service {
			continue
		}
		use, err := b.streamUse(ctx, stream)
		if err != nil {
			return nil, err
		}
		use.Stream = names[stream]
		all = append(all, use)
	}
	return all, nil
}

// ModuleBytes is what the stored modules of all projects take.
func (b *Bus) ModuleBytes(ctx context.Context) (int64, error) {
	use, err := b.streamUse(ctx, moduleStream)
	return use.Bytes, err
}

func (b *Bus) streamUse(ctx context.Context, name string) (StreamUse, error) {
	stream, err := b.js.Stream(ctx, name)
	if err != nil {
		b.restoreMissing(err)
		return StreamUse{}, unavailable(err)
	}
	info := stream.CachedInfo()
	return StreamUse{Bytes: int64(info.State.Bytes), Limit: max(0, info.Config.MaxBytes)}, nil
}

// OnRunStats calls handle with the times of every run of any requester, for measurements. It reads all answers.
func (b *Bus) OnRunStats(handle func(*pb.RunStats)) (Subscription, error) {
	return subscribe(b, partsRoot+">", "", func(_ context.Context, _ string, p *pb.RunPart, _ *nats.Msg) {
		if stats := p.GetStats(); p.GetLast() && stats != nil {
			handle(stats)
		}
	})
}

// OnMessages calls handle with the subject of every message, for measurements.
func (b *Bus) OnMessages(handle func(subject string)) (Subscription, error) {
	sub, err := b.conn.Subscribe(">", func(msg *nats.Msg) { handle(msg.Subject) })
	if err != nil {
		return nil, unavailable(err)
	}
	return newSubscription(sub), nil
}
