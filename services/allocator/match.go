package allocator

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/assignment"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/telemetry"
)

// crowded is about how long a match that found no free hand waits in the queue at least, and mostCrowded at most.
const (
	crowded     = 250 * time.Millisecond
	mostCrowded = 4 * time.Second
)

// match takes a match through its allocation. An error means that the queue must
// hand it out again.
func (s *service) match(ctx context.Context, project, id string, attempt int) (err error) {
	m, err := s.Store.Match(ctx, project, id)
	if problem.KindOf(err) == problem.NotFound {
		return nil // it is over: only the acknowledgement was lost
	}
	if err != nil {
		return err
	}
	ctx, span := s.traced(ctx, project, m, attempt)
	defer func() { s.matched(span, err) }()
	hosting := hostingOf(m)
	in, again := s.lanes.enter(ctx, project, hosting)
	if in == nil {
		pause := min(max(again, crowded*time.Duration(attempt)), mostCrowded)
		return bus.Later(pause/2 + rand.N(pause)) //nolint:gosec // spreads those who wait, hides nothing
	}
	defer s.lanes.leave(in)
	if err := in.start(ctx); err != nil {
		return err
	}
	defer in.done()

	now := s.Now()
	g, deadline := s.newGrip(now), now.Add(s.Settings.Deadline)
	begun, err := s.Store.BeginAllocation(ctx, project, m, state.MatchLease{
		Holder: g.holder, Now: now, Expires: g.until, Deadline: deadline, ClaimDeadline: deadline.Add(s.Settings.Slack),
	})
	if err != nil {
		return err
	}
	switch begun.Status {
	case state.MatchActive:
		return s.serve(ctx, project, m, in, g, begun)
	case state.MatchLeased:
		return bus.Later(begun.Wait)
	case state.MatchDropped:
		s.Log.DebugContext(ctx, "a ticket left before its match had a server", "project", project, "match", id)
		s.staged(ctx, "ticket released", project, m, nil, "left")
		s.poke(ctx, project, begun.Position)
	case state.MatchReleased:
		s.kick() // its server, if it has one, is among the returns
	}
	return nil
}

// serve gets a server for a match that is in hand, or the reason why there is none, and writes it.
func (s *service) serve(ctx context.Context, project string, m *pb.Match, in *lane, g *grip, begun state.Allocation) error {
	held, release := s.keep(ctx, project, m.GetId(), g)
	limited, cancel := context.WithTimeout(held, begun.Deadline.Sub(s.Now()))
	o := s.find(limited, project, m, in, begun.First)
	cancel()
	lost := errors.Is(context.Cause(held), errLost)
	release()
	switch {
	case o.connection != "":
		return s.assign(ctx, project, m, o)
	case ctx.Err() != nil:
		s.yield(ctx, project, m.GetId(), g)
		return context.Cause(ctx) // this allocator stops; another goes on
	case lost:
		return bus.Later(crowded)
	default:
		return s.fail(ctx, project, m, o)
	}
}

// find asks for a server with what only the provider needs to know.
func (s *service) find(ctx context.Context, project string, m *pb.Match, in *lane, first bool) outcome {
	r, err := s.requestOf(project, m)
	if err != nil {
		// Another allocator may have the key; if none has it, this is the reason.
		return outcome{err: provider.Fail(provider.Refused, "the hosting keys of the config cannot be decrypted").Because(err), held: !first}
	}
	r.First = first
	began := time.Now()
	o := s.ask(ctx, &in.polls, r)
	s.allocated(context.WithoutCancel(ctx), r.Hosting, began, o)
	return o
}

// fail writes why there is no server to the match's tickets, or lets them wait again.
func (s *service) fail(ctx context.Context, project string, m *pb.Match, o outcome) error {
	f := failureOf(o.err, hostingOf(m))
	telemetry.Fail(trace.SpanFromContext(ctx), f.reason, f.detail)
	s.Log.WarnContext(ctx, "no server for a match", "project", project, "match", m.GetId(), "config", m.GetConfig(), "reason", f.reason, "error", o.err)
	if f.requeues(m.GetHosting().GetOnAllocationError()) {
		position, err := s.Store.ReleaseMatch(ctx, project, m, o.held, "allocation", s.Now())
		if err != nil {
			return err
		}
		s.staged(ctx, "ticket released", project, m, nil, f.reason)
		s.poke(ctx, project, position)
		s.kick()
		return nil
	}
	now := s.Now()
	return s.end(ctx, project, m, state.Outcome{
		Now: now, Expiry: now.Add(s.Settings.Readable), Error: f.code, Reason: f.reason, MayHaveServer: o.held,
	}, f.detail)
}

// assign writes the server to the match's tickets.
func (s *service) assign(ctx context.Context, project string, m *pb.Match, o outcome) error {
	now := s.Now()
	end := state.Outcome{Now: now, Expiry: now.Add(s.Settings.Readable), Connection: o.connection}
	if s.Tokens != nil {
		end.Server, end.KeepServer = serverOf(m, now), now.Add(s.Tokens.TTL()+grace)
	}
	return s.end(ctx, project, m, end, "")
}

// end writes the result of a match. A server that nobody goes to is given back.
func (s *service) end(ctx context.Context, project string, m *pb.Match, end state.Outcome, detail string) error {
	ctx, span := s.Tracer.Start(ctx, "assign")
	defer span.End()
	results := map[string]*pb.Assignment{}
	for _, id := range state.TicketsOf(m.GetProposal()) {
		results[id] = assignment.Of(m.GetProposal(), id, end.Connection, end.Error)
		results[id].Detail = detail
		if len(m.GetTraced()) > 0 {
			results[id].Trace = telemetry.Mark(ctx)
		}
	}
	// A process that is stopped still writes what it knows: nobody else would know it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Settings.Call)
	defer cancel()
	verdict, assigned, err := s.Store.Assign(ctx, project, m, end, results)
	if err != nil {
		telemetry.Fail(span, "unavailable", err.Error())
		return err
	}
	s.staged(ctx, "ticket assigned", project, m, slices.Concat([]string{}, assigned), end.Reason)
	if verdict != state.MatchAssigned && (end.MayHaveServer || end.Connection != "" && len(assigned) == 0) {
		s.kick()
	}
	s.told(ctx, project, m, assigned, end.Now, end.Connection == "")
	if err := s.Bus.Assigned(ctx, project, assigned); err != nil {
		s.Log.WarnContext(ctx, "waking the waiting", "project", project, "error", err)
	}
	return nil
}

// poke tells the director that tickets wait again. A lost poke costs a cycle's longest interval.
func (s *service) poke(ctx context.Context, project string, position uint64) {
	if position == 0 {
		return
	}
	if err := s.Bus.Poke(ctx, project, &pb.Poke{Position: position}); err != nil {
		s.Log.WarnContext(ctx, "poking the director", "project", project, "error", err)
	}
}
