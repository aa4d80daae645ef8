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

// MaxMessage is the most bytes of a message that grows with what studios have. NATS takes 1 MiB with the headers.
const MaxMessage = 1<<20 - 8<<10

// Heartbeat says what a runner hosts, in parts if that is too long for one message.
func (b *Bus) Heartbeat(ctx context.Context, s *pb.RunnerStatus) error {
	if proto.Size(s) <= MaxMessage {
		return b.publish(ctx, runner, s)
	}
	data, err := proto.Marshal(s)
	if err != nil {
		return err
	}
	part := &pb.HeartbeatPart{Heartbeat: b.heartbeats.Add(1)}
	for ; !part.GetLast(); part.Index++ {
		n := min(len(data), MaxMessage)
		part.Data, part.Last, data = data[:n], n == len(data), data[n:]
		m := &pb.RunnerStatus{Runner: s.GetRunner(), Handing: s.GetHanding(), Part: part}
		if err := b.publish(ctx, runner, m); err != nil {
			return err
		}
	}
	return nil
}

// OnHeartbeat hears the heartbeats of all runners, each as a whole.
func (b *Bus) OnHeartbeat(handle func(*pb.RunnerStatus)) (Subscription, error) {
	begun := heartbeats{}
	return subscribe(b, runner, "", func(_ context.Context, _ string, s *pb.RunnerStatus, _ *nats.Msg) {
		if whole := begun.join(s); whole != nil {
			handle(whole)
		}
	})
}

// heartbeats have parts to come. By runner they are the last part that came, with the data of all before it.
type heartbeats map[string]*pb.HeartbeatPart

// maxBegun bounds heartbeats, since runners may end before they send the last part. The parts of one come together, so
// that few are begun at a time.
const maxBegun = 64

// join returns a whole heartbeat; nil if parts of it are to come or were lost.
func (h heartbeats) join(s *pb.RunnerStatus) *pb.RunnerStatus {
	part, begun := s.GetPart(), h[s.GetRunner()]
	delete(h, s.GetRunner())
	switch {
	case part == nil:
		return s
	case part.GetIndex() == 0:
	case part.GetHeartbeat() != begun.GetHeartbeat() || part.GetIndex() != begun.GetIndex()+1:
		return nil
	default:
		part.Data = append(begun.GetData(), part.GetData()...)
	}
	if !part.GetLast() {
		if len(h) == maxBegun {
			clear(h)
		}
		h[s.GetRunner()] = part
		return nil
	}
	whole := new(pb.RunnerStatus)
	if proto.Unmarshal(part.GetData(), whole) != nil {
		return nil
	}
	return whole
}

// TicketHeartbeat says that a ticket service can take the answers of players.
func (b *Bus) TicketHeartbeat(ctx context.Context, s *pb.TicketStatus) error {
	return b.publish(ctx, tickets, s)
}

// OnTicketHeartbeat hears the heartbeats of all ticket services.
func (b *Bus) OnTicketHeartbeat(handle func(*pb.TicketStatus)) (Subscription, error) {
	return subscribe(b, tickets, "", func(_ context.Context, _ string, s *pb.TicketStatus, _ *nats.Msg) { handle(s) })
}
