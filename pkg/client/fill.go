package client

import (
	"bytes"
	"context"
	"maps"
	"time"
)

// FillOptions say which game is to be filled. Join and State are required; both are called from the goroutine of
// [Filler.Run], one at a time.
type FillOptions struct {
	// Backfill is the backfill ticket that was made together with the game's match, as the server is told when it is
	// allocated. Empty, one is created.
	Backfill string
	// Join is called with the tickets that have joined the game: each once, and before State is asked again. Their
	// players will connect soon; one that does not come has to be counted as one that left.
	Join func(tickets []Ticket)
	// State says what the game is now: where its server is, and what match functions are to know of it, usually how
	// many more players it takes. Tickets that Join was called with must be counted in. An attribute or a property that
	// it does not name stays as functions left it, and so does the connection when it names none: a server that was
	// allocated leaves it to the service.
	State func() BackfillRequest
	// Every is the time between two approvals: a second when 0.
	Every time.Duration
	// Failed, when not nil, is told what went wrong. The filler goes on.
	Failed func(err error)
}

// Filler keeps a running game filled, for its server: it creates the backfill ticket or takes over the one there is,
// approves the tickets that are proposed to it, says so when the game has changed, and deletes it in the end.
//
//	filler := api.Fill(client.FillOptions{Join: game.expect, State: game.vacancy})
//	go filler.Run(ctx)
//	…
//	filler.Changed() // a player has left
type Filler struct {
	client  *Client
	options FillOptions
	changed chan struct{}

	id string // of the backfill ticket; "" while there is none
	// joined are the tickets that Join was called with, and when the service told of them last.
	joined map[string]time.Time
}

// How long one call may take; the longest pause after failures; and for how long a ticket is remembered that the
// service tells of no more.
const (
	fillCall   = 10 * time.Second
	fillPause  = 10 * time.Second
	fillMemory = 10 * time.Minute
)

// Fill returns a Filler for a game. It does nothing before Run.
func (c *Client) Fill(o FillOptions) *Filler {
	if o.Every <= 0 {
		o.Every = time.Second
	}
	return &Filler{client: c, options: o, changed: make(chan struct{}, 1), id: o.Backfill, joined: map[string]time.Time{}}
}

// Changed says that State has something new to say, which the service is told at once. It does not wait, and may be
// called from any goroutine.
func (f *Filler) Changed() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// Run fills the game until ctx ends, and deletes the backfill ticket then: tickets that are still proposed go
// elsewhere. The error is the deletion's.
func (f *Filler) Run(ctx context.Context) error {
	pause := f.options.Every
	for ctx.Err() == nil {
		if err := f.step(ctx); err == nil {
			pause = f.options.Every
		} else if ctx.Err() == nil {
			if f.options.Failed != nil {
				f.options.Failed(err)
			}
			pause = min(2*pause, fillPause)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		case <-f.changed:
		}
	}
	return f.end(ctx)
}

// step approves, lets in the players that joined, and says what has changed.
func (f *Filler) step(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fillCall)
	defer cancel()
	if f.id == "" {
		return f.create(ctx)
	}
	t, err := f.client.ApproveBackfill(ctx, f.id)
	if IsNotFound(err) {
		// The service gave the game up while it could not be reached.
		f.id = ""
		return f.create(ctx)
	}
	if err != nil {
		return err
	}
	f.join(t.AssignedTickets)
	if !f.merge(t) {
		return nil
	}
	return f.client.UpdateBackfill(ctx, *t)
}

func (f *Filler) create(ctx context.Context) (err error) {
	f.id, err = f.client.CreateBackfill(ctx, f.options.State())
	return err
}

// join passes on the new ones.
func (f *Filler) join(tickets []Ticket) {
	now := f.client.retry.Now()
	var fresh []Ticket
	for _, t := range tickets {
		if _, known := f.joined[t.ID]; !known {
			fresh = append(fresh, t)
		}
		f.joined[t.ID] = now
	}
	maps.DeleteFunc(f.joined, func(_ string, last time.Time) bool { return now.Sub(last) > fillMemory })
	if len(fresh) > 0 {
		f.options.Join(fresh)
	}
}

// merge brings the game's state into its backfill ticket, and tells whether that changed it.
func (f *Filler) merge(t *BackfillTicket) (changed bool) {
	state := f.options.State()
	if state.Connection != "" && state.Connection != t.Connection {
		t.Connection, changed = state.Connection, true
	}
	for name, value := range state.Attributes {
		if before, known := t.Attributes[name]; !known || before != value {
			if t.Attributes == nil {
				t.Attributes = map[string]float64{}
			}
			t.Attributes[name], changed = value, true
		}
	}
	for name, value := range state.Properties {
		if before, known := t.Properties[name]; !known || !bytes.Equal(before, value) {
			if t.Properties == nil {
				t.Properties = map[string][]byte{}
			}
			t.Properties[name], changed = value, true
		}
	}
	if state.Players != nil && !samePlayers(state.Players, t.Players) {
		t.Players, changed = state.Players, true
	}
	return changed
}

// samePlayers reports whether two games have the same players, in whatever order.
func samePlayers(a, b []GamePlayer) bool {
	if len(a) != len(b) || b == nil {
		return false
	}
	of := make(map[string]GamePlayer, len(a))
	for _, p := range a {
		of[p.ID] = p
	}
	for _, p := range b {
		q, there := of[p.ID]
		if !there || q.Team != p.Team || q.Role != p.Role || !maps.Equal(q.Attributes, p.Attributes) {
			return false
		}
	}
	return true
}

// end deletes the backfill ticket.
func (f *Filler) end(ctx context.Context) error {
	if f.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fillCall)
	defer cancel()
	return f.client.DeleteBackfill(ctx, f.id)
}
