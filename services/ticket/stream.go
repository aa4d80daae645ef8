package ticket

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// The events of a stream. Each is the id of its event as well, so that Last-Event-ID says what the client knows.
const (
	eventWaiting  = "waiting"
	eventMatched  = "matched"
	eventAsked    = "acceptance"
	eventAssigned = "assigned"
	eventEnded    = "ended"
)

// streamRecheck is how often a stream reads its ticket in case a notification was lost.
const streamRecheck = 10 * time.Second

// follower is what an open stream tells. It keeps nothing of its ticket that may be large.
type follower struct {
	*service
	ctx     context.Context
	out     *stream.Stream
	project string
	by      viewer
	// seated are the players that get seat passes, as far as they are known.
	seated []string
	// ticket has the id, the queues and the span alone.
	ticket state.Ticket
	read   func(context.Context) (*state.Ticket, error)
	waiter *waiter
	// expires is when the token ends, by Redis's clock.
	expires time.Time
	// known is the id of the last event that the client has.
	known string
	// asked: a match asked the ticket's players when it was read last.
	asked bool
}

// follow answers GET /tickets/events: server-sent events until the ticket has a result or is gone.
func (s *service) follow(c echo.Context) error {
	r, err := s.reader(c)
	if err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	leave, err := s.streams.Begin(ctx, project, r.player)
	if err != nil {
		return err
	}
	forget := s.events.join(project)
	one := &follower{service: s, project: project, by: r.viewer, read: r.read, expires: auth.From(c).Expires,
		known:  c.Request().Header.Get("Last-Event-ID"),
		waiter: s.waiters.follow(project, r.id)} // before the read, so that nothing is missed
	end := func() {
		one.waiter.leave()
		forget()
		leave()
	}
	begun, err := one.begin(c, end)
	if !begun {
		end()
	}
	return err
}

// begin reads the ticket and answers. When the stream has begun, it calls end at its end.
func (s *follower) begin(c echo.Context, end func()) (begun bool, err error) {
	t, err := s.read(c.Request().Context())
	if err != nil {
		return false, err
	}
	if t.Assignment != nil && s.known == eventAssigned {
		return false, c.NoContent(http.StatusNoContent) // a client that reconnects by itself stops at that
	}
	span := trace.SpanFromContext(c.Request().Context())
	return s.streams.Answer(c, s.expires.Sub(s.Store.Now()), end, func(ctx context.Context, out *stream.Stream) string {
		if span.IsRecording() { // the request's span ends with the request
			var own trace.Span
			ctx, own = s.Tracer.Start(trace.ContextWithSpan(ctx, span), "ticket followed")
			defer own.End()
		}
		s.ctx, s.out = ctx, out
		return s.run(t)
	})
}

// run tells the client of its ticket until there is nothing more to tell, and returns why it ended.
func (s *follower) run(t *state.Ticket) (end string) {
	checked := time.Now()
	for {
		s.waiter.watchMatch(t.Acceptance)
		if err := s.send(t); err != nil {
			return stream.EndOf(err)
		}
		if t.Assignment != nil {
			return stream.Told
		}
		if end := s.out.Wait(s.waiter.woken.C(), checked.Add(streamRecheck)); end != "" {
			return end
		}
		if result := s.waiter.result.Load(); result != nil && !s.mustRead(result) {
			t = &state.Ticket{Body: s.ticket.Body, Assignment: result}
			continue
		}
		checked = time.Now()
		s.events.retry(s.project)
		next, err := s.read(s.ctx)
		switch {
		case err == nil:
			t = next
			s.waiter.notified.Store(nil) // of a match that asks its players
		case s.ctx.Err() != nil:
			return stream.Left
		case problem.KindOf(err) == problem.NotFound:
			return s.sendEnd()
		}
		// While the state store does not answer the ticket is as it was.
	}
}

// mustRead reports whether a ticket must be read again for what is told of a result: the seat passes of all its
// players.
func (s *follower) mustRead(result *pb.Assignment) bool {
	return s.by.anyone && s.Seats != nil && result.GetMatch() != ""
}

