package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"matchmaker.dev/pkg/client"
)

type webhookCommands struct {
	List   webhookList   `cmd:"" default:"1" help:"List the webhooks of the project, and how the delivery to each is."`
	Dead   webhookDead   `cmd:"" help:"List the events that a webhook did not take."`
	Resend webhookResend `cmd:"" help:"Send such events again."`
	Drop   webhookDrop   `cmd:"" help:"Delete such events."`
}

type webhookList struct{}

// Run prints the webhooks.
func (webhookList) Run(ctx context.Context, s *session, api developerAPI) error {
	return showList[client.WebhookStatus](s,
		"webhook=name, state, since:time, delivered, dead=deadLetters, reason, events, url")(api.ListWebhooks(ctx))
}

type webhookDead struct {
	Name string `arg:"" completion-predictor:"webhook" help:"The webhook's name."`
}

// Run prints dead letters.
func (c webhookDead) Run(ctx context.Context, s *session, api developerAPI) error {
	return showList[client.DeadLetter](s, "id, given up=time:time, tries, reason, event")(api.ListDeadLetters(ctx, c.Name))
}

type webhookResend struct {
	Name string   `arg:"" completion-predictor:"webhook" help:"The webhook's name."`
	IDs  []string `arg:"" name:"id" optional:"" completion-predictor:"letter" help:"Ids of dead letters, see mm webhook dead; all of them without any."`
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
	return cmp.Or(failure, s.show(sent, tableOf(sent, "delivered=id, status")))
}

type webhookDrop struct {
	Name string   `arg:"" completion-predictor:"webhook" help:"The webhook's name."`
	IDs  []string `arg:"" name:"id" completion-predictor:"letter" help:"Ids of dead letters, see mm webhook dead."`
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
