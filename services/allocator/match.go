package allocator

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/assignment"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// A match that the limiter does not admit waits in the queue for about minRequeue at least and maxRequeue at most. One
// that came with its content is not read at first while it is young: it has hardly ended.
const (
	minRequeue = 250 * time.Millisecond
	maxRequeue = 4 * time.Second
	young      = 2 * time.Second
)

// match takes a match through its allocation. An error means that the queue must deliver it again.
func (s *service) match(ctx context.Context, w *pb.MatchWork, attempt int) error {
	project, m, err := w.GetProject(), new(pb.Match), error(nil)
	if attempt > 1 || len(w.GetBodies()) == 0 || proto.Unmarshal(w.GetBodies()[0], m) != nil ||
		m.GetId() != w.GetMatch() || s.Store.Now().Sub(time.UnixMilli(m.GetCreated())).Abs() > young {
		m, err = s.Store.Match(ctx, project, w.GetMatch())
	}
	if problem.KindOf(err) == problem.NotFound {
		return nil // it ended: only the acknowledgement was lost
	}
	if err != nil {
		return err
	}
	return s.traceMatch(ctx, project, m, attempt, func(ctx context.Context) error {
		f, again := s.limiter.admit(ctx, project, hostingOf(m))
		if f == nil {
			pause := min(max(again, minRequeue*time.Duration(attempt)), maxRequeue)
			return bus.RetryAfter(pause/2 + rand.N(pause)) //nolint:gosec // spreads the retries, hides nothing
		}
		defer s.limiter.leave(f)
		if err := f.acquire(ctx); err != nil {
			return err
		}
		defer f.release()
		return s.begin(ctx, project, m, f)
	})
}

// begin begins the allocation of a match, or goes on with one that another allocator began.
func (s *service) begin(ctx context.Context, project string, m *pb.Match, f *fleet) error {
	l := &lease{holder: uuid.NewString(), renewed: time.Now()}
	begun, err := s.begins.do(ctx, project, state.Beginning{Match: m, Lease: state.MatchLease{
		Holder: l.holder, Hold: s.Settings.Hold, Search: s.Settings.Deadline,
		Claim: s.Settings.Deadline + s.Settings.Deadline/2, // with time for the rest of the work
	}})
	if err != nil {
		return err
	}
	switch begun.Status {
	case state.MatchActive:
		return s.serve(ctx, project, m, f, l, begun)
	case state.MatchLeased:
		return bus.RetryAfter(begun.Wait)
	case state.MatchDropped:
		s.Log.DebugContext(ctx, "a ticket left before its match had a server", "project", project, "match", m.GetId())
		s.traceTickets(ctx, "ticket released", project, m, nil, "left")
		s.Bus.PokeTickets(ctx, project, begun.Position)
	case state.MatchReleased:
		s.deallocations.Notify() // its server, if it has one, is to be deallocated
	}
	return nil
}

// serve gets a server for a match whose lease is l, or the reason why there is none, and writes the result.
func (s *service) serve(
	ctx context.Context, project string, m *pb.Match, f *fleet, l *lease, begun state.Allocation,
) error {
	var o outcome
	lost := s.whileLeased(ctx, project, m.GetId(), l, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, begun.Search)
		defer cancel()
		o = s.find(ctx, project, m, f, begun)
	})
	switch {
	case o.connection != "":
		return s.assign(ctx, project, m, l, o)
	case ctx.Err() != nil:
		s.endLease(ctx, project, m.GetId(), l)
		return context.Cause(ctx) // this allocator stops; another goes on
	case lost:
		return bus.RetryAfter(minRequeue)
	default:
		return s.fail(ctx, project, m, l, o)
	}
}

// find asks for a server with what only the provider needs to know.
func (s *service) find(ctx context.Context, project string, m *pb.Match, f *fleet, begun state.Allocation) outcome {
	r, err := s.requestOf(ctx, project, m, begun.Players)
	if err != nil {
		// Another allocator may have the key. If none has, this is the reason.
		err = provider.Fail(provider.Refused, "the hosting keys of the config cannot be decrypted").Because(err)
		return outcome{err: err, mayHaveServer: !begun.First}
	}
	r.First = begun.First
	began := time.Now()
	o := s.ask(ctx, &f.polls, r, func(err error) { s.refuse(ctx, project, m, err) })
	s.recordAllocation(context.WithoutCancel(ctx), r.Ref, began, o)
	return o
}

