package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/match/proposals"
)

// hub is the bus of a world.
type hub struct {
	gate *gate

	mu            sync.Mutex
	subscriptions []*subscription
	runs          map[string]*awaited // by run
	queue         queue
	stream        stream
	modules       map[string][]byte
}

func newHub(g *gate) *hub {
	h := &hub{gate: g, runs: map[string]*awaited{}, modules: map[string][]byte{},
		stream: stream{projects: map[string][]*pb.Events{}}}
	h.queue = queue{hub: h, sent: map[string]time.Time{}}
	return h
}

// subscription is one of a process to a topic.
type subscription struct {
	hub     *hub
	process *process
	topic   string
	handle  func(project string, message []byte, reply func([]byte, string))
	done    chan struct{}
}

// Stop implements bus.Subscription. What is delivered from now on is dropped.
func (s *subscription) Stop() <-chan struct{} {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	n := len(s.hub.subscriptions)
	s.hub.subscriptions = slices.DeleteFunc(s.hub.subscriptions, func(other *subscription) bool { return other == s })
	if len(s.hub.subscriptions) < n {
		close(s.done)
	}
	return s.done
}

func (h *hub) subscribe(
	p *process, topic string, handle func(project string, message []byte, reply func([]byte, string)),
) *subscription {
	s := &subscription{hub: h, process: p, topic: topic, handle: handle, done: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subscriptions = append(h.subscriptions, s)
	return s
}

// subscribers are the subscribers of a topic that live, in the order of their processes.
func (h *hub) subscribers(topic string) (all []*subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.subscriptions {
		if s.topic == topic && !s.process.dead() {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *subscription) int { return strings.Compare(a.process.name, b.process.name) })
	return all
}

// deliveries are the faults of a delivery.
var deliveries = []fault{lose, repeat, late}

// publish sends a message to all subscribers of a topic.
func (h *hub) publish(topic, project string, m proto.Message) error {
	message, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	for _, s := range h.subscribers(topic) {
		h.gate.add(&step{
			from: s.process, label: fmt.Sprintf("%s %s %d", topic, project, len(message)), faults: deliveries,
			do: func(f fault) { s.deliver(project, message, f) },
		})
	}
	return nil
}

// deliver lets the subscriber handle a message. The gate waits for it.
func (s *subscription) deliver(project string, message []byte, f fault) {
	if f == lose || s.process.dead() {
		return
	}
	go func() {
		s.handle(project, message, nil)
		if f == repeat {
			s.handle(project, message, nil)
		}
	}()
}

// port is the bus as a process sees it.
type port struct {
	*hub
	process *process
}

// The topics.
const (
	pokes      = "poke"
	functions  = "function"
	assigned   = "assigned"
	heartbeats = "heartbeat"
	listening  = "ticket"
	published  = "event"
	parties    = "party"
)

// Ready returns what a connected bus returns.
func (p port) Ready(context.Context) error { return nil }

// Poke implements bus.Bus, as do all methods below.
func (p port) Poke(_ context.Context, project string, m *pb.Poke) {
	if p.process.dead() {
		return
	}
	_ = p.publish(pokes, project, m) // it can be marshalled
	if bus.ConcernsFunctions(m) {
		_ = p.publish(functions, project, m)
	}
}

// PokeTickets pokes when something changed.
func (p port) PokeTickets(ctx context.Context, project string, position uint64, queues ...string) {
	if position > 0 {
		p.Poke(ctx, project, &pb.Poke{Position: position, Queues: queues})
	}
}

// OnPoke hears pokes.
func (p port) OnPoke(handle func(project string, m *pb.Poke)) (bus.Subscription, error) {
	return p.onPoke(pokes, handle)
}

// OnFunctions hears the pokes that concern functions.
func (p port) OnFunctions(handle func(project string, m *pb.Poke)) (bus.Subscription, error) {
	return p.onPoke(functions, handle)
}

func (p port) onPoke(topic string, handle func(project string, m *pb.Poke)) (bus.Subscription, error) {
	return p.subscribe(p.process, topic, func(project string, message []byte, _ func([]byte, string)) {
		m := new(pb.Poke)
		if proto.Unmarshal(message, m) == nil {
			handle(project, m)
		}
	}), nil
}

// NotifyAssigned wakes the requests that wait for results.
func (p port) NotifyAssigned(ctx context.Context, project string, tickets []string) {
	p.NotifyResults(ctx, project, tickets, nil)
}

// NotifyEnded wakes them and says why the tickets ended.
func (p port) NotifyEnded(_ context.Context, project string, tickets []string, reason string) {
	if len(tickets) > 0 {
		_ = p.publish(assigned, project, &pb.Assigned{Tickets: tickets, Ended: reason})
	}
}

// NotifyResults wakes them with results.
func (p port) NotifyResults(_ context.Context, project string, tickets []string, results []*pb.Assignment) {
	if len(tickets) > 0 && !p.process.dead() {
		_ = p.publish(assigned, project, bus.AssignedMessage(tickets, results)) // it can be marshalled, and matches are small
	}
}

// OnResults hears of results.
func (p port) OnResults(handle func(project string, a bus.Assigned)) (bus.Subscription, error) {
	return p.subscribe(p.process, assigned, func(project string, message []byte, _ func([]byte, string)) {
		m := new(pb.Assigned)
		if proto.Unmarshal(message, m) == nil {
			handle(project, bus.Assigned{Message: m})
		}
	}), nil
}

// NotifyParty wakes the requests that wait for changes of a party.
func (p port) NotifyParty(_ context.Context, project string, changed *pb.PartyChanged) {
	if !p.process.dead() {
		_ = p.publish(parties, project, changed) // it can be marshalled
	}
}

// OnParty hears which parties changed.
func (p port) OnParty(handle func(project string, changed *pb.PartyChanged)) (bus.Subscription, error) {
	return p.subscribe(p.process, parties, func(project string, message []byte, _ func([]byte, string)) {
		m := new(pb.PartyChanged)
		if proto.Unmarshal(message, m) == nil {
			handle(project, m)
		}
	}), nil
}

// OnEvents hears a project's events.
func (p port) OnEvents(project string, handle func(*pb.Events)) (bus.Subscription, error) {
	return p.subscribe(p.process, published, func(of string, message []byte, _ func([]byte, string)) {
		m := new(pb.Events)
		if of == project && proto.Unmarshal(message, m) == nil {
			handle(m)
		}
	}), nil
}

// Heartbeat sends a runner's.
func (p port) Heartbeat(_ context.Context, s *pb.RunnerStatus) error {
	if p.process.dead() {
		return errLost
	}
	return p.publish(heartbeats, "", s)
}

// OnHeartbeat subscribes to heartbeats of runners.
func (p port) OnHeartbeat(handle func(*pb.RunnerStatus)) (bus.Subscription, error) {
	return p.subscribe(p.process, heartbeats, func(_ string, message []byte, _ func([]byte, string)) {
		m := new(pb.RunnerStatus)
		if proto.Unmarshal(message, m) == nil {
			handle(m)
		}
	}), nil
}

// TicketHeartbeat sends a ticket service's.
func (p port) TicketHeartbeat(_ context.Context, s *pb.TicketStatus) error {
	if p.process.dead() {
		return errLost
	}
	return p.publish(listening, "", s)
}

// OnTicketHeartbeat subscribes to heartbeats of ticket services.
func (p port) OnTicketHeartbeat(handle func(*pb.TicketStatus)) (bus.Subscription, error) {
	return p.subscribe(p.process, listening, func(_ string, message []byte, _ func([]byte, string)) {
		s := new(pb.TicketStatus)
		if proto.Unmarshal(message, s) == nil {
			handle(s)
		}
	}), nil
}

// PublishLog drops what functions write.
func (p port) PublishLog(context.Context, string, string, *pb.LogLines) error { return nil }

// awaited is a run whose parts a process waits for.
type awaited struct {
	process *process
	parts   func(bus.Part)
	next    uint32
	// sent are the parts on their way. They arrive in their order, as from a connection.
	sent [][]byte
}

// StartRun asks one of the runners for a run.
func (p port) StartRun(_ context.Context, r *pb.RunRequest, parts func(bus.Part)) (*bus.Run, error) {
	if p.process.dead() {
		return nil, errLost
	}
	message, err := proto.Marshal(r)
	if err != nil {
		return nil, err
	}
	id := r.GetRun()
	p.mu.Lock()
	p.runs[id] = &awaited{process: p.process, parts: parts}
	p.mu.Unlock()
	topic := "run " + r.GetProject() + " " + r.GetFunction()
	p.gate.add(&step{label: topic + " for " + p.process.name + " " + id, faults: []fault{lose, late}, do: func(f fault) {
		if f == lose {
			return
		}
		hosts := p.subscribers(topic)
		if len(hosts) == 0 {
			p.answer(id, &pb.RunPart{Run: id, Last: true, Error: bus.NoRunner})
			return
		}
		s := hosts[p.gate.pick(len(hosts))]
		go s.handle(r.GetProject(), message, func(part []byte, label string) { p.reply(id, part, label) })
	}})
	return bus.NewRun(len(message), func() { p.forget(id) }), nil
}

func (h *hub) forget(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.runs, run)
}

