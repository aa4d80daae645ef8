package bus

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Poke tells a project's director that something changed.
func (b *Bus) Poke(ctx context.Context, project string, p *pb.Poke) error {
	return b.mention(ctx, pokes+token(project), p)
}

// OnPoke hears the pokes of all projects.
func (b *Bus) OnPoke(handle func(project string, p *pb.Poke)) (Subscription, error) {
	return hear(b, pokes+"*", "", func(_ context.Context, subject string, p *pb.Poke, _ *nats.Msg) {
		handle(named(strings.TrimPrefix(subject, pokes)), p)
	})
}

// NotifyAssigned wakes those who wait for these tickets' results.
func (b *Bus) NotifyAssigned(ctx context.Context, project string, tickets []string) error {
	const most = 4096 // ids of 36 bytes: far below a message's limit
	for len(tickets) > 0 {
		n := min(most, len(tickets))
		if err := b.mention(ctx, assigned+token(project), &pb.Assigned{Tickets: tickets[:n]}); err != nil {
			return err
		}
		tickets = tickets[n:]
	}
	return nil
}

// OnAssigned hears which tickets of all projects got a result.
func (b *Bus) OnAssigned(handle func(project string, tickets []string)) (Subscription, error) {
	return hear(b, assigned+"*", "", func(_ context.Context, subject string, a *pb.Assigned, _ *nats.Msg) {
		handle(named(strings.TrimPrefix(subject, assigned)), a.GetTickets())
	})
}

// Heartbeat says what a runner hosts.
func (b *Bus) Heartbeat(ctx context.Context, s *pb.RunnerStatus) error {
	return b.say(ctx, runner, s)
}

// OnHeartbeat hears the heartbeats of all runners.
func (b *Bus) OnHeartbeat(handle func(*pb.RunnerStatus)) (Subscription, error) {
	return hear(b, runner, "", func(_ context.Context, _ string, s *pb.RunnerStatus, _ *nats.Msg) { handle(s) })
}
