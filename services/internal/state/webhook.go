package state

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The fields of a project's webhooks, each before the name of one. A dead letter's id is behind its webhook's name.
const (
	webhookPlace  = "p:"
	webhookStatus = "s:"
	webhookLetter = "d:"
)

// WebhookState is what is kept of a webhook.
type WebhookState struct {
	// Place is the place in the events behind what was delivered, or "@" and the time from which on events are delivered
	// in Unix milliseconds. It is "" if there is no such webhook.
	Place string
	// Status is as the owner of the lease noted it.
	Status string
	// Letters are the dead letters, in the order of their ids.
	Letters []DeadLetter
}

// DeadLetter is an event that was given up, as the owner of the lease noted it.
type DeadLetter struct{ ID, Text string }

// WebhookProjects returns the projects that have webhooks.
func (s *Store) WebhookProjects(ctx context.Context, projects []string) ([]string, error) {
	return s.having(ctx, projects, keys.webhooks)
}

// Webhooks reads what is kept of the webhooks of a project, by their names.
func (s *Store) Webhooks(ctx context.Context, project string) (map[string]WebhookState, error) {
	fields, err := s.redis.HGetAll(ctx, keysOf(project).webhooks()).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	all := map[string]WebhookState{}
	for field, text := range fields {
		if len(field) < len(webhookPlace) {
			continue // of the lease
		}
		name, id, _ := strings.Cut(field[len(webhookPlace):], ":")
		w := all[name]
		switch field[:len(webhookPlace)] {
		case webhookPlace:
			w.Place = text
		case webhookStatus:
			w.Status = text
		case webhookLetter:
			w.Letters = append(w.Letters, DeadLetter{id, text})
		}
		all[name] = w
	}
	for _, w := range all {
		slices.SortFunc(w.Letters, func(a, b DeadLetter) int { return cmp.Compare(a.ID, b.ID) })
	}
	return all, nil
}

// WebhookNote is what the owner of the lease notes of a webhook: its place and status unless they are empty, and dead
// letters. Those without a text go.
type WebhookNote struct {
	Name, Place, Status string
	Letters             []DeadLetter
}

// NoteWebhooks takes or renews the lease of a project's webhooks for an owner, for this long, and notes what it knows
// of them; 0 gives the lease up. It reports whether the owner has the lease, or had it until now. Without it, and of
// webhooks that the project has no more, nothing is noted.
func (s *Store) NoteWebhooks(ctx context.Context, project, owner string, hold time.Duration,
	notes ...WebhookNote) (held bool, err error) {
	c := s.call("webhook_note", keysOf(project), ids{},
		"owner", owner,
		"duration", hold.Milliseconds())
	for _, n := range notes {
		if n.Place != "" {
			c.args = append(c.args, n.Name, webhookPlace+n.Name, n.Place)
		}
		if n.Status != "" {
			c.args = append(c.args, n.Name, webhookStatus+n.Name, n.Status)
		}
		for _, l := range n.Letters {
			c.args = append(c.args, n.Name, webhookLetter+n.Name+":"+l.ID, l.Text)
		}
	}
	err = s.eval(ctx, c, &held)
	return held, err
}

// DeadLetter reads a dead letter; "" when there is none.
func (s *Store) DeadLetter(ctx context.Context, project, webhook, id string) (string, error) {
	return textOf(s.redis.HGet(ctx, keysOf(project).webhooks(), webhookLetter+webhook+":"+id))
}

// DeleteDeadLetter deletes a dead letter, and reports whether it was there.
func (s *Store) DeleteDeadLetter(ctx context.Context, project, webhook, id string) (there bool, err error) {
	n, err := s.redis.HDel(ctx, keysOf(project).webhooks(), webhookLetter+webhook+":"+id).Result()
	return n > 0, unavailable(err)
}

// ForgetInDeadLetters deletes the dead letters whose JSON names a player, or one of these tickets. It returns how many.
func (s *Store) ForgetInDeadLetters(ctx context.Context, project, player string, tickets []string) (n int, err error) {
	all, err := s.Webhooks(ctx, project)
	if err != nil {
		return 0, err
	}
	for name, w := range all {
		for _, l := range w.Letters {
			named := func(id string) bool {
				text, err := jsontext.AppendQuote(nil, id)
				return err == nil && strings.Contains(l.Text, string(text))
			}
			if !named(player) && !slices.ContainsFunc(tickets, named) {
				continue
			}
			if _, err := s.DeleteDeadLetter(ctx, project, name, l.ID); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
