package allocator

import (
	"context"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/assignment"
	"matchmaker.dev/services/internal/fault"
	"matchmaker.dev/services/internal/state"
)

// allocationError is the contract's error for a match that got no server.
const allocationError = "AllocationError"

// slack is what the claim of a match lasts beyond the provider's deadline, for the rest of the work.
const slack = 15 * time.Second

// match takes a match through its allocation. An error means that the queue must
// hand it out again.
func (s *service) match(ctx context.Context, project, id string, attempt int) error {
	m, err := s.Store.Match(ctx, project, id)
	if fault.KindOf(err) == fault.NotFound {
		return nil // assigned before: only the acknowledgement was lost
	}
	if err != nil {
		return err
	}
	r, err := s.requestOf(project, m)
	if err != nil {
		return err
	}
	now := s.Now()
	verdict, position, err := s.Store.Begin(ctx, project, m, now, now.Add(s.Settings.Deadline+slack))
	if err != nil {
		return err
	}
	switch verdict {
	case state.Go:
		return s.allocate(ctx, r, m, attempt)
	case state.Dropped:
		s.Log.DebugContext(ctx, "a ticket left before its match had a server", "project", project, "match", id)
		return s.poke(ctx, project, position)
	case state.Released:
		return s.giveBack(ctx, r, m)
	default:
		return nil
	}
}

// allocate gets a server for a match, or the reason why there is none, and writes it.
func (s *service) allocate(ctx context.Context, r *provider.Request, m *pb.Match, attempt int) error {
	if attempt > s.Settings.Attempts {
		return s.fail(ctx, r, m, attempt, provider.Fail(provider.Contention, "the match was taken from the queue %d times", attempt-1))
	}
	limited, cancel := context.WithTimeout(ctx, s.Settings.Deadline)
	defer cancel()
	connection, err := s.server(limited, r)
	switch {
	case err == nil:
		return s.assign(ctx, r, m, connection, state.Ending{})
	case ctx.Err() != nil:
		return context.Cause(ctx) // this allocator stops; another goes on
	default:
		return s.fail(ctx, r, m, attempt, err)
	}
}

// server asks the provider until it has a server, fails for good, or ctx ends.
func (s *service) server(ctx context.Context, r *provider.Request) (connection string, err error) {
	pause := 50 * time.Millisecond
	for {
		result, err := s.Provider.Allocate(ctx, r)
		for err == nil && result.Status == provider.Pending {
			if err = sleep(ctx, s.Settings.Poll); err == nil {
				result, err = s.poll(ctx, r.Ref)
			}
		}
		switch {
		case err == nil && result.Status == provider.Allocated:
			return result.Connection, nil
		case err == nil && result.Status == provider.Failed:
			return "", result.Err
		case err != nil && (provider.Final(err) || ctx.Err() != nil):
			return "", err
		case err != nil:
			s.Log.WarnContext(ctx, "asking for a server again", "project", r.Project, "match", r.Match, "error", err)
		}
		if sleep(ctx, pause) != nil {
			return "", provider.Fail(provider.Contention, "no server within %s", s.Settings.Deadline).Because(err)
		}
		pause = min(2*pause, 2*time.Second)
	}
}

func (s *service) poll(ctx context.Context, ref provider.Ref) (provider.Result, error) {
	results, err := s.Provider.Poll(ctx, []provider.Ref{ref})
	if err != nil || len(results) != 1 {
		return provider.Result{Status: provider.Unknown}, err
	}
	return results[0], nil
}

// fail gives the match's tickets an error. A server that may be held all the same is
// given back first; while that fails the match comes again.
func (s *service) fail(ctx context.Context, r *provider.Request, m *pb.Match, attempt int, reason error) error {
	s.Log.WarnContext(ctx, "no server for a match", "project", r.Project, "match", m.GetId(), "config", m.GetConfig(), "error", reason)
	if !provider.Final(reason) {
		if err := s.Provider.Release(ctx, r.Ref); err != nil {
			if attempt <= s.Settings.Attempts {
				return err
			}
			s.Log.ErrorContext(ctx, "a server could not be given back", "project", r.Project, "match", m.GetId(), "error", err)
		}
	}
	why := "allocation"
	if attempt > s.Settings.Attempts {
		why = "attempts"
	}
	return s.assign(ctx, r, m, "", state.Ending{Error: allocationError, Reason: why})
}

// assign writes the result to the match's tickets. When nobody is left to use the server it is given back.
func (s *service) assign(ctx context.Context, r *provider.Request, m *pb.Match, connection string, end state.Ending) error {
	results := map[string]*pb.Assignment{}
	for _, id := range state.TicketsOf(m.GetProposal()) {
		results[id] = assignment.Of(m.GetProposal(), id, connection, end.Error)
	}
	end.Now, end.Connection = s.Now(), connection
	end.Expiry = end.Now.Add(s.Settings.Readable)
	verdict, assigned, err := s.Store.Assign(ctx, r.Project, m, end, results)
	if err != nil {
		return err
	}
	switch {
	case verdict == state.Done:
		return nil // another delivery of the same match was faster, with the same server
	case connection != "" && len(assigned) == 0:
		return s.giveBack(ctx, r, m)
	}
	if err := s.Bus.Assigned(ctx, r.Project, assigned); err != nil {
		s.Log.WarnContext(ctx, "waking the waiting", "project", r.Project, "error", err)
	}
	return nil
}

// giveBack gives back the server that a match may have.
func (s *service) giveBack(ctx context.Context, r *provider.Request, m *pb.Match) error {
	if err := s.Provider.Release(ctx, r.Ref); err != nil {
		return err
	}
	e := &pb.Event{Kind: pb.Event_KIND_RETURNED, Match: m.GetId(), Config: m.GetConfig(), Revision: m.GetRevision()}
	if err := s.Store.Tell(ctx, r.Project, e, s.Now()); err != nil {
		s.Log.WarnContext(ctx, "telling that a server was given back", "project", r.Project, "match", m.GetId(), "error", err)
	}
	return nil
}

// poke tells the director that tickets wait again. A lost poke costs a cycle's longest interval.
func (s *service) poke(ctx context.Context, project string, position uint64) error {
	if position > 0 {
		if err := s.Bus.Poke(ctx, project, &pb.Poke{Position: position}); err != nil {
			s.Log.WarnContext(ctx, "poking the director", "project", project, "error", err)
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
