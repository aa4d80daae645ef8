package client

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// ErrCancelled is what [Search.Run] returns when [Search.Cancel] came in time.
var ErrCancelled = errors.New("client: the search was cancelled")

// SavedSearch is what a game keeps of a search over a crash.
type SavedSearch struct {
	Player string `json:"player"`
	// Key is the Idempotency-Key of the create.
	Key string `json:"key,omitempty"`
	// Ticket is empty until the create was answered.
	Ticket string `json:"ticket,omitempty"`
}

// SearchOptions say what to search.
type SearchOptions struct {
	// Ticket is what is asked for.
	Ticket TicketRequest
	// Saved goes on with the search of a game that crashed, or with a party's ticket; Ticket is ignored then. When no
	// ticket came of it, Run returns ErrNoTicket.
	Saved *SavedSearch
	// Save, when not nil, is called before the ticket is created, when its id is known, and with nil when there is nothing
	// to go on with. A match stays saved: a player may come back to it. When it fails, the search goes on.
	Save func(*SavedSearch)
	// Tell, when not nil, is told of the ticket's events. It is called from Run's goroutine.
	Tell func(TicketEvent)
}

// Search is a player's search for a match, from the press of a button to the connection. It repeats what was lost,
// follows the ticket, survives suspensions of the app, and a crash with the help of its options.
//
//	search := api.Search(client.SearchOptions{Ticket: client.TicketRequest{Player: "ada"}, Tell: show})
//	match, err := search.Run(ctx) // match.Assignment.Connection
type Search struct {
	client *Client
	o      SearchOptions
	saved  SavedSearch

	mu        sync.Mutex
	cancelled bool
	suspended bool
	// changed is closed, and replaced, when one of the two changes.
	changed chan struct{}
	// stop ends what Run waits for, nil when that must not end.
	stop context.CancelFunc
	// match is the one that asks its players.
	match string
}

// Search returns a search. It does nothing before Run.
func (c *Client) Search(o SearchOptions) *Search {
	return &Search{client: c, o: o, changed: make(chan struct{})}
}

// Cancel asks Run to end the search. It does not wait: Run returns ErrCancelled, or the match if it is too late.
func (s *Search) Cancel() { s.change(func() { s.cancelled = true }) }

// Suspend ends all requests of Run until Resume, as an app must that goes to the background. The ticket stays; where
// the project's settings end tickets of players that are silent for long, it may end.
func (s *Search) Suspend() { s.change(func() { s.suspended = true }) }

// Resume ends a Suspend. Run learns at once what has become of the ticket.
func (s *Search) Resume() { s.change(func() { s.suspended = false }) }

func (s *Search) change(set func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set()
	close(s.changed)
	s.changed = make(chan struct{})
	if s.stop != nil && (s.cancelled || s.suspended) {
		s.stop()
	}
}

// Answer accepts or declines the match that asks the ticket's players. It is no error when that match asks no more:
// Run tells what became of it.
func (s *Search) Answer(ctx context.Context, accept bool) error {
	s.mu.Lock()
	a := MatchAnswer{Ticket: s.saved.Ticket, Match: s.match, Accept: accept, Player: s.saved.Player}
	s.mu.Unlock()
	if a.Match == "" {
		return errors.New("client: no match asks the players")
	}
	err := s.client.AnswerMatch(ctx, a)
	if Status(err) == http.StatusConflict || IsNotFound(err) {
		return nil
	}
	return err
}

// Run searches until there is an assignment, which may be an error: look at Assignment.Error. It returns ErrCancelled
// after a Cancel, ErrNoTicket when there is nothing to go on with, an [*EndedError] when the ticket ended, ctx's
// error, or what a request fails with. It may be called once.
func (s *Search) Run(ctx context.Context) (*Ticket, error) {
	t, err := s.run(ctx)
	_, ended := errors.AsType[*EndedError](err)
	ended = ended || err == nil && t.Assignment.Error != ""
	if s.o.Save != nil && (ended || errors.Is(err, ErrCancelled) || errors.Is(err, ErrNoTicket)) {
		s.o.Save(nil)
	}
	return t, err
}

func (s *Search) run(ctx context.Context) (*Ticket, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	f := s.client.follower(s.saved.Ticket, s.report)
	f.known = true
	defer s.release()
	for {
		held, cancelled, err := s.awake(ctx)
		if err != nil {
			return nil, err
		}
		if cancelled {
			return s.end(ctx)
		}
		t, err := f.toEnd(held)
		if held.Err() == nil || ctx.Err() != nil {
			return t, err
		}
		if t != nil && t.Assignment != nil { // it came while the app was about to sleep
			return t, nil
		}
	}
}