// send tells of a ticket, unless the client knows, and drops of it what may be large.
func (s *follower) send(t *state.Ticket) error {
	kind := eventWaiting
	switch {
	case t.Assignment != nil:
		kind = eventAssigned
	case t.Acceptance != nil:
		kind = eventAsked
	case t.Matched:
		kind = eventMatched
	}
	fresh := s.ticket.Body == nil || t.Body != s.ticket.Body
	if fresh {
		if !s.by.anyone || t.Assignment != nil {
			s.seated = s.by.seated(t)
		}
		s.ticket.Body = &pb.Ticket{Id: t.Body.GetId(), Created: t.Body.GetCreated(), Queues: t.Body.GetQueues(),
			Trace: t.Body.GetTrace()}
	}
	told := state.Ticket{Body: s.ticket.Body, Assignment: t.Assignment, Acceptance: t.Acceptance}
	var err error
	if told.Seats, err = s.seatsOf(s.project, s.seated, t); err != nil {
		return err
	}
	id := kind
	s.asked = kind == eventAsked
	if s.asked {
		id += "," + t.Acceptance.Match + "," + strconv.Itoa(t.Acceptance.Accepted)
	}
	if kind == eventWaiting && len(told.Body.GetQueues()) > 0 {
		if err := s.addUnserved(s.ctx, s.project, &told); err != nil {
			return nil //nolint:nilerr // it is told later
		}
		for _, queue := range told.Unserved {
			id += "," + strconv.Itoa(slices.Index(told.Body.GetQueues(), queue))
		}
	}
	if id == s.known && kind != eventAssigned {
		t.Body = s.ticket.Body
		return nil
	}
	if kind == eventWaiting && fresh {
		s.addEstimate(s.ctx, s.project, t)
		told.Estimate = t.Estimate
	}
	text, err := web.Marshal(response.NewFollowed(&told))
	if err != nil {
		return err
	}
	if err := s.out.Send(append(stream.Event(kind, id), text...)); err != nil {
		return err
	}
	s.known, t.Body = id, s.ticket.Body
	if kind == eventAssigned {
		s.traceRead(s.ctx, s.project, &told)
	}
	return nil
}

// sendEnd tells why the ticket is gone. Where no wake-up said it, since the ticket expired or the wake-up was lost, an
// event soon does.
func (s *follower) sendEnd() string {
	w := s.waiter
	if s.events.follows(s.project) {
		s.out.Await(w.woken.C(), w.knowsEnd)
	}
	text := append(stream.Event(eventEnded, eventEnded),
		`{"id":"`+s.ticket.Body.GetId()+`","reason":"`+w.reason(s.asked)+`"}`...)
	if err := s.out.Send(text); err != nil {
		return stream.EndOf(err)
	}
	return stream.Told
}

// newLongPollLimit makes the places of requests that are held. What is beyond them is not refused: it is answered at
// once, as if it had not asked to wait. The other limits count it like any other.
func newLongPollLimit(o *Options) *stream.Places {
	return stream.NewPlaces(o.Settings.Held, o.Settings.HeldPlayer,
		o.Meter.UpDownCounter("matchmaker.requests.held", "{request}",
			"Requests that this process holds open until a ticket has a result."),
		o.Meter.Counter("matchmaker.requests.unheld", "{request}",
			"Requests that asked to wait and were answered at once, because too many are held open."))
}

// newStreams makes the streams of events, which end when stopped is closed.
func newStreams(o *Options, stopped <-chan struct{}) *stream.Streams {
	return stream.New(stream.Options{Settings: o.Settings.Streams, Stopped: stopped, Log: o.Log,
		Instruments: stream.Instruments{
			Open: o.Meter.UpDownCounter("matchmaker.streams", "{stream}",
				"Streams of events of tickets that this process holds open."),
			Refused: o.Meter.Counter("matchmaker.streams.refused", "{stream}",
				"Streams of events of tickets that were refused because too many are open."),
			Ended: o.Meter.Counter("matchmaker.streams.ended", "{stream}",
				"Streams of events of tickets that ended, by the reason."),
		}})
}
