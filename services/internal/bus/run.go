package bus

import (
	"context"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/proposals"
)

// NoRunner is the error of a run's last part when no runner hosts the function.
const NoRunner = "no runner has an instance of this function"

// Run is a run that this bus asked for.
type Run struct {
	bus   *Bus
	id    string
	next  uint32
	parts func(*pb.RunPart)
}

// StartRun asks one of the runners that host the function for a run. parts gets each part of the answer in order, from
// one goroutine for all runs of this bus: it must not block. A last part always has Last set; a lost part shows as a
// last part with an error. When nobody answers, no part comes: the caller keeps a deadline of its own, and ends every
// run with Stop. While there is no server nothing is asked: requests that wait for one would all come at once, long
// after anybody wants an answer.
func (b *Bus) StartRun(ctx context.Context, r *pb.RunRequest, parts func(*pb.RunPart)) (*Run, error) {
	if !b.conn.IsConnected() {
		return nil, unavailable(nats.ErrDisconnected)
	}
	msg, err := b.message(ctx, runs+token(r.GetProject())+"."+token(r.GetFunction()), r)
	if err != nil {
		return nil, err
	}
	if err := b.subscribeParts(); err != nil {
		return nil, err
	}
	msg.Reply = b.partsOf(r.GetRun())
	run := &Run{bus: b, id: r.GetRun(), parts: parts}
	b.mu.Lock()
	b.runs[run.id] = run
	b.mu.Unlock()
	if err := b.conn.PublishMsg(msg); err != nil {
		run.Stop()
		return nil, unavailable(err)
	}
	return run, nil
}

// Stop ends the run: parts that still arrive are dropped.
func (r *Run) Stop() {
	r.bus.mu.Lock()
	delete(r.bus.runs, r.id)
	r.bus.mu.Unlock()
}

// SendPart sends the next part of a run's answer.
type SendPart func(*pb.RunPart) error

// ServeRuns takes runs of a function, and tells who asked at once that this runner has the run. handle must not block
// the subscription: it starts the run and returns.
func (b *Bus) ServeRuns(runner, project, function string,
	handle func(ctx context.Context, r *pb.RunRequest, answer SendPart)) (Subscription, error) {
	return subscribe(b, runs+token(project)+"."+token(function), runnerQueue,
		func(ctx context.Context, _ string, r *pb.RunRequest, msg *nats.Msg) {
			var index uint32
			answer := func(p *pb.RunPart) error {
				p.Run, p.Index = r.GetRun(), index
				index++
				return b.publish(ctx, msg.Reply, p)
			}
			if err := answer(&pb.RunPart{Runner: runner}); err != nil {
				b.log.WarnContext(ctx, "message bus: taking a run", "function", r.GetFunction(), "error", err)
			}
			handle(ctx, r, answer)
		})
}

func (b *Bus) partsOf(run string) string { return partsRoot + b.inbox + "." + run }

// subscribeParts subscribes to the parts of all runs of this bus, before its first run: most processes never start one.
func (b *Bus) subscribeParts() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.partsSubscribed {
		return nil
	}
	_, err := b.conn.Subscribe(b.partsOf("*"), func(msg *nats.Msg) {
		id := msg.Subject[len(b.partsOf("")):]
		b.mu.Lock()
		run := b.runs[id]
		b.mu.Unlock()
		if run == nil {
			return
		}
		p := new(pb.RunPart)
		switch err := proto.Unmarshal(msg.Data, p); {
		case msg.Header.Get("Status") == "503":
			p = &pb.RunPart{Run: id, Last: true, Error: NoRunner}
		case err != nil || p.GetIndex() != run.next || proposals.Unpack(p) != nil:
			p = &pb.RunPart{Run: id, Last: true, Error: "a part of the answer was lost"}
		}
		run.next++
		if p.GetLast() {
			run.Stop()
		}
		run.parts(p)
	})
	b.partsSubscribed = err == nil
	return unavailable(err)
}
