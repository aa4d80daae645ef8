package client

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Retry says when a request is sent again. The service recommends: after 2^attempt seconds plus a random -attempt to
// +attempt, with attempt counting from 1 to 5; after Retry-After instead when the answer carries it.
//
// Sent again are
//   - every request, after 429;
//   - requests that may safely be repeated, after 502, 503, 504 and after a
//     connection failure. Those are GET, DELETE, PUT without If-Match, a backfill
//     approval, and the creation of a ticket, which has an Idempotency-Key.
//     Other creations are not among them.
//
// A call whose context would end before the wait does returns at once with what failed last.
type Retry struct {
	// Attempts is how often a request is sent again after an answer: 5 when 0, never when negative.
	Attempts int
	// Reconnects is the same for connection failures.
	Reconnects int
	// MaxWait is the longest Retry-After that is waited for; one that asks for more ends the call. One minute when 0.
	MaxWait time.Duration
	// Notify, when not nil, is told before each wait what failed and how long the wait will be.
	Notify func(err error, wait time.Duration)

	// Sleep waits for d, or returns ctx's error when that ends first. Rand is a random number in [0, 1). Now is the time.
	// All three are for tests; nil means the real thing.
	Sleep func(ctx context.Context, d time.Duration) error
	Rand  func() float64
	Now   func() time.Time
	// Scale multiplies the limits of time that a client has besides, for tests too; 0 means 1.
	Scale float64
}

func (r Retry) orDefault() Retry {
	r.Attempts = cmp.Or(r.Attempts, 5)
	r.Reconnects = cmp.Or(r.Reconnects, 5)
	r.MaxWait = cmp.Or(r.MaxWait, time.Minute)
	r.Scale = cmp.Or(r.Scale, 1)
	if r.Sleep == nil {
		r.Sleep = sleep
	}
	if r.Rand == nil {
		r.Rand = rand.Float64
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	return r
}

// again says how long to wait before attempt number attempt (the first is 1) to repeat a request that failed with err,
// and whether to repeat it at all.
func (r *Retry) again(attempt int, err error, repeatable bool) (time.Duration, bool) {
	e, answered := errors.AsType[*Error](err)
	switch {
	case answered && e.Status == http.StatusTooManyRequests:
		// Refused before anything was done: safe to repeat whatever it was.
	case answered && repeatable && (e.Status == http.StatusServiceUnavailable || e.Status == http.StatusBadGateway ||
		e.Status == http.StatusGatewayTimeout):
	case !answered && repeatable && connectionFailed(err):
		return r.backoff(attempt), attempt <= r.Reconnects
	default:
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, attempt <= r.Attempts && e.RetryAfter <= r.MaxWait
	}
	return r.backoff(attempt), attempt <= r.Attempts
}

// backoff is 2^attempt seconds plus a jitter between -attempt and +attempt seconds.
func (r *Retry) backoff(attempt int) time.Duration {
	jitter := float64(attempt) * (2*r.Rand() - 1)
	seconds := float64(uint64(1)<<min(attempt, 32)) + jitter
	return time.Duration(seconds * float64(time.Second))
}

// scaled is a limit of time as a client keeps it.
func (r *Retry) scaled(d time.Duration) time.Duration { return time.Duration(float64(d) * r.Scale) }

// connectionFailed tells a failure of the way to the service, which may pass, from one that repeats itself: a bad
// certificate, an unknown host.
func connectionFailed(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	// *url.Error is a net.Error itself, whatever it wraps: look beneath it.
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	_, ok := errors.AsType[net.Error](err)
	return ok
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
