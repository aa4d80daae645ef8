package bus

import (
	"cmp"
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/proposals"
)

// NoRunner is the error of a run's last part when no runner hosts the function. OtherUpload: the runner serves another
// upload than the request expects. Dropped: the answer came faster than it was read. Busy begins the error of a run
// that never began, since the runner had too many others.
const (
	NoRunner    = "no runner has an instance of this function"
	OtherUpload = "another upload of the function serves on this runner"
	Busy        = "the runner was busy with other runs"
	Dropped     = "a part of the answer was dropped: too many proposals of the project are under way"
)

// partsPending is Options.PartsPending where that is 0.
const partsPending = 64 << 20

// The reader of a project's parts rests after each restAfter of work on parts of longPart bytes or more, as long as
// fewer bytes than restBelow wait for it.
const (
	restAfter = time.Millisecond
	longPart  = 64 << 10
	restBelow = 16 << 20
)

// partsIdle is how long a project may have no runs before its subscription ends.
const partsIdle = time.Minute

// Part is one part of the answer to a run.
type Part struct {
	*pb.RunPart
	// Bytes is the size of its message.
	Bytes int
}

// Run is a run that was asked for.
type Run struct {
	// Bytes is the size of the request as a message.
	Bytes int
	stop  func()
}

// NewRun makes the run of a request of so many bytes, which stop ends.
func NewRun(bytes int, stop func()) *Run { return &Run{bytes, stop} }

// Stop ends the run: parts that still arrive are dropped.
func (r *Run) Stop() { r.stop() }

// waiting is a run whose parts are awaited.
type waiting struct {
	answers *answers
	id      string
	next    uint32
	dropped int // messages of the subscription when the run started
	parts   func(Part)
}

// answers is the subscription to the answers of one project's runs. Each has a goroutine of its own, so that no project
// waits for the parts of another. Its fields belong to the mutex of the bus.
type answers struct {
	bus  *Bus
	sub  *nats.Subscription
	runs map[string]*waiting
	// used is when a run started last.
	used time.Time
	// worked is how long the goroutine has worked on long parts since it rested. It belongs to that.
	worked time.Duration
}

// StartRun asks one of the runners that host the function for a run. parts gets each part of the answer in order, from
// one goroutine for all runs of the project on this bus, which rests when parts are long: it must not block. A last
// part always has Last set; a lost part shows as a last part with an error. When no runner answers, no part comes: the
// caller keeps a deadline of its own, and ends every run with Stop. Without a connection to the server it sends no
// request: requests that wait for a connection would all come at once, after their deadlines.
func (b *Bus) StartRun(ctx context.Context, r *pb.RunRequest, parts func(Part)) (*Run, error) {
	if !b.conn.IsConnected() {
		return nil, unavailable(nats.ErrDisconnected)
	}
	msg, err := b.message(ctx, runs+token(r.GetProject())+"."+token(r.GetFunction()), r)
	if err != nil {
		return nil, err
	}
	run, err := b.expect(r, parts)
	if err != nil {
		return nil, err
	}
	msg.Reply = b.partsOf(r.GetProject()) + r.GetRun()
	if err := b.conn.PublishMsg(msg); err != nil {
		run.stop()
		return nil, unavailable(err)
	}
	return NewRun(len(msg.Data), run.stop), nil
}

func (w *waiting) stop() {
	b := w.answers.bus
	b.mu.Lock()
	delete(w.answers.runs, w.id)
	b.mu.Unlock()
}

// Limits of what waits in a function's subscription before its handler gets it. The handler does not block, so more
// means that it is stuck: messages beyond this are dropped, and the requester retries.
const (
	maxPendingRuns  = 4096
	maxPendingBytes = 32 << 20
)

