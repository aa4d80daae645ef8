package bus

import (
	"context"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Poke tells directors what changed in a project, and runners if functions changed, a config was deleted, or a
// simulation is not wanted any more: of tickets a run tells them. A failure is logged: a replica that misses a poke
// notices the change by itself, later.
func (b *Bus) Poke(ctx context.Context, project string, p *pb.Poke) {
	b.notify(ctx, pokes, project, p)
	if ConcernsFunctions(p) {
		b.notify(ctx, functions, project, p)
	}
}

// ConcernsFunctions reports whether runners hear a poke.
func ConcernsFunctions(p *pb.Poke) bool {
	return p.GetFunctions() || p.GetDeleted() != "" || p.GetUnasked() != ""
}

// PokeTickets tells directors that tickets or backfill tickets changed, up to a position of the project's feed. The
// position 0 means that nothing changed. queues are the queues of the tickets, "" for tickets without one; without any,
// all may have changed.
func (b *Bus) PokeTickets(ctx context.Context, project string, position uint64, queues ...string) {
	if position > 0 {
		b.Poke(ctx, project, &pb.Poke{Position: position, Queues: queues})
	}
}

// OnPoke hears the pokes of all projects.
func (b *Bus) OnPoke(handle func(project string, p *pb.Poke)) (Subscription, error) {
	return subscribeProjects(b, pokes, handle)
}

// OnFunctions hears the pokes of all projects that concern functions.
func (b *Bus) OnFunctions(handle func(project string, p *pb.Poke)) (Subscription, error) {
	return subscribeProjects(b, functions, handle)
}

// notify publishes a message that subscribers can do without. It is dropped while there is no server: stored until
// there is one, it would be of no use any more.
func (b *Bus) notify(ctx context.Context, subject, project string, m proto.Message) {
	if !b.conn.IsConnected() {
		return
	}
	if err := b.publish(ctx, subject+token(project), m); err != nil {
		b.log.WarnContext(ctx, "message bus: subscribers were not notified", "subject", subject+"*", "project", project,
			"error", err)
	}
}

// Heartbeat says what a runner hosts.
func (b *Bus) Heartbeat(ctx context.Context, s *pb.RunnerStatus) error {
	return b.publish(ctx, runner, s)
}

// OnHeartbeat hears the heartbeats of all runners.
func (b *Bus) OnHeartbeat(handle func(*pb.RunnerStatus)) (Subscription, error) {
	return subscribe(b, runner, "", func(_ context.Context, _ string, s *pb.RunnerStatus, _ *nats.Msg) { handle(s) })
}

// TicketHeartbeat says that a ticket service can take the answers of players.
func (b *Bus) TicketHeartbeat(ctx context.Context, s *pb.TicketStatus) error {
	return b.publish(ctx, tickets, s)
}

// OnTicketHeartbeat hears the heartbeats of all ticket services.
func (b *Bus) OnTicketHeartbeat(handle func(*pb.TicketStatus)) (Subscription, error) {
	return subscribe(b, tickets, "", func(_ context.Context, _ string, s *pb.TicketStatus, _ *nats.Msg) { handle(s) })
}
