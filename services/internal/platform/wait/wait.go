// Package wait waits for a while.
package wait

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// Every yields 0 at once, and then 1, 2 and so on, one each interval, until ctx ends.
func Every(ctx context.Context, interval time.Duration) iter.Seq[int] {
	return func(yield func(int) bool) {
		tick := time.Tick(interval)
		for n := 0; ctx.Err() == nil && yield(n); n++ {
			select {
			case <-tick:
			case <-ctx.Done():
			}
		}
	}
}

// For waits, and returns ctx's error if that ends first.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Rest lets others work, for a third of a millisecond or more. Work that takes many milliseconds rests in each: the
// goroutines of a process may share one processor in slices of 10 ms, and other processes may need it.
func Rest() { <-time.After(300 * time.Microsecond) }

// Pings lets a transport replace a connection of HTTP/2 after 45 seconds that died silently. It would take all requests
// until the kernel gives it up.
func Pings() *http.HTTP2Config {
	return &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}
}

// RetryAfter is how long the header of that name asks to wait, in seconds or until a date. It is an hour at most, and 0
// if the header does not say.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), 3600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), time.Hour)
	}
	return 0
}
