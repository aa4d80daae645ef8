package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// While a ticket waits, the service is asked to hold each request until the ticket is resolved, for at most longPoll:
// it need not be asked often then. A service that does not know the wish answers at once, and is asked again after
// firstPoll, then twice as long each time up to slowPoll.
const (
	longPoll  = 10 * time.Second
	firstPoll = 500 * time.Millisecond
	slowPoll  = 5 * time.Second
)

// lateBody is how long after longPoll the body of an answer may come whose header has come: then the connection is
// taken for broken.
const lateBody = 10 * time.Second

// preferWait is the header of requests that the service is asked to hold.
func preferWait(header http.Header) http.Header {
	if header = header.Clone(); header == nil {
		header = http.Header{}
	}
	header.Set("Prefer", "wait="+strconv.Itoa(int(longPoll/time.Second)))
	return header
}

// CreateAndWait enters a ticket into matchmaking and waits for its assignment, which may be an error: look at
// Assignment.Error. It takes one request where the service can hold it, and goes on as [Client.Wait] when the
// connection breaks, the wait is long, or the service is older.
//
// created, if not nil, is told the ticket's id as soon as the ticket exists. From then on the ticket outlives the call,
// also when it fails: delete it, or Wait for it again. Until then the errors are [Client.CreateTicket]'s, later
// Wait's.
func (c *Client) CreateAndWait(ctx context.Context, t TicketRequest, created func(id string)) (*Ticket, error) {
	made, err := c.createHeld(ctx, t, created)
	if err != nil || made.Assignment != nil {
		return made, err
	}
	return c.Wait(ctx, made.ID)
}

// CreateAndFollow is CreateAndWait, and tells of the ticket's events as [Client.Follow] when the first request brought
// no assignment. An error that says that the ticket ended is an [*EndedError].
func (c *Client) CreateAndFollow(
	ctx context.Context, t TicketRequest, created func(id string), tell func(TicketEvent),
) (*Ticket, error) {
	made, err := c.createHeld(ctx, t, created)
	if err != nil || made.Assignment != nil {
		return made, err
	}
	f := c.follower(made.ID, tell)
	f.known = true
	return f.toEnd(ctx)
}

// createHeld creates a ticket with a request that is held until there is news of it.
func (c *Client) createHeld(ctx context.Context, t TicketRequest, created func(id string)) (*Ticket, error) {
	r, err := creation(t)
	if err != nil {
		return nil, err
	}
	id := ""
	learn := func(new string) {
		if id != "" || new == "" {
			return
		}
		if id = new; created != nil {
			created(id)
		}
	}
	once, giveUp := context.WithCancel(ctx)
	defer giveUp()
	late := time.AfterFunc(longPoll+lateBody, giveUp)
	defer late.Stop()
	late.Stop()
	r.header = preferWait(r.header)
	r.begun = func(h http.Header) {
		if learn(ticketAt(h.Get("Location"))); id != "" {
			r.repeatable = false // from here on a GET tells more
		}
		late.Reset(longPoll + lateBody)
	}
	made := new(Ticket)
	if _, err = c.do(once, r, made); err != nil && id == "" {
		made = new(Ticket)
		made.ID, err = c.find(ctx, r, err)
	}
	if err == nil {
		learn(made.ID)
	}
	switch {
	case id == "" && err != nil:
		return nil, err
	case id == "":
		return nil, fmt.Errorf("client: POST /%s: the answer has no id", r.path)
	case err == nil && made.Assignment != nil:
		return made, nil
	case ctx.Err() != nil:
		return nil, stillWaits(id, context.Cause(ctx))
	}
	return &Ticket{ID: id}, nil
}

// ticketAt is the id in a ticket's address, "" when there is none.
func ticketAt(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return ""
	}
	return u.Query().Get("id")
}

// Wait reads a ticket until it has an assignment, which may be an error: look at Assignment.Error. It ends early with
// ctx's error, or with what a read fails with: status 404 means that the ticket was deleted or has expired.
func (c *Client) Wait(ctx context.Context, id string) (*Ticket, error) {
	return c.waitAnd(ctx, id, func(*Ticket) {})
}

// waitAnd waits, and tells of the ticket as it is meanwhile.
func (c *Client) waitAnd(ctx context.Context, id string, tell func(*Ticket)) (*Ticket, error) {
	prefer := preferWait(nil)
	interval := firstPoll
	for {
		asked := c.retry.Now()
		t, err := c.getTicket(ctx, url.Values{"id": {id}}, prefer)
		if err != nil {
			return nil, err
		}
		if t.Assignment != nil {
			return t, nil
		}
		tell(t)
		held := c.retry.Now().Sub(asked)
		if held >= interval {
			interval = firstPoll
			continue
		}
		// ±20 %, so that clients that began together do not stay together.
		pause := time.Duration(float64(interval-held) * (0.8 + 0.4*c.retry.Rand()))
		if err := c.retry.Sleep(ctx, pause); err != nil {
			return nil, stillWaits(id, err)
		}
		interval = min(2*interval, slowPoll)
	}
}

func stillWaits(id string, err error) error {
	return fmt.Errorf("client: ticket %s is still waiting: %w", id, err)
}

// ErrNoTicket says that a player has no ticket to go on with.
var ErrNoTicket = errors.New("client: the player has no ticket to go on with")

// Resume goes on with a ticket that the player has, whose id the caller does not know: the game crashed and started
// again, or [Client.CreateTicket] failed without an answer. It takes the newest ticket that waits or has a match, from
// the list of [Client.Tickets], and waits for it as [Client.Wait]. A ticket whose result is an error is not gone on
// with.
//
// found, if not nil, is told the ticket's id as soon as it is known.
//
// The match may be over by now, since its result can be read for some time: when the game server does not know the
// player, create a ticket. The error is [ErrNoTicket] when there is no such ticket, or the project's settings list no
// tickets. Then create one:
//
//	ticket, err := c.Resume(ctx, player, learn)
//	if errors.Is(err, client.ErrNoTicket) {
//		ticket, err = c.CreateAndWait(ctx, request, learn)
//	}
func (c *Client) Resume(ctx context.Context, player string, found func(id string)) (*Ticket, error) {
	t, err := c.Latest(ctx, player)
	if err != nil {
		return nil, err
	}
	if found != nil {
		found(t.ID)
	}
	return c.Wait(ctx, t.ID)
}

// Latest is the ticket that [Client.Resume] goes on with. The error is [ErrNoTicket] when there is none.
func (c *Client) Latest(ctx context.Context, player string) (*Ticket, error) {
	tickets, err := c.Tickets(ctx, player)
	if CodeOf(err) == CodeTicketsNotListed {
		return nil, ErrNoTicket
	}
	if err != nil {
		return nil, err
	}
	for _, t := range tickets {
		if t.Assignment == nil || t.Assignment.Error == "" {
			return t, nil
		}
	}
	return nil, ErrNoTicket
}
