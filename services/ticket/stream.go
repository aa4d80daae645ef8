package ticket

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/response"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/telemetry"
	"matchmaker.dev/services/internal/web"
)

// The events of a stream. Each but reconnect is the id of its event as well, so that Last-Event-ID says what the client
// knows.
const (
	eventWaiting   = "waiting"
	eventMatched   = "matched"
	eventAsked     = "acceptance"
	eventAssigned  = "assigned"
	eventEnded     = "ended"
	eventReconnect = "reconnect"
)

// Why a stream ends.
const (
	endTold     = "told"     // the client knows the end of the ticket
	endLeft     = "left"     // the client closed it
	endSlow     = "slow"     // the client did not read
	endToken    = "token"    // the token expired
	endShutdown = "shutdown" // the process stops
)

const (
	// streamRecheck is how often a stream reads its ticket in case a notification was lost.
	streamRecheck = 10 * time.Second
	// reasonTime is for how long the reason of an end is awaited that was found by reading.
	reasonTime = time.Second
	// firstRetry is after how long clients come back, at least, when a connection breaks: up to twice as long.
	firstRetry = 2 * time.Second
)

// streams counts the streams of this process, within limits.
type streams struct {
	*held
	ended map[string]metric.MeasurementOption
	ends  metric.Int64Counter

	begin    sync.Mutex
	draining bool // no stream begins any more
	running  sync.WaitGroup
}

func newStreams(all, perPlayer int, m telemetry.Meter) *streams {
	s := &streams{
		held: newPlaces(all, perPlayer,
			m.UpDownCounter("matchmaker.streams", "{stream}", "Streams of events of tickets that this process holds open."),
			m.Counter("matchmaker.streams.refused", "{stream}", "Streams that were refused because too many are open.")),
		ends:  m.Counter("matchmaker.streams.ended", "{stream}", "Streams that ended, by the reason."),
		ended: telemetry.LabelsByValue(nil, "reason", endTold, endLeft, endSlow, endToken, endShutdown),
	}
	telemetry.StartAtZero(s.ends, s.ended)
	return s
}

// add counts a stream that begins. It is false when none may, since the process waits for the last to end.
func (s *streams) add() bool {
	s.begin.Lock()
	defer s.begin.Unlock()
	if !s.draining {
		s.running.Add(1)
	}
	return !s.draining
}

// drain waits for the streams to end. The waiters must have been stopped, so that they do.
func (s *streams) drain() {
	s.begin.Lock()
	s.draining = true
	s.begin.Unlock()
	s.running.Wait()
}

// stream is one open stream. It keeps nothing of its ticket that may be large: ten thousand of them are usual.
type stream struct {
	*service
	ctx     context.Context
	out     *web.Stream
	project string
	by      asker
	// seated are the players who get seat passes, as far as they are known.
	seated []string
	// ticket has the id, the queues and the span alone.
	ticket state.Ticket
	read   func(context.Context) (*state.Ticket, error)
	waiter *waiter
	// expires is when the token ends, by Redis's clock.
	expires time.Time
	// known is the id of the last event that the client has.
	known string
	wrote time.Time
}

// follow answers GET /tickets/events: server-sent events until the ticket has a result or is gone.
func (s *service) follow(c echo.Context) error {
	r, err := s.reader(c)
	if err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	if !s.streams.add() {
		return problem.New(problem.Unavailable, "the process is stopping, try again")
	}
	leave := s.streams.take(ctx, project, r.player)
	if leave == nil {
		s.streams.running.Done()
		return &problem.Error{
			Kind: problem.Limited, RetryAfter: 5 * time.Second, Limit: &problem.Limit{Name: "streams"},
			Detail: "too many streams are open: of this player, of the project, or in all; use GET with Prefer: wait",
		}
	}
	forget := s.events.join(project)
	one := &stream{service: s, project: project, by: r.asker, read: r.read, expires: auth.From(c).Expires,
		known:  c.Request().Header.Get("Last-Event-ID"),
		waiter: s.waiters.follow(project, r.id)} // before the read, so that nothing is missed
	end := func() {
		one.waiter.leave()
		forget()
		leave()
		s.streams.running.Done()
	}
	begun, err := one.begin(c, end)
	if !begun {
		end()
	}
	return err
}

// begin reads the ticket and answers. When the stream has begun, it calls end at its end.
func (s *stream) begin(c echo.Context, end func()) (begun bool, err error) {
	t, err := s.read(c.Request().Context())
	if err != nil {
		return false, err
	}
	if t.Assignment != nil && s.known == eventAssigned {
		return false, c.NoContent(http.StatusNoContent) // a client that reconnects by itself stops at that
	}
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, web.EventStream)
	header.Set("X-Accel-Buffering", "no") // nginx would keep events back
	if c.Request().Method == http.MethodHead {
		return false, c.NoContent(http.StatusOK)
	}
	span := trace.SpanFromContext(c.Request().Context())
	err = web.Detach(c, s.Log, http.StatusOK, func(ctx context.Context, out *web.Stream) {
		defer end()
		if span.IsRecording() { // the request's span ends with the request
			var own trace.Span
			ctx, own = s.Tracer.Start(trace.ContextWithSpan(ctx, span), "ticket followed")
			defer own.End()
		}
		s.ctx, s.out = ctx, out
		s.streams.ends.Add(ctx, 1, s.streams.ended[s.run(t)])
		out.Close() // the process waits for that, too
	})
	return err == nil, err
}

