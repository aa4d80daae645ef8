// Package problem defines the errors that services share. Every error that a caller can act on is an *Error with a
// Code; package web writes them over HTTP, in one place. Other errors are Internal.
package problem

import (
	"errors"
	"fmt"
	"time"
)

// Error is an error with a code. Kind is the general code of the same status. Detail is for the caller: it names the
// field and the reason, and never holds a secret. It may name players, so logs of requests have LogText instead.
type Error struct {
	Code, Kind Code
	Detail     string
	// RetryAfter is how long to wait before the next try, for Limited and Unavailable; 0 if unknown.
	RetryAfter time.Duration
	// Limit is the limit that was met; nil when it has no name.
	Limit *Limit
	plain string // Detail without texts that callers chose
	err   error
}

// Limit is how much of something is allowed in a window of time, or at any time where there is no window.
type Limit struct {
	Name   string
	Amount int
	Window time.Duration
}

// New returns an error with a code, and a detail for the caller.
func New(code Code, format string, args ...any) *Error {
	return Wrap(code, nil, format, args...)
}

// Wrap is New for an error that has a cause. The cause is for logs; callers see only the detail.
func Wrap(code Code, err error, format string, args ...any) *Error {
	plain := make([]any, len(args))
	for i, arg := range args {
		plain[i] = withoutText(arg)
	}
	return &Error{Code: code, Kind: code.Kind(), Detail: fmt.Sprintf(format, args...),
		plain: fmt.Sprintf(format, plain...), err: err}
}

// Word is an argument of New and Wrap that is a text of this code, not of a caller: logs have it.
type Word string

// omitted is in place of a text that may name a player.
type omitted struct{}

func (omitted) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("…")) }

// withoutText returns an argument as logs may have it: numbers, times and Words as they are, no other texts.
func withoutText(arg any) any {
	switch v := arg.(type) {
	case bool, int, int32, int64, uint, uint32, uint64, float32, float64, time.Duration, time.Time, Word:
		return v
	case *Error:
		return v.plain
	}
	return omitted{}
}

// LogText returns what logs of requests may say of an error: the detail of the first *Error in err's chain, with "…"
// for each text that the caller may have chosen, and its cause. An error without an *Error in its chain is whole.
func LogText(err error) string {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return err.Error()
	case e.err == nil:
		return e.plain
	}
	return e.plain + ": " + LogText(e.err)
}

// Exceeds names the limit that was met, to count refusals. A limit that is a flag has its name.
func (e *Error) Exceeds(limit string) *Error {
	e.Limit = &Limit{Name: limit}
	return e
}

// After says how long to wait before the next try.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
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
func KindOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}