// fail writes why there is no server to the match's tickets, or makes them wait again.
func (s *service) fail(ctx context.Context, project string, m *pb.Match, l *lease, o outcome) error {
	f := failureOf(o.err)
	telemetry.Fail(trace.SpanFromContext(ctx), f.reason, f.detail)
	s.Log.WarnContext(ctx, "no server for a match", "project", project, "match", m.GetId(), "config", m.GetConfig(),
		"reason", f.reason, "error", o.err)
	if f.requeues(m.GetHosting().GetOnAllocationError()) {
		position, err := s.Store.ReleaseMatch(ctx, project, m, l.holder, o.mayHaveServer, "allocation")
		if err != nil {
			return err
		}
		s.traceTickets(ctx, "ticket released", project, m, nil, f.reason)
		s.Bus.PokeTickets(ctx, project, position)
		s.deallocations.Notify()
		return nil
	}
	return s.end(ctx, project, m, state.Outcome{
		Holder: l.holder, Readable: s.Readable, Error: f.code, Reason: f.reason, Detail: f.detail,
		MayHaveServer: o.mayHaveServer, Never: f.final,
	})
}

// assign writes the server to the match's tickets.
func (s *service) assign(ctx context.Context, project string, m *pb.Match, l *lease, o outcome) error {
	end := state.Outcome{
		Holder: l.holder, Readable: s.Readable, Connection: o.connection, MayHaveServer: o.mayHaveServer,
	}
	if s.Tokens != nil {
		end.Server, end.KeepServer = serverOf(m, s.Store.Now()), s.Tokens.TTL()+grace
	}
	return s.end(ctx, project, m, end)
}

// end writes the result of a match. A server that no ticket uses is deallocated.
func (s *service) end(ctx context.Context, project string, m *pb.Match, outcome state.Outcome) error {
	ctx, span := s.Tracer.Start(ctx, "assign")
	defer span.End()
	e := state.Ending{Match: m, Tickets: state.TicketsOf(m.GetProposal()), Outcome: outcome}
	e.Results = resultsOf(ctx, m, e.Tickets, outcome)
	// A process that stops still writes the result: no other process knows it.
	ended, err := s.ends.do(context.WithoutCancel(ctx), project, e)
	if err != nil {
		telemetry.Fail(span, "unavailable", err.Error())
		return err
	}
	if ended.Status == state.MatchLeased { // its server is deallocated when the match of the other holder has ended
		s.Log.WarnContext(ctx, "another allocator has taken the match over", "project", project, "match", m.GetId())
		return bus.RetryAfter(minRequeue)
	}
	s.traceTickets(ctx, "ticket assigned", project, m, slices.Concat([]string{}, ended.Assigned), outcome.Reason)
	if ended.Status == state.MatchAssigned ||
		(outcome.MayHaveServer || outcome.Connection != "" && len(ended.Assigned) == 0) {
		s.deallocations.Notify()
	}
	s.recordAssigned(ctx, project, m, ended.Assigned, s.Store.Now(), outcome.Connection == "")
	return nil
}

// resultsOf are the results of a match's tickets: one when all have the same.
func resultsOf(ctx context.Context, m *pb.Match, tickets []string, o state.Outcome) []*pb.Assignment {
	results := assignment.All(m, tickets, o.Connection, o.Error)
	if len(m.GetTraced()) > 0 {
		for _, result := range results {
			result.Trace = telemetry.SpanRef(ctx)
		}
	}
	return results
}

// endMatches ends matches. It gives results to the requests that wait for them, and wakes the director when other
// matches get servers.
func (s *service) endMatches(ctx context.Context, project string, all []state.Ending) ([]state.Ended, error) {
	ended, err := s.Store.EndMatches(ctx, project, all)
	var assigned []string
	var results []*pb.Assignment
	var position uint64
	room := false
	for _, e := range ended {
		assigned, results, room = append(assigned, e.Assigned...), append(results, e.Results...), room || e.Room
		position = max(position, e.Position)
	}
	s.Bus.PokeTickets(ctx, project, position)
	if room {
		s.Bus.Poke(ctx, project, &pb.Poke{Servers: true})
	}
	s.Bus.NotifyResults(ctx, project, assigned, results)
	return ended, err
}