// run tells the client of its ticket until there is nothing more to tell, and returns why it ended.
func (s *stream) run(t *state.Ticket) (end string) {
	if err := s.write(retry(firstRetry, firstRetry)); err != nil {
		return s.endOf(err)
	}
	until := time.Now().Add(s.expires.Sub(s.Store.Now()))
	checked := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		s.waiter.heed(t.Acceptance)
		if err := s.tell(t); err != nil {
			return s.endOf(err)
		}
		if t.Assignment != nil {
			return endTold
		}
		now := time.Now()
		due := earliest(until, checked.Add(streamRecheck), s.wrote.Add(s.Settings.Heartbeat))
		timer.Reset(due.Sub(now))
		select {
		case <-s.waiter.woken.C():
		case <-timer.C:
		case <-s.waiter.all.stopped:
			return s.goodbye(endShutdown, retry(s.Settings.Spread/10, s.Settings.Spread))
		case <-s.ctx.Done():
			return endLeft
		}
		now = time.Now()
		switch {
		case !now.Before(until):
			return s.goodbye(endToken, nil)
		case !now.Before(s.wrote.Add(s.Settings.Heartbeat)):
			if err := s.write([]byte(":\n\n")); err != nil {
				return s.endOf(err)
			}
		}
		if result := s.waiter.result.Load(); result != nil && !s.mustRead(result) {
			t = &state.Ticket{Body: s.ticket.Body, Assignment: result}
			continue
		}
		checked = now
		next, err := s.read(s.ctx)
		switch {
		case err == nil:
			t = next
			s.waiter.notified.Store(false) // of a match that asks its players
		case s.ctx.Err() != nil:
			return endLeft
		case problem.KindOf(err) == problem.NotFound:
			return s.tellEnd()
		}
		// While the state store does not answer the ticket is as it was.
	}
}

// mustRead tells whether a ticket must be read again for what is told of a result: the seat passes of all its players.
func (s *stream) mustRead(result *pb.Assignment) bool {
	return s.by.anyone && s.Seats != nil && result.GetMatch() != ""
}

// tell tells of a ticket, unless the client knows, and drops of it what may be large.
func (s *stream) tell(t *state.Ticket) error {
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
	if kind == eventAsked {
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
	text, err := response.AppendFollowed(beginEvent(kind, id), &told)
	if err != nil {
		return err
	}
	if err := s.write(append(text, "\n\n"...)); err != nil {
		return err
	}
	s.known, t.Body = id, s.ticket.Body
	if kind == eventAssigned {
		s.traceRead(s.ctx, s.project, &told)
	}
	return nil
}

// tellEnd tells why the ticket is gone.
func (s *stream) tellEnd() string {
	w := s.waiter
	if w.end.Load() == nil && !w.notified.Load() {
		timer := time.NewTimer(reasonTime)
		defer timer.Stop()
		for w.end.Load() == nil && !w.notified.Load() {
			select {
			case <-w.woken.C():
				continue
			case <-timer.C:
			case <-s.ctx.Done():
			}
			break
		}
	}
	text := beginEvent(eventEnded, eventEnded)
	text = append(text, `{"id":"`+s.ticket.Body.GetId()+`","reason":"`+w.reason()+`"}`+"\n\n"...)
	if err := s.write(text); err != nil {
		return s.endOf(err)
	}
	return endTold
}

// goodbye asks the client to come back, after the time that again says if it is not nil.
func (s *stream) goodbye(reason string, again []byte) string {
	text := append(again, "event: "+eventReconnect+"\ndata: {\"reason\":\""+reason+"\"}\n\n"...)
	if err := s.write(text); err != nil {
		return s.endOf(err)
	}
	return reason
}

// write sends a text that ends with an empty line.
func (s *stream) write(text []byte) error {
	s.wrote = time.Now()
	_, err := s.out.Write(text)
	return err
}

// endOf is why a stream ends whose write failed.
func (s *stream) endOf(err error) string {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return endSlow
	}
	return endLeft
}

func beginEvent(kind, id string) []byte {
	return append(make([]byte, 0, usualAnswer), "id: "+id+"\nevent: "+kind+"\ndata: "...)
}

// retry says after how long clients come back when the connection ends: between least and as much more as spread, so
// that those who began together do not come back together.
func retry(least, spread time.Duration) []byte {
	after := least + rand.N(max(spread, time.Millisecond)) //nolint:gosec // no secret
	return []byte("retry: " + strconv.FormatInt(max(1, after.Milliseconds()), 10) + "\n\n")
}

func earliest(times ...time.Time) time.Time { return slices.MinFunc(times, time.Time.Compare) }
