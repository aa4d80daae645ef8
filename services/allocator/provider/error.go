package provider

import (
	"errors"
	"fmt"
	"time"
)

// Reason is why a hosting system gave no server.
type Reason string

// The reasons.
const (
	// Contention: others were faster, or the system is busy or limits its calls. This passes.
	Contention Reason = "contention"
	// FleetEmpty: the fleet has no free server. This passes when a match ends or the fleet grows.
	FleetEmpty Reason = "fleet-empty"
	// MaximumZero: the hosting maximum of the fleet or its region is zero. Final: only the hosting system's people can
	// raise it.
	MaximumZero Reason = "maximum-zero"
	// Refused: the system declined, because of an unknown fleet or profile, invalid credentials, or a request that it does
	// not understand. Final.
	Refused Reason = "refused"
)

// Error is a hosting system's answer that there is no server. An error of another type, like a connection that breaks
// or a context that ends, is no answer of the system, and may pass.
type Error struct {
	Reason Reason
	// Detail is for the studio's people, in events and logs: it names the fleet, the region or the field. It holds no
	// secret.
	Detail string
	// RetryAfter is how long to wait at least before the next try, 0 when the system did not say.
	RetryAfter time.Duration
	cause      error
}

// Fail is an error for a reason.
func Fail(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// Because sets the cause, which is for logs only.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// After sets RetryAfter.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Detail + ": " + e.cause.Error()
	}
	return e.Detail
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.cause }

// ReasonOf is the reason of the first *Error in err's chain, "" when there is none.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

// Final reports whether another try must fail too. After all other errors try again, with a backoff, and not before the
// error's RetryAfter.
func Final(err error) bool {
	switch ReasonOf(err) {
	case MaximumZero, Refused:
		return true
	}
	return false
}
