package stream

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"matchmaker.dev/services/internal/edge/web"
)

const (
	// firstRetry is after how long clients come back, at least, when a connection breaks: up to twice as long.
	firstRetry = 2 * time.Second
	// reasonTime is for how long Await waits.
	reasonTime = 2 * time.Second
	// usualEvent is how many bytes most events have at most.
	usualEvent = 512
)

// Stream is one open stream. It keeps nothing that may be large: ten thousand of them are usual.
type Stream struct {
	all   *Streams
	ctx   context.Context
	out   *web.Stream
	until time.Time // when the token expires
	wrote time.Time
	timer *time.Timer
}

// run begins the stream.
func (s *Stream) run(run func(context.Context, *Stream) string) (end string) {
	if err := s.write(retry(firstRetry, firstRetry)); err != nil {
		return EndOf(err)
	}
	s.timer = time.NewTimer(0)
	defer s.timer.Stop()
	return run(s.ctx, s)
}

// Wait waits until it is woken or a time comes. It may also return earlier, with a heartbeat. It returns why the stream
// ends, and "" when it goes on.
func (s *Stream) Wait(woken <-chan struct{}, look time.Time) (end string) {
	beat := s.all.Settings.Heartbeat
	earliest := slices.MinFunc([]time.Time{s.until, look, s.wrote.Add(beat)}, time.Time.Compare)
	s.timer.Reset(time.Until(earliest))
	select {
	case <-woken:
	case <-s.timer.C:
	case <-s.all.Stopped:
		return s.goodbye(Shutdown, retry(s.all.Settings.Spread/10, s.all.Settings.Spread))
	case <-s.ctx.Done():
		return Left
	}
	now := time.Now()
	switch {
	case !now.Before(s.until):
		return s.goodbye(Token, nil)
	case !now.Before(s.wrote.Add(beat)):
		if err := s.write([]byte(":\n\n")); err != nil {
			return EndOf(err)
		}
	}
	return ""
}

// Await waits for a moment until something is known that another process is about to tell, and wakes for it.
func (s *Stream) Await(woken <-chan struct{}, known func() bool) {
	late := time.After(reasonTime)
	for !known() {
		select {
		case <-woken:
		case <-late:
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// Event is the beginning of an event. Its data goes behind it.
func Event(kind, id string) []byte {
	return append(make([]byte, 0, usualEvent), "id: "+id+"\nevent: "+kind+"\ndata: "...)
}

// Send sends an event.
func (s *Stream) Send(event []byte) error { return s.write(append(event, "\n\n"...)) }

// Reconnect asks the client to come back, and returns why the stream ends.
func (s *Stream) Reconnect(reason string) (end string) { return s.goodbye(reason, nil) }

// goodbye asks the client to come back, after the time that again says if it is not nil.
func (s *Stream) goodbye(reason string, again []byte) string {
	text := append(again, "event: reconnect\ndata: {\"reason\":\""+reason+"\"}\n\n"...)
	if err := s.write(text); err != nil {
		return EndOf(err)
	}
	return reason
}

// write sends a text that ends with an empty line.
func (s *Stream) write(text []byte) error {
	s.wrote = time.Now()
	_, err := s.out.Write(text)
	return err
}

// EndOf is why a stream ends to which something could not be sent.
func EndOf(err error) string {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return Slow
	}
	return Left
}

// retry tells clients after how long to reconnect when the connection ends: between least and as much more as spread,
// so that connections that began together do not come back together.
func retry(least, spread time.Duration) []byte {
	after := least + rand.N(max(spread, time.Millisecond)) //nolint:gosec // no secret
	return []byte("retry: " + strconv.FormatInt(max(1, after.Milliseconds()), 10) + "\n\n")
}
