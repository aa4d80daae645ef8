package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// What a [TicketEvent] is about.
const (
	EventWaiting    = "waiting"    // the ticket waits, or waits again
	EventMatched    = "matched"    // it is in a match, whose server is asked for or must approve
	EventAcceptance = "acceptance" // its match asks its players whether they accept it
	EventAssigned   = "assigned"   // it has its assignment
	EventEnded      = "ended"      // it is gone
)

// TicketEvent is what [Client.Follow] tells of a ticket. It is how the ticket is then: of changes in quick succession
// some may not be told.
type TicketEvent struct {
	Kind string `json:"-"`
	// ID is the ticket.
	ID string `json:"id"`
	// Created is when the ticket was made, in Unix milliseconds, UTC; Queues and UnservedQueues are as in [Ticket]. They
	// are told while the ticket waits or is matched.
	Created        int64    `json:"created,omitempty"`
	Queues         []string `json:"queues,omitempty"`
	UnservedQueues []string `json:"unservedQueues,omitempty"`
	// Estimate is told by EventWaiting, where it can be given.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Acceptance is told by EventAcceptance, again when more players have accepted.
	Acceptance *Acceptance `json:"acceptance,omitempty"`
	// Assignment is told by EventAssigned.
	Assignment *Assignment `json:"assignment,omitempty"`
	// Reason of EventEnded: deleted, abandoned (it waited for too long), unserved (no config serves any of its queues any
	// more), unheard (nobody asked for it any more), declined (one of its players declined a match), silent (one did not
	// answer whether it accepts a match), expired (its result was kept for its time), or gone where that is not known.
	Reason string `json:"reason,omitempty"`
}

// A stream is taken for broken when nothing came for silence; the service sends something every 15 seconds. Clients
// come back after the time that the service asks for, or about defaultRetry, and at most maxRetry.
const (
	silence      = 50 * time.Second
	defaultRetry = 3 * time.Second
	maxRetry     = 2 * time.Minute
)

// maxEvent bounds an event, in bytes.
const maxEvent = 1 << 20

// EndedError says that a ticket ended without an assignment while it was followed. [Status] of it is 404, as of a read.
type EndedError struct {
	Ticket, Reason string
	err            *Error
}

// Error names the ticket and the reason.
func (e *EndedError) Error() string {
	return fmt.Sprintf("client: ticket %s ended: %s", e.Ticket, e.Reason)
}

// Unwrap is the error of a read of the ticket.
func (e *EndedError) Unwrap() error { return e.err }

// Follow tells of a ticket's events, by server-sent events, until it has an assignment, which may be an error: look at
// Assignment.Error. tell may be nil. Follow comes back by itself when the connection breaks, the service asks for it or
// the token was renewed. Where the service offers no stream, or has no room for one, it goes on as [Client.Wait], and
// tells of acceptances and the end alone.
//
// It ends early with ctx's error, with an [*EndedError] when the ticket ended, or with what a request fails with.
func (c *Client) Follow(ctx context.Context, id string, tell func(TicketEvent)) (*Assignment, error) {
	if tell == nil {
		tell = func(TicketEvent) {}
	}
	f := &follower{Client: c, id: id, tell: tell}
	for failures := 0; ; {
		f.retry = time.Duration(float64(defaultRetry) * (0.5 + c.retry.Rand()))
		assigned, err := f.connect(ctx)
		switch {
		case assigned != nil:
			return assigned, nil
		case ctx.Err() != nil:
			return nil, stillWaits(id, context.Cause(ctx))
		case errors.Is(err, errNoStream):
			return f.wait(ctx)
		case err != nil && !connectionFailed(err):
			return nil, err
		case err != nil && !f.began: // the service is not there
			if failures++; failures > max(0, c.retry.Reconnects) {
				return nil, err
			}
			f.retry = max(f.retry, c.retry.backoff(failures))
			if c.retry.Notify != nil {
				c.retry.Notify(err, f.retry)
			}
		default:
			failures = 0
		}
		if err := c.retry.Sleep(ctx, f.retry); err != nil {
			return nil, stillWaits(id, err)
		}
	}
}

