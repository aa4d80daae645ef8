package allocator

import (
	"context"
	"errors"
	"fmt"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/state"
)

// allocationError is the contract's error for a match that got no server.
const allocationError = "AllocationError"

// maximumZero is the contract's error where no server is allowed.
const maximumZero = "The hosting maximum of the fleet or its region is zero"

// failure is why a match has no server: for programs, for people, and for readers of events.
type failure struct {
	// code is the error of the tickets.
	code string
	// detail is for the studio's people, in events, traces and logs. Players do not get it: it is
	// about the infrastructure.
	detail string
	// reason is the reason in events and metrics.
	reason string
	// final is set when later tries would fail too.
	final bool
}

// failureOf translates the error of a provider.
func failureOf(err error) failure {
	f := failure{code: allocationError, reason: "timeout", detail: "the hosting system gave no server in time"}
	e, ok := errors.AsType[*provider.Error](err)
	switch {
	case !ok && !errors.Is(err, context.DeadlineExceeded):
		f.reason, f.detail = "unavailable", "the hosting system could not be reached"
	case ok:
		f.reason, f.detail, f.final = string(e.Reason), e.Detail, provider.Final(e)
	}
	if provider.ReasonOf(err) == provider.MaximumZero {
		f.code = maximumZero
	}
	return f
}

// requeues reports whether tickets wait again after a failure, as their config says. After a final failure they never
// do: they would be matched, and fail, over and over.
func (f failure) requeues(setting string) bool { return setting == definition.Requeue && !f.final }

// refuse notes that hosting has no server for a match now: the director claims no more matches for its target.
func (s *service) refuse(ctx context.Context, project string, m *pb.Match, err error) {
	t := state.TargetOf(m)
	if s.refusals.Allow(project, fmt.Sprintf("%q", t)) != nil {
		return
	}
	f := failureOf(err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Settings.Call)
	defer cancel()
	noted, err := s.Store.RefuseServer(ctx, project, m, f.reason, f.detail)
	if err != nil {
		s.Log.WarnContext(ctx, "noting that there are no servers", "project", project, "match", m.GetId(), "error", err)
	} else if noted {
		s.Log.WarnContext(ctx, "hosting has no server: until it has one, tickets of matches for it wait",
			"project", project, "config", m.GetConfig(), "profile", t.Profile, "fleet", t.Fleet,
			"reason", f.reason, "detail", f.detail)
	}
}
