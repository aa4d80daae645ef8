package allocator

import (
	"context"
	"errors"
	"fmt"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/definition"
)

// allocationError is the contract's error for a match that got no server.
const allocationError = "AllocationError"

// failure is why a match has no server: for programs, for people, and for readers of events.
type failure struct {
	// code is the error of the tickets.
	code string
	// detail is for people, including players.
	detail string
	// reason is the reason in events and metrics.
	reason string
	// final is set when later tries would fail too.
	final bool
}

// failureOf translates the error of a provider.
func failureOf(err error, h provider.Hosting) failure {
	f := failure{code: allocationError, reason: "timeout", detail: "the hosting system gave no server in time"}
	e, ok := errors.AsType[*provider.Error](err)
	switch {
	case !ok && !errors.Is(err, context.DeadlineExceeded):
		f.reason, f.detail = "unavailable", "the hosting system could not be reached"
	case ok:
		f.reason, f.detail, f.final = string(e.Reason), e.Detail, provider.Final(e)
	}
	if provider.ReasonOf(err) == provider.MaximumZero {
		// The contract has a text of its own for this.
		f.code = fmt.Sprintf("The hosting maximum of %s is zero", place(h))
	}
	return f
}

// place names a fleet, and its region if it has one.
func place(h provider.Hosting) string {
	text := fmt.Sprintf("fleet %q", h.Fleet)
	if h.Region != "" {
		text += fmt.Sprintf(", region %q", h.Region)
	}
	return text
}

// requeues tells whether tickets wait again after a failure, as their config says. After a final failure they never do:
// they would be matched, and fail, over and over.
func (f failure) requeues(setting string) bool { return setting == definition.Requeue && !f.final }
