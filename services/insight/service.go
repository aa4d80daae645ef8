// Package insight shows a studio's developers what happened to tickets and matches, what became of a match, how good
// matches were, and which tickets wait. It changes nothing, so developers with the role Support may use all of it.
//
// It is a part of the ticket service's process, which reads the events of all projects anyway. Its work is in
// proportion to what a project has, so it is bounded and slow: the same process serves players.
package insight

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/memo"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

const (
	// maxReads is how many answers this process makes out of events at a time; a project may have half of what the others
	// leave. Each holds a few messages and an answer. readTime is how long one may take.
	maxReads = 16
	readTime = 5 * time.Second

	// What it costs to look at a message of events, a byte and an event of it, the message bus included: work is charged
	// that is counted.
	messageCost = 5 * time.Microsecond
	byteCost    = 10 * time.Nanosecond
	eventCost   = 500 * time.Nanosecond

	// readPace is how much of a processor, in microseconds a second, the reads and streams of a project take in this
	// process. At once it may take as much as a second has.
	readPace = 250_000
	// pausedAt is after how much work a read looks whether it goes too fast.
	pausedAt = time.Millisecond
)

// Options are what the service needs.
type Options struct {
	Store    *state.Store
	Bus      *bus.Bus
	Verifier *auth.Verifier
	Log      *slog.Logger
	Now      func() time.Time
	Settings Settings
	// Streams say how often streams send something, and within which time their clients come back.
	Streams stream.Settings
	// Definitions bound the filters of lists.
	Definitions definition.Limits
	// Within replaces the usual times that reads and lists may take; 0 does not.
	Within time.Duration
	// Limit comes behind the check of the token; nil for none.
	Limit echo.MiddlewareFunc
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
}

type service struct {
	Options
	stopped chan struct{}
	streams *stream.Streams
	reads   *stream.Places
	pace    *ratelimit.Local // in microseconds of a processor
	looked  metric.Int64Counter

	queueLists memo.Memo[string, response.QueueList] // by project
}

// Service is the service.
type Service struct{ *service }

// New makes the service.
func New(o Options) *Service {
	s := &service{Options: o, stopped: make(chan struct{}),
		pace: ratelimit.NewLocal("events", state.Rate{PerSecond: readPace, Burst: readPace}, o.Now),
		looked: o.Meter.Counter("matchmaker.events.looked", "{event}",
			"Events that this process looked at for studios."),
	}
	o.Streams.Places = o.Settings.Streams
	s.streams = stream.New(stream.Options{Settings: o.Streams, Stopped: s.stopped, Log: o.Log,
		Instead: "GET with Accept: application/json",
		Instruments: stream.Instruments{
			Open: o.Meter.UpDownCounter("matchmaker.events.streams", "{stream}",
				"Streams of events of projects that this process holds open."),
			Refused: o.Meter.Counter("matchmaker.events.streams.refused", "{stream}",
				"Streams of events of projects that were refused because too many are open."),
			Ended: o.Meter.Counter("matchmaker.events.streams.ended", "{stream}",
				"Streams of events of projects that ended, by the reason."),
		}})
	s.reads = stream.NewPlaces(maxReads, maxReads,
		o.Meter.UpDownCounter("matchmaker.events.reads", "{request}",
			"Requests of studios for which this process reads events."),
		o.Meter.Counter("matchmaker.events.reads.refused", "{request}",
			"Requests of studios that were refused because events are read for too many others."))
	return &Service{s}
}

// Part serves the endpoints.
func (s *Service) Part() app.Part {
	return app.Part{Name: "insight", Routes: s.routes, Run: s.run, OnShutdown: func() { close(s.stopped) }}
}

func (s *service) routes(e *echo.Echo) {
	look := web.Steps(s.Verifier.RequireLook(auth.Developer), s.Limit)
	e.GET(web.ProjectEvents, s.events, look...)
	e.GET(web.Base+"/matches", s.matches, look...)
	e.GET(web.Base+"/matches/report", s.report, look...)
	e.GET(web.Base+"/matches/:match", s.match, look...)
	e.GET(web.Base+"/tickets/waiting", s.waiting, look...)
	e.GET(web.Base+"/queues", s.queues, look...)
}

// run returns when the streams have ended.
func (s *service) run(ctx context.Context) error {
	<-ctx.Done()
	s.streams.Drain()
	return nil
}

// read takes a place among the requests that read events. The context that it returns ends after within.
func (s *service) read(
	ctx context.Context, project string, within time.Duration,
) (reading context.Context, leave func(), err error) {
	give := s.reads.Take(ctx, project, "")
	if give == nil {
		return nil, nil, problem.New(problem.Limited,
			"too many requests of this project, or of all, read events at the same time: try again later").
			Exceeds("event-reads").After(time.Second)
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Within, within))
	return ctx, func() { cancel(); give() }, nil
}

// reading reads the events of a project, at the pace that the project may.
type reading struct {
	*service
	project string
	owed    time.Duration // work that was not waited for yet
}

// count counts the work for a message, and waits if it goes too fast.
func (r *reading) count(ctx context.Context, m bus.EventMessage) {
	n := len(m.GetEvents())
	r.looked.Add(ctx, int64(n))
	r.owed += messageCost + byteCost*time.Duration(m.Bytes) + eventCost*time.Duration(n)
	if r.owed >= pausedAt {
		_ = wait.For(ctx, r.pace.Reserve(r.project, "", int(r.owed/time.Microsecond)))
		r.owed = 0
	}
}