// errNoStream: the service has no stream for this ticket.
var errNoStream = errors.New("client: the service offers no stream")

// errSilent: a stream sent nothing for too long.
var errSilent = fmt.Errorf("client: the stream is silent: %w", io.ErrUnexpectedEOF)

// follower is a call of Follow.
type follower struct {
	*Client
	id    string
	tell  func(TicketEvent)
	last  string // the id of the last event
	retry time.Duration
	began bool // the last connection had a stream
}

// wait is Follow by held requests.
func (f *follower) wait(ctx context.Context) (*Assignment, error) {
	t, err := f.waitAnd(ctx, f.id, func(t *Ticket) {
		if t.Acceptance != nil {
			f.tell(TicketEvent{Kind: EventAcceptance, ID: t.ID, Created: t.Created, Queues: t.Queues, Acceptance: t.Acceptance})
		}
	})
	if err != nil {
		return nil, err
	}
	f.tell(TicketEvent{Kind: EventAssigned, ID: t.ID, Created: t.Created, Queues: t.Queues, Assignment: t.Assignment})
	return t.Assignment, nil
}

// connect follows the ticket over one connection. Without an error, and without an assignment, it is to be called
// again.
func (f *follower) connect(ctx context.Context) (*Assignment, error) {
	f.began = false
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	quiet := time.AfterFunc(silence, func() { giveUp(errSilent) })
	defer quiet.Stop()
	r := &request{method: http.MethodGet, path: "v1/tickets/events", query: url.Values{"id": {f.id}},
		header: http.Header{}}
	if f.last != "" {
		r.header.Set("Last-Event-ID", f.last)
	}
	req, err := f.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream, application/problem+json")
	answer, err := f.http.Do(req)
	if err != nil {
		return nil, cause(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }()
	switch {
	case answer.StatusCode == http.StatusOK && strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream"):
	case answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden:
		body, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
		return nil, newError(r, answer, body, f.Client.retry.Now())
	default: // an older service, or one that is full; and a ticket that is gone is gone for Wait, too
		return nil, errNoStream
	}
	f.began = true
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(make([]byte, 0, 1<<10), maxEvent)
	var e sent
	for lines.Scan() {
		quiet.Reset(silence)
		if text := lines.Text(); text != "" {
			e.field(text)
			continue
		}
		if assigned, again, err := f.handle(e); assigned != nil || again || err != nil {
			return assigned, err
		}
		e = sent{}
	}
	return nil, cause(ctx, lines.Err())
}

// cause is why a request was given up, or err.
func cause(ctx context.Context, err error) error {
	if of := context.Cause(ctx); of != nil {
		return of
	}
	return err
}

// handle takes an event. again: the service asks to come back.
func (f *follower) handle(e sent) (assigned *Assignment, again bool, err error) {
	if e.retry > 0 {
		f.retry = min(e.retry, maxRetry)
	}
	if e.id != "" {
		f.last = e.id
	}
	if e.data == "" {
		return nil, false, nil
	}
	told := TicketEvent{Kind: e.event}
	if err := json.Unmarshal([]byte(e.data), &told); err != nil {
		return nil, false, fmt.Errorf("client: an event of ticket %s is not what the API says: %w", f.id, err)
	}
	switch e.event {
	case "reconnect":
		return nil, true, nil
	case EventWaiting, EventMatched, EventAcceptance:
		f.tell(told)
	case EventAssigned:
		f.tell(told)
		return told.Assignment, false, nil
	case EventEnded:
		f.tell(told)
		return nil, false, &EndedError{Ticket: f.id, Reason: told.Reason,
			err: &Error{Method: http.MethodGet, Path: "/v1/tickets/events", Status: http.StatusNotFound,
				Title: http.StatusText(http.StatusNotFound), Detail: "the ticket ended: " + told.Reason}}
	}
	return nil, false, nil // one of a later version
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
