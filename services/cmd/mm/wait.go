package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

// deleteTimeout bounds the deletion of a ticket after Ctrl-C.
const deleteTimeout = 5 * time.Second

// createAndWait creates a ticket and waits for its match. Once the ticket exists, ctx ends the request too, and Ctrl-C
// deletes the ticket.
func (s *session) createAndWait(ctx, createCtx context.Context, api *client.Client, r client.TicketRequest) error {
	createCtx, cancel := context.WithCancelCause(createCtx)
	defer cancel(nil)
	var bar *bar
	id := ""
	t, err := api.CreateAndFollow(createCtx, r, func(created string) {
		id = created
		s.note("ticket %s waits for a match; Ctrl-C deletes it", id)
		bar = s.startProgress("waiting for a match", 0)
		context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	}, s.askPlayers())
	bar.stop()
	switch {
	case err == nil:
		return s.showAssigned(t)
	case id == "":
		return s.adviseResume(err)
	case errors.Is(ctx.Err(), context.Canceled):
		return s.deleteAfterInterrupt(ctx, api, id, r.Player)
	case client.IsNotFound(err):
		return err // it says how the ticket ended
	}
	if ended := context.Cause(ctx); ended != nil {
		err = ended
	}
	if err := s.showID("ticket", "id", id); err != nil {
		return err
	}
	args := id
	if r.Player != "" {
		args += " --player " + r.Player
	}
	return messageError{cause: err, message: fmt.Sprintf(
		"%s; ticket %s still waits: \"mm ticket delete %s\" deletes it", s.errorText(err), id, args)}
}

func (s *session) noteUnserved(queues []string) {
	s.note("no config serves the queue %s: nothing matches the ticket there", oneLine(strings.Join(queues, ", ")))
}

// wait waits for the assignment of a ticket.
func (s *session) wait(ctx context.Context, api *client.Client, id string) error {
	bar := s.startProgress("waiting for a match", 0)
	t, err := api.FollowToEnd(ctx, id, s.askPlayers())
	bar.stop()
	if err != nil {
		return err
	}
	return s.showAssigned(t)
}

// askPlayers tells people, once for each match that asks them, how to answer it. It also tells of queues that no config
// serves.
func (s *session) askPlayers() func(client.TicketEvent) {
	last, warned := "", false
	return func(e client.TicketEvent) {
		if len(e.UnservedQueues) > 0 && !warned {
			warned = true
			s.noteUnserved(e.UnservedQueues)
		}
		if a := e.Acceptance; a != nil && a.Match != last {
			last = a.Match
			s.note(`match %s asks %s: "mm ticket accept %s" or "mm ticket decline %s" within %v`, a.Match,
				format.Plural(a.Players, "player"), e.ID, e.ID, time.Duration(a.Remaining)*time.Millisecond)
		}
	}
}

// deleteAfterInterrupt deletes a ticket after Ctrl-C.
func (s *session) deleteAfterInterrupt(ctx context.Context, api *client.Client, id, player string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	err := api.DeleteTicket(ctx, id, player)
	if err != nil && !client.IsNotFound(err) {
		return messageError{cause: err,
			message: fmt.Sprintf("interrupted, and ticket %s could not be deleted: %s", id, s.errorText(err))}
	}
	return messageError{cause: context.Canceled,
		message: fmt.Sprintf("interrupted: ticket %s is deleted, so that no match gets an absent player", id)}
}

// showAssigned prints a ticket that has its assignment. It fails if the assignment is an error.
func (s *session) showAssigned(t *client.Ticket) error {
	if err := s.showTicket(t); err != nil {
		return err
	}
	if reason := t.Assignment.Error; reason != "" {
		return fmt.Errorf("ticket %s got no match: %s", t.ID, reason)
	}
	return nil
}
