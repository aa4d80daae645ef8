// Package stream is what streams of server-sent events have in common, whatever they tell of: how many a process has
// open, how they begin and end, and heartbeats.
package stream

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// Why a stream ends.
const (
	Told     = "told"     // the client knows the end of what it follows
	Left     = "left"     // the client closed it
	Slow     = "slow"     // the client did not read
	Token    = "token"    // the token expired
	Shutdown = "shutdown" // the process stops
	Source   = "source"   // what it tells of cannot be read for now
)

// Options are what Streams need.
type Options struct {
	Settings Settings
	// Stopped is closed when the streams are to end, since the process stops.
	Stopped <-chan struct{}
	Log     *slog.Logger
	// Instead says what clients without a place may do; "" is GET with Prefer: wait.
	Instead string
	Instruments
}

// Instruments count streams. Ended gets the reason.
type Instruments struct {
	Open           metric.Int64UpDownCounter
	Refused, Ended metric.Int64Counter
}

// Streams are this process's open streams of one kind, within limits.
type Streams struct {
	Options
	places *Places
	ended  telemetry.Values

	begin    sync.Mutex
	draining bool // no stream begins any more
	running  sync.WaitGroup
}

// New makes Streams.
func New(o Options) *Streams {
	s := &Streams{
		Options: o,
		places:  NewPlaces(o.Settings.Places, o.Settings.PerPlayer, o.Open, o.Refused),
		ended:   telemetry.LabelsByValue(nil, "reason", Told, Left, Slow, Token, Shutdown, Source),
	}
	telemetry.StartAtZero(s.Ended, s.ended)
	return s
}

// Begin counts a stream of a player, "" for a game service that follows for many, until end is called. Errors:
// Unavailable when the process stops; Limited when there is no place.
func (s *Streams) Begin(ctx context.Context, project, player string) (end func(), err error) {
	if !s.add() {
		return nil, problem.New(problem.Unavailable, "the process is stopping, try again")
	}
	leave := s.places.Take(ctx, project, player)
	if leave == nil {
		s.running.Done()
		return nil, problem.New(problem.TooManyStreams,
			"too many streams are open: of this player, of the project, or in all; use %s",
			problem.Word(cmp.Or(s.Instead, "GET with Prefer: wait"))).Exceeds("streams").After(5 * time.Second)
	}
	return func() {
		leave()
		s.running.Done()
	}, nil
}

// add is false when no stream may begin, since the process waits for the last to end.
func (s *Streams) add() bool {
	s.begin.Lock()
	defer s.begin.Unlock()
	if !s.draining {
		s.running.Add(1)
	}
	return !s.draining
}

// Drain waits for the streams to end. Stopped must be closed, so that they do.
func (s *Streams) Drain() {
	s.begin.Lock()
	s.draining = true
	s.begin.Unlock()
	s.running.Wait()
}

// Answer answers a request with a stream that ends when run returns why, or when the caller's token has expired, which
// is good for a time. end is called then. If no stream has begun, which may be no error, it is for the caller to call.
func (s *Streams) Answer(
	c echo.Context, good time.Duration, end func(), run func(context.Context, *Stream) string,
) (begun bool, err error) {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, web.EventStream)
	header.Set("X-Accel-Buffering", "no") // nginx would keep events back
	if c.Request().Method == http.MethodHead {
		return false, c.NoContent(http.StatusOK)
	}
	until := time.Now().Add(good)
	err = web.Detach(c, s.Log, http.StatusOK, func(ctx context.Context, out *web.Stream) {
		defer end()
		one := &Stream{all: s, ctx: ctx, out: out, until: until}
		s.Ended.Add(ctx, 1, s.ended.Of(one.run(run)))
		out.Close() // the process waits for that, too
	})
	return err == nil, err
}
