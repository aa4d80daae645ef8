package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"matchmaker.dev/pkg/client"
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
	t, err := api.CreateAndWait(createCtx, r, func(created string) {
		id = created
		s.note("ticket %s waits for a match; Ctrl-C deletes it", id)
		bar = s.startProgress("waiting for a match", 0)
		context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	})
	bar.stop()
	switch {
	case err == nil:
		return s.showAssigned(t)
	case id == "":
		return s.adviseResume(err)
	case errors.Is(ctx.Err(), context.Canceled):
		return s.deleteAfterInterrupt(ctx, api, id, r.Player)
	case client.Status(err) == http.StatusNotFound:
		return err // deleted by another client
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

// deleteAfterInterrupt deletes a ticket after Ctrl-C.
func (s *session) deleteAfterInterrupt(ctx context.Context, api *client.Client, id, player string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	err := api.DeleteTicket(ctx, id, player)
	if err != nil && client.Status(err) != http.StatusNotFound {
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