// ServeRuns takes runs of a function. The requester is told which runner has the run, unless the answer comes at once.
// handle must not block the subscription: it starts the run and returns.
func (b *Bus) ServeRuns(runner, project, function string,
	handle func(ctx context.Context, r *pb.RunRequest, answer SendPart)) (Subscription, error) {
	s, err := subscribe(b, runs+token(project)+"."+token(function), runnerQueue,
		func(ctx context.Context, _ string, r *pb.RunRequest, msg *nats.Msg) {
			publish := func(p *pb.RunPart) error { return b.publish(ctx, msg.Reply, p) }
			answer := NewAnswer(runner, r.GetRun(), publish, func(err error) {
				b.log.WarnContext(ctx, "message bus: taking a run", "function", r.GetFunction(), "error", err)
			})
			handle(ctx, r, answer)
		})
	if err != nil {
		return nil, err
	}
	if err := s.sub.SetPendingLimits(maxPendingRuns, maxPendingBytes); err != nil {
		s.Stop()
		return nil, unavailable(err)
	}
	// Once the server has the subscription, every director that learns of this runner can reach it. Without a connection
	// that is later.
	_ = b.conn.FlushTimeout(time.Second)
	return s, nil
}

// partsOf is where the parts of a project's runs come in, without the run. The project stands in the token of the bus:
// so what accounts may do does not change with it.
func (b *Bus) partsOf(project string) string { return partsRoot + b.inbox + "-" + token(project) + "." }

// expect makes a run whose parts are received, and subscribes to the parts of its project if there is no subscription.
func (b *Bus) expect(r *pb.RunRequest, parts func(Part)) (*waiting, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	project, now := r.GetProject(), time.Now()
	a := b.answers[project]
	if a == nil {
		b.endIdle(now)
		a = &answers{bus: b, runs: map[string]*waiting{}}
		subject := b.partsOf(project)
		var err error
		a.sub, err = b.conn.Subscribe(subject+"*", func(msg *nats.Msg) { a.receive(msg, msg.Subject[len(subject):]) })
		if err != nil {
			return nil, unavailable(err)
		}
		most := cmp.Or(b.options.PartsPending, partsPending)
		if err := a.sub.SetPendingLimits(nats.DefaultSubPendingMsgsLimit, most); err != nil {
			_ = a.sub.Unsubscribe()
			return nil, unavailable(err)
		}
		b.answers[project] = a
	}
	a.used = now
	dropped, _ := a.sub.Dropped() // an error means that it is closed, as the publication will say
	run := &waiting{answers: a, id: r.GetRun(), dropped: dropped, parts: parts}
	a.runs[run.id] = run
	return run, nil
}

// endIdle ends the subscriptions of projects that have no runs any more. The caller holds the mutex.
func (b *Bus) endIdle(now time.Time) {
	for project, a := range b.answers {
		if len(a.runs) == 0 && now.Sub(a.used) > partsIdle {
			_ = a.sub.Unsubscribe() // an error means that it is closed
			delete(b.answers, project)
		}
	}
}

// receive hands a part to its run. Parts of runs that ended are not even read.
func (a *answers) receive(msg *nats.Msg, id string) {
	a.bus.mu.Lock()
	run := a.runs[id]
	a.bus.mu.Unlock()
	if run == nil {
		return
	}
	began, p := time.Now(), new(pb.RunPart)
	switch err := proto.Unmarshal(msg.Data, p); {
	case msg.Header.Get("Status") == "503":
		p = &pb.RunPart{Run: id, Last: true, Error: NoRunner}
	case err != nil || p.GetIndex() != run.next || proposals.Unpack(p) != nil:
		p = &pb.RunPart{Run: id, Last: true, Error: "a part of the answer was lost"}
		if dropped, err := a.sub.Dropped(); err == nil && dropped > run.dropped {
			p.Error = Dropped
		}
	}
	run.next++
	if p.GetLast() {
		run.stop()
	}
	run.parts(Part{RunPart: p, Bytes: len(msg.Data)})
	if len(msg.Data) >= longPart && !p.GetLast() {
		a.rest(time.Since(began))
	}
}

// rest lets others work, if there was work for long enough since the last rest.
func (a *answers) rest(worked time.Duration) {
	if a.worked += worked; a.worked < restAfter {
		return
	}
	a.worked = 0
	if _, waiting, err := a.sub.Pending(); err == nil && waiting < restBelow {
		a.bus.options.Rest()
	}
}