// begin finds or creates the ticket.
func (s *Search) begin(ctx context.Context) error {
	request := s.o.Ticket
	if s.o.Saved != nil {
		s.saved = *s.o.Saved
	} else {
		if request.IdempotencyKey == "" {
			request.IdempotencyKey = rand.Text()
		}
		s.saved = SavedSearch{Player: request.Player, Key: request.IdempotencyKey}
		s.save()
	}
	if s.saved.Ticket != "" {
		return nil
	}
	c := *s.client
	c.retry.Sleep = s.sleep
	id, err := "", error(nil)
	if s.o.Saved == nil {
		if id, err = c.CreateTicket(ctx, request); err != nil && !mayHaveCreated(err) {
			return err
		}
	}
	if id == "" {
		// A Cancel does not end it: there may be a ticket.
		found, failed := s.client.ticketOf(ctx, s.saved)
		switch {
		case found != "":
			id = found
		case err != nil && (failed == nil || !errors.Is(err, ErrCancelled)): // of the create
			return err
		case failed != nil:
			return failed
		default:
			return ErrNoTicket
		}
	}
	s.mu.Lock()
	s.saved.Ticket = id
	s.mu.Unlock()
	s.save()
	return nil
}

// mayHaveCreated reports whether a create that failed may have stored its ticket.
func mayHaveCreated(err error) bool {
	status := Status(err)
	return (status == 0 || status >= http.StatusInternalServerError) && !errors.Is(err, ErrNoToken)
}

// ticketOf is the id of the ticket that a create made, "" when there is none.
func (c *Client) ticketOf(ctx context.Context, saved SavedSearch) (id string, err error) {
	header, err := onBehalfOf(saved.Player)
	if err != nil || saved.Key == "" {
		return "", err
	}
	var list ticketList
	if _, err = c.do(ctx, madeBy(saved.Key, header), &list); err != nil || len(list.Tickets) == 0 {
		return "", err
	}
	return list.Tickets[0].ID, nil
}

func (s *Search) save() {
	if s.o.Save != nil {
		saved := s.saved
		s.o.Save(&saved)
	}
}

func (s *Search) report(e TicketEvent) {
	s.mu.Lock()
	s.match = ""
	if e.Acceptance != nil {
		s.match = e.Acceptance.Match
	}
	s.mu.Unlock()
	if s.o.Tell != nil {
		s.o.Tell(e)
	}
}

// end deletes the ticket. When it has its result, that is returned.
func (s *Search) end(ctx context.Context) (*Ticket, error) {
	err := s.client.CancelTicket(ctx, s.saved.Ticket, s.saved.Player)
	switch {
	case Status(err) == http.StatusConflict:
		return s.client.Wait(ctx, s.saved.Ticket)
	case err != nil && !IsNotFound(err):
		return nil, err
	}
	return nil, ErrCancelled
}

// CancelTicket is DeleteTicket for a ticket that waits. Its status is 409 when the ticket has its result: read it.
func (c *Client) CancelTicket(ctx context.Context, id, onBehalfOf string) error {
	return c.call(ctx, plainCall{method: http.MethodDelete, path: "v1/tickets",
		query:  url.Values{"id": {id}, "unlessAssigned": {strconv.FormatBool(true)}},
		player: onBehalfOf, repeatable: true, removes: true}, nil)
}

// awake waits while the search is suspended. held ends at the next Cancel or Suspend.
func (s *Search) awake(ctx context.Context) (held context.Context, cancelled bool, err error) {
	for {
		s.mu.Lock()
		changed, suspended := s.changed, s.suspended
		if !suspended {
			s.release()
			held, s.stop = context.WithCancel(ctx)
			cancelled = s.cancelled
		}
		s.mu.Unlock()
		if !suspended {
			return held, cancelled, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

// release ends what awake returned last.
func (s *Search) release() {
	if s.stop != nil {
		s.stop()
	}
}

// sleep is a pause between tries of a create. It ends early at a Cancel, and goes on while the search is suspended.
func (s *Search) sleep(ctx context.Context, d time.Duration) error {
	over := make(chan error, 1)
	asleep, stop := context.WithCancel(ctx)
	defer stop()
	go func() { over <- s.client.retry.Sleep(asleep, d) }()
	for {
		s.mu.Lock()
		changed, cancelled, suspended := s.changed, s.cancelled, s.suspended
		s.mu.Unlock()
		if cancelled {
			return ErrCancelled
		}
		done := over
		if suspended {
			done = nil
		}
		select {
		case err := <-done:
			return err
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
