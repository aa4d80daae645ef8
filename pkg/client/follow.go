package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
)

// What a [TicketEvent] is about.
const (
	EventWaiting    = "waiting"    // the ticket waits, or waits again
	EventMatched    = "matched"    // it is in a match, whose server is asked for or must approve
	EventAcceptance = "acceptance" // its match asks its players whether they accept it
	EventAssigned   = "assigned"   // it has its assignment
	EventEnded      = "ended"      // it is gone
)

// EndGone is the reason of an end where no other is known.
const EndGone = "gone"

// TicketEvent is what [Client.Follow] tells of a ticket. It is how the ticket is then: of changes in quick succession
// some may not be told.
type TicketEvent struct {
	Kind string `json:"-"`
	// ID is the ticket.
	ID string `json:"id"`
	// Created is when the ticket was made, in Unix milliseconds, UTC; Queues and UnservedQueues are as in [Ticket].
	// They are told while the ticket waits or is matched.
	Created        int64    `json:"created,omitempty"`
	Queues         []string `json:"queues,omitempty"`
	UnservedQueues []string `json:"unservedQueues,omitempty"`
	// Estimate is told by EventWaiting, where it can be given.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Acceptance is told by EventAcceptance, again when more players have accepted.
	Acceptance *Acceptance `json:"acceptance,omitempty"`
	// Assignment is told by EventAssigned.
	Assignment *Assignment `json:"assignment,omitempty"`
	// Reason of EventEnded: deleted, replaced (by a newer ticket of a player), abandoned (it waited for too long),
	// unserved (no config serves any of its queues any more), unheard (no request asked for it any more), declined (one
	// of its players declined a match), silent (one did not answer whether it accepts a match), expired (its result was
	// kept for its time), or [EndGone].
	Reason string `json:"reason,omitempty"`
}

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
// tells of no EventMatched and no estimates. An event is not told twice in a row.
//
// It ends early with ctx's error, with an [*EndedError] when the ticket ended, or with what a request fails with.
func (c *Client) Follow(ctx context.Context, id string, tell func(TicketEvent)) (*Assignment, error) {
	f := c.follower(id, tell)
	if err := f.follow(ctx); err != nil {
		return nil, err
	}
	return f.assigned, nil
}

func (c *Client) follower(id string, tell func(TicketEvent)) *follower {
	f := &follower{Client: c, id: id}
	var last TicketEvent
	f.tell = func(e TicketEvent) {
		again := f.known && reflect.DeepEqual(e, last)
		if f.known, last = true, e; tell != nil && !again {
			tell(e)
		}
	}
	return f
}

func (f *follower) follow(ctx context.Context) error {
	err := f.run(ctx)
	if _, told := errors.AsType[*EndedError](err); f.known && !told && IsNotFound(err) {
		gone, _ := errors.AsType[*Error](err)
		return &EndedError{Ticket: f.id, Reason: EndGone, err: gone}
	}
	return err
}

func (f *follower) run(ctx context.Context) error {
	events := &stream{Client: f.Client, path: "v1/tickets/events", query: url.Values{"id": {f.id}}, handle: f.handle}
	switch err := events.run(ctx); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return stillWaits(f.id, err)
	case errors.Is(err, errNoStream): // a ticket that is gone is gone for Wait, too
		return f.wait(ctx)
	default:
		return err
	}
}

// FollowToEnd is Follow, and returns the ticket with its assignment.
func (c *Client) FollowToEnd(ctx context.Context, id string, tell func(TicketEvent)) (*Ticket, error) {
	return c.follower(id, tell).toEnd(ctx)
}

func (f *follower) toEnd(ctx context.Context) (*Ticket, error) {
	if err := f.follow(ctx); err != nil || f.ticket != nil {
		return f.ticket, err
	}
	if t, err := f.GetTicket(ctx, f.id); err == nil && t.Assignment != nil {
		return t, nil
	}
	return &Ticket{ID: f.id, Assignment: f.assigned}, nil // its result may have expired
}

// follower is a call of Follow.
type follower struct {
	*Client
	id       string
	tell     func(TicketEvent)
	known    bool // the ticket was there
	assigned *Assignment
	ticket   *Ticket // when it was read with its assignment
}

// wait is Follow by held requests.
func (f *follower) wait(ctx context.Context) error {
	t, err := f.waitAnd(ctx, f.id, func(t *Ticket) {
		kind := EventWaiting
		if t.Acceptance != nil {
			kind = EventAcceptance
		}
		f.tell(TicketEvent{Kind: kind, ID: t.ID, Created: t.Created, Queues: t.Queues, UnservedQueues: t.UnservedQueues,
			Acceptance: t.Acceptance})
	})
	if err != nil {
		return err
	}
	f.assigned, f.ticket = t.Assignment, t
	f.tell(TicketEvent{Kind: EventAssigned, ID: t.ID, Created: t.Created, Queues: t.Queues, Assignment: t.Assignment})
	return nil
}

// handle takes an event of the stream.
func (f *follower) handle(e sent) (end bool, err error) {
	told := TicketEvent{Kind: e.event}
	switch e.event {
	case EventWaiting, EventMatched, EventAcceptance, EventAssigned, EventEnded:
	default:
		return false, nil // one of a later version
	}
	if err := json.Unmarshal([]byte(e.data), &told); err != nil {
		return false, fmt.Errorf("client: an event of ticket %s is not what the API says: %w", f.id, err)
	}
	switch e.event {
	case EventWaiting, EventMatched, EventAcceptance:
		f.tell(told)
	case EventAssigned:
		f.tell(told)
		f.assigned = told.Assignment
		return f.assigned != nil, nil
	case EventEnded:
		f.tell(told)
		return false, &EndedError{Ticket: f.id, Reason: told.Reason,
			err: &Error{Method: http.MethodGet, Path: "/v1/tickets/events", Status: http.StatusNotFound,
				Title: http.StatusText(http.StatusNotFound), Code: CodeTicketNotFound,
				Detail: "the ticket ended: " + told.Reason}}
	}
	return false, nil
}
