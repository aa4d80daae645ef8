package bus

import (
	"context"

	"github.com/nats-io/nats.go"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// OnRunStats hears where the time of every run went, whoever asked for it: for those who measure. It reads all answers.
func (b *Bus) OnRunStats(handle func(*pb.RunStats)) (Subscription, error) {
	return subscribe(b, partsRoot+">", "", func(_ context.Context, _ string, p *pb.RunPart, _ *nats.Msg) {
		if stats := p.GetStats(); p.GetLast() && stats != nil {
			handle(stats)
		}
	})
}
