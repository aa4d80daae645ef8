package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A stream is taken for broken when nothing came for silence; the service sends something every 15 seconds. Clients
// come back after the time that the service asks for, or about defaultRetry, and at most maxRetry. The service begins a
// stream with an event at once: where nothing comes for firstByte, something on the way keeps it back.
const (
	silence      = 50 * time.Second
	firstByte    = 10 * time.Second
	defaultRetry = 3 * time.Second
	maxRetry     = 2 * time.Minute
)

// maxEvent bounds an event, in bytes.
const maxEvent = 1 << 20

// errNoStream: the service has no stream of this.
var errNoStream = errors.New("client: the service offers no stream")

// errSilent: a stream sent nothing for too long.
var errSilent = fmt.Errorf("client: the stream is silent: %w", io.ErrUnexpectedEOF)

// stream reads server-sent events over connections that come and go.
type stream struct {
	*Client
	path   string
	query  url.Values
	header http.Header
	// handle takes an event. end says that it is the last.
	handle func(e sent) (end bool, err error)
	last   string // the id of the last event
	retry  time.Duration
	began  bool // the last connection had a stream
	// token and refused are as in request.
	token   string
	refused *Error
}

// run reads until the last event. Errors: errNoStream, the cause of ctx's end, and errors of handle and of requests.
func (s *stream) run(ctx context.Context) error {
	retry := &s.Client.retry
	for failures := 0; ; {
		s.retry = time.Duration(float64(defaultRetry) * (0.5 + retry.Rand()))
		end, err := s.connect(ctx)
		switch {
		case end:
			return nil
		case errors.Is(err, errNoStream) && s.retry > 0: // as long as it said
			if err := retry.Sleep(ctx, s.retry); err != nil {
				return err
			}
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !connectionFailed(err):
			return err
		case err != nil && !s.began: // the service is not there
			if failures++; failures > max(0, retry.Reconnects) {
				return err
			}
			s.retry = max(s.retry, retry.backoff(failures))
			if retry.Notify != nil {
				retry.Notify(err, s.retry)
			}
		default:
			failures = 0
		}
		if err := retry.Sleep(ctx, s.retry); err != nil {
			return err
		}
	}
}

// connect reads events of one connection. Without an error, and without the last event, it is to be called again.
func (s *stream) connect(parent context.Context) (end bool, err error) {
	ctx := parent
	s.began = false
	within := s.Client.retry.scaled
	ctx, moves, stop := whileMoving(ctx, within(firstByte), within(silence), errSilent)
	defer stop()
	r := &request{method: http.MethodGet, path: s.path, query: s.query, header: s.header.Clone(), token: s.token,
		refused: s.refused}
	if r.header == nil {
		r.header = http.Header{}
	}
	if s.last != "" {
		r.header.Set("Last-Event-ID", s.last)
	}
	req, err := s.prepare(ctx, r, moves)
	if err != nil {
		return false, s.quiet(cause(ctx, err)) // requests that are held wait longer for a token
	}
	req.Header.Set("Accept", "text/event-stream, application/problem+json")
	s.token = r.token
	answer, err := s.http.Do(req)
	if err != nil {
		return false, s.quiet(cause(ctx, err))
	}
	defer func() { _ = answer.Body.Close() }()
	switch {
	case answer.StatusCode == http.StatusOK && strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream"):
	case answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden:
		body, _ := io.ReadAll(io.LimitReader(answer.Body, maxPlayerAnswer))
		err := newError(r, answer, body, s.Client.retry.Now())
		if s.mayRenew(r, err) {
			s.refused = r.refused
			return s.connect(parent)
		}
		return false, err
	default: // an older service, or one that is full; or what is followed is gone
		s.retry = min(retryAfter(answer.Header, s.Client.retry.Now()), s.Client.retry.MaxWait)
		return false, errNoStream
	}
	s.began, s.refused = true, nil
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(make([]byte, 0, 1<<10), maxEvent)
	var e sent
	some := false
	for lines.Scan() {
		some = some || ctx.Err() == nil // or else it is the beginning of a line
		moves()
		if text := lines.Text(); text != "" {
			if e.field(text); len(e.data) > maxEvent {
				return false, bufio.ErrTooLong
			}
			continue
		}
		if end, again, err := s.take(e); end || again || err != nil {
			return end, err
		}
		e = sent{}
	}
	if err = cause(ctx, lines.Err()); !some {
		err = s.quiet(err)
	}
	return false, err
}

// quiet is errNoStream for a stream of which nothing came in time, and err otherwise.
func (s *stream) quiet(err error) error {
	if errors.Is(err, errSilent) {
		s.retry = 0
		return errNoStream
	}
	return err
}

// take takes an event. again: the service asks to come back.
func (s *stream) take(e sent) (end, again bool, err error) {
	if e.retry > 0 {
		s.retry = min(e.retry, maxRetry)
	}
	if e.id != "" && printable(e.id) {
		s.last = e.id
	}
	switch {
	case e.data == "":
		return false, false, nil
	case e.event == "reconnect":
		return false, true, nil
	}
	end, err = s.handle(e)
	return end, false, err
}

// cause is why a request was given up, or err.
func cause(ctx context.Context, err error) error {
	if of := context.Cause(ctx); of != nil {
		return of
	}
	return err
}

// sent is an event as it comes.
type sent struct {
	id, event, data string
	retry           time.Duration
}

// field takes a line.
func (e *sent) field(line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "id":
		e.id = value
	case "event":
		e.event = value
	case "data":
		if e.data != "" {
			e.data += "\n"
		}
		e.data += value
	case "retry":
		if ms, err := strconv.ParseInt(value, 10, 32); err == nil && ms >= 0 {
			e.retry = time.Duration(ms) * time.Millisecond
		}
	}
}