// reply sends a part of an answer.
func (h *hub) reply(run string, part []byte, label string) {
	h.mu.Lock()
	to := h.runs[run]
	if to != nil {
		to.sent = append(to.sent, part)
	}
	h.mu.Unlock()
	if to == nil {
		return
	}
	h.gate.add(&step{from: to.process, label: "part " + run + " " + label, faults: deliveries, do: func(f fault) {
		h.mu.Lock()
		first := to.sent[0]
		to.sent = to.sent[1:]
		h.mu.Unlock()
		if f == lose || to.process.dead() {
			return
		}
		go func() {
			h.receive(run, first)
			if f == repeat {
				h.receive(run, first)
			}
		}()
	}})
}

// answer answers a run without a runner.
func (h *hub) answer(run string, p *pb.RunPart) {
	part, err := proto.Marshal(p)
	if err == nil {
		h.reply(run, part, "none")
	}
}

// receive hands a part to the run that waits for it, as bus.Bus does.
func (h *hub) receive(id string, message []byte) {
	h.mu.Lock()
	run := h.runs[id]
	h.mu.Unlock()
	if run == nil {
		return
	}
	p := new(pb.RunPart)
	err := proto.Unmarshal(message, p)
	if err != nil || p.GetIndex() != run.next || proposals.Unpack(p) != nil {
		p = &pb.RunPart{Run: id, Last: true, Error: "a part of the answer was lost"}
	}
	run.next++
	if p.GetLast() {
		h.forget(id)
	}
	run.parts(bus.Part{RunPart: p, Bytes: len(message)})
}

// ServeRuns takes runs of a function.
func (p port) ServeRuns(
	runner, project, function string, handle func(ctx context.Context, r *pb.RunRequest, answer bus.SendPart),
) (bus.Subscription, error) {
	if p.process.dead() {
		return nil, errLost
	}
	topic := "run " + project + " " + function
	return p.subscribe(p.process, topic, func(_ string, message []byte, reply func([]byte, string)) {
		r := new(pb.RunRequest)
		if proto.Unmarshal(message, r) != nil {
			return
		}
		answer := bus.NewAnswer(runner, r.GetRun(), func(part *pb.RunPart) error {
			message, err := proto.Marshal(part)
			if err == nil && !p.process.dead() {
				reply(message, fmt.Sprint(part.GetIndex()))
			}
			return err
		}, func(error) {}) // a part can be marshalled
		handle(p.process.life, r, answer)
	}), nil
}
