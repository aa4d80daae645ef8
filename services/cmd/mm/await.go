package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"matchmaker.dev/pkg/client"
)

// farewell bounds what is done after Ctrl-C.
const farewell = 5 * time.Second

// awaitMatch waits for the match of a ticket that was created just now. When
// the person goes away the ticket goes too.
func (s *session) awaitMatch(ctx context.Context, api *client.Client, id, player string) error {
	s.note("ticket %s waits for a match; Ctrl-C deletes it", id)
	bar := s.begin("waiting for a match", 0)
	defer bar.end()
	t, err := api.Wait(ctx, id)
	bar.end()
	switch {
	case err == nil:
		return s.showResult(t)
	case errors.Is(ctx.Err(), context.Canceled):
		return s.abandon(ctx, api, id, player)
	case client.Status(err) == http.StatusNotFound:
		return err // someone else deleted it
	}
	if err := s.showID(id); err != nil {
		return err
	}
	again := id
	if player != "" {
		again += " --player " + player
	}
	return outcome{cause: err, text: fmt.Sprintf("%s; ticket %s still waits: \"mm ticket delete %s\" ends it", s.reason(err), id, again)}
}

// abandon deletes a ticket whose player is leaving.
func (s *session) abandon(ctx context.Context, api *client.Client, id, player string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err := api.DeleteTicket(ctx, id, player)
	if err != nil && client.Status(err) != http.StatusNotFound {
		return outcome{cause: err, text: fmt.Sprintf("interrupted, and ticket %s could not be deleted: %s", id, s.reason(err))}
	}
	return outcome{cause: context.Canceled,
		text: fmt.Sprintf("interrupted: ticket %s is deleted, so that nobody is matched with an absent player", id)}
}

// showResult prints a ticket that has its assignment, and fails when that is an error.
func (s *session) showResult(t *client.Ticket) error {
	if err := s.showTicket(t); err != nil {
		return err
	}
	if reason := t.Assignment.Error; reason != "" {
		return fmt.Errorf("ticket %s got no match: %s", t.ID, reason)
	}
	return nil
}
