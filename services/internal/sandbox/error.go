package sandbox

import (
	"context"
	"fmt"
)

// Cause is why an instance ended.
type Cause string

// The causes.
const (
	Deadline Cause = "deadline" // it took too long and was killed
	Canceled Cause = "canceled" // the caller's context ended
	Closed   Cause = "closed"   // Close was called
	Memory   Cause = "memory"   // it failed after it was refused more memory
	Trap     Cause = "trap"     // unreachable, out of bounds, division by zero, stack overflow, …
	Exit     Cause = "exit"     // it called exit or abort
	Garbage  Cause = "garbage"  // it returned an impossible pointer or length
	Invalid  Cause = "invalid"  // it is no match function: imports, exports, version, manifest
	Died     Cause = "died"     // its process ended for an unknown reason
)

// Error says why an instance ended. Detail is for the function's author.
type Error struct {
	Cause  Cause
	Detail string
	Stack  string // of the guest, one frame a line; empty when there is none
	err    error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Cause, e.Detail) }

// Unwrap is the error of the context for Canceled.
func (e *Error) Unwrap() error { return e.err }

func failure(cause Cause, format string, args ...any) *Error {
	return &Error{Cause: cause, Detail: fmt.Sprintf(format, args...)}
}

func canceled(ctx context.Context) *Error {
	e := failure(Canceled, "%v", context.Cause(ctx))
	e.err = ctx.Err()
	return e
}
