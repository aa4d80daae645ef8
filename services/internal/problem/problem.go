// Package problem defines the errors that services share. Every error that a caller can act on is an *Error with a
// Kind; package web translates kinds to HTTP, in one place. Other errors are Internal.
package problem

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of failure an error is.
type Kind uint8

// The kinds, with the HTTP status that package web gives each.
const (
	Internal        Kind = iota // 500: our mistake
	Invalid                     // 400: the request's contents
	Unauthenticated             // 401: no token, or not a good one
	Forbidden                   // 403: a good token, not for this
	NotFound                    // 404
	Method                      // 405: the path exists, the method does not
	Unacceptable                // 406: no representation the client accepts
	Conflict                    // 409
	TooLarge                    // 413
	Unsupported                 // 415: the request's content type
	Unprocessable               // 422: the contents contradict an earlier request
	Limited                     // 429: too many requests
	Unavailable                 // 503: a dependency did not answer
)

// Error is an error of a known kind. Detail is for the caller: it names the field and the reason, and never holds a
// secret.
type Error struct {
	Kind   Kind
	Detail string
	// RetryAfter is how long to wait before the next try, for Limited and Unavailable; 0 if unknown.
	RetryAfter time.Duration
	// Limit is the limit that was met; nil when it has no name.
	Limit *Limit
	err   error
}

// Limit is how much of something is allowed in a window of time, or at any time where there is no window.
type Limit struct {
	Name   string
	Amount int
	Window time.Duration
}

// New returns an error of a kind, with a detail for the caller.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// Wrap is New for an error that has a cause. The cause is for logs; callers see only the detail.
func Wrap(kind Kind, err error, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...), err: err}
}

// Exceeds names the limit that was met, for those who count refusals. A limit that is a flag has its name.
func (e *Error) Exceeds(limit string) *Error {
	e.Limit = &Limit{Name: limit}
	return e
}

func (e *Error) Error() string {
	if e.err != nil {
		return e.Detail + ": " + e.err.Error()
	}
	return e.Detail
}

func (e *Error) Unwrap() error { return e.err }

// KindOf is the kind of the first *Error in err's chain, Internal when there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}
