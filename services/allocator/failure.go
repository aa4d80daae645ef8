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

// failure is why a match has no server: for programs, for people, and for those who read events.
type failure struct {
	// code is the error of the tickets.
	code string
	// detail is for people; players read it too.
	detail string
	// reason is the word of the event.
	reason string
	// final is set when asking again later would lead nowhere either.
	final bool
}

// failureOf translates what the providers say.
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
		// The contract has a text of its own for it, which says what to do something about.
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

// requeues tells whether tickets wait again after a failure, as their config has it. What asking again cannot change is
// an error in either case: they would be matched, and fail, over and over.
func (f failure) requeues(setting string) bool { return setting == definition.Requeue && !f.final }
