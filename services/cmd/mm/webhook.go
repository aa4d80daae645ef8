package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type webhookCommands struct {
	List   webhookList   `cmd:"" default:"1" help:"List the webhooks of the project, and how the delivery to each is."`
	Dead   webhookDead   `cmd:"" help:"List the events that a webhook did not take."`
	Resend webhookResend `cmd:"" help:"Send such events again."`
	Drop   webhookDrop   `cmd:"" help:"Delete such events."`
}

type webhookList struct{}

func (webhookList) Help() string {
	return `"mm project settings set" adds and removes webhooks; docs/webhooks.md explains them.

Example: mm webhook list`
}

// Run prints the webhooks.
func (webhookList) Run(ctx context.Context, s *session, api developerAPI) error {
	all, err := api.ListWebhooks(ctx)
	if err != nil {
		return err
	}
	g := grid{head: []any{"webhook", "state", "since", "delivered", "dead", "reason", "events", "url"}}
	for _, w := range all {
		g.add(w.Name, w.State, w.Since, w.Delivered, w.DeadLetters, w.Reason, strings.Join(w.Events, ","), w.URL)
	}
	return s.show(all, g)
}

type webhookDead struct {
	Name string `arg:"" completion-predictor:"webhook" help:"The webhook's name."`
}

func (webhookDead) Help() string { return "Example: mm webhook dead backend" }

// Run prints dead letters.
func (c webhookDead) Run(ctx context.Context, s *session, api developerAPI) error {
	letters, err := api.ListDeadLetters(ctx, c.Name)
	if err != nil {
		return err
	}
	g := grid{head: []any{"id", "given up", "tries", "reason", "event"}}
	for _, l := range letters {
		g.add(l.ID, l.Time, l.Tries, l.Reason, format.JSON(l.Event))
	}
	return s.show(letters, g)
}

type webhookResend struct {
	Name string   `arg:"" completion-predictor:"webhook" help:"The webhook's name."`
	IDs  []string `arg:"" name:"id" optional:"" completion-predictor:"letter" help:"Ids of dead letters, see mm webhook dead; all of them without any."`
}

func (webhookResend) Help() string {
	return `They are sent in their order. What the webhook takes is no dead letter any more; the command ends at
the first one that it does not take.

Example: mm webhook resend backend`
}

// Run sends dead letters again.
func (c webhookResend) Run(ctx context.Context, s *session, api developerAPI) error {
	if len(c.IDs) == 0 {
		letters, err := api.ListDeadLetters(ctx, c.Name)
		if err != nil {
			return err
		}
		for _, l := range letters {
			c.IDs = append(c.IDs, l.ID)
		}
	}
	sent := []*client.SentLetter{}
	var failure error
	for _, id := range c.IDs {
		one, err := api.SendDeadLetter(ctx, c.Name, id)
		if err == nil && !one.Delivered {
			err = fmt.Errorf("the webhook did not take %s: %s", id, one.Reason)
		}
		if failure = err; failure != nil {
			break
		}
		sent = append(sent, one)
	}
	g := grid{head: []any{"delivered", "status"}}
	for _, one := range sent {
		g.add(one.ID, one.Status)
	}
	return cmp.Or(failure, s.show(sent, g))
}

type webhookDrop struct {
	Name string   `arg:"" completion-predictor:"webhook" help:"The webhook's name."`
	IDs  []string `arg:"" name:"id" completion-predictor:"letter" help:"Ids of dead letters, see mm webhook dead."`
}

func (webhookDrop) Help() string {
	return `Where there is no such dead letter, the command says so, and succeeds.

Example: mm webhook drop backend 019a5c2f7aa300000000102f0001`
}

// Run deletes dead letters.
func (c webhookDrop) Run(ctx context.Context, s *session, api developerAPI) error {
	for _, id := range c.IDs {
		err := api.DeleteDeadLetter(ctx, c.Name, id)
		if err == nil {
			err = s.showDeleted(id)
		} else if client.Status(err) == http.StatusNotFound {
			if _, unknown := api.ListDeadLetters(ctx, c.Name); unknown == nil { // the webhook itself is there
				err = s.showNothingDeleted("dead letter", id)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
