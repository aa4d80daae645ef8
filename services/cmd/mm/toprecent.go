package main

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"matchmaker.dev/pkg/client"
)

const (
	// recentTime is how long what happened counts.
	recentTime = time.Minute
	// mostRecent is how many events count at most, and mostPages how many pages of them are read at a time.
	mostRecent = 200_000
	mostPages  = 20
)

// recent is what happened to the matches of a project lately.
type recent struct {
	query  client.EventQuery
	events []recentEvent
	// behind is set if more happens than is read.
	behind bool
}

// recentEvent is what is kept of an event. The waits are the waits of a new match's tickets, in seconds.
type recentEvent struct {
	time   time.Time
	config string
	kind   string
	match  bool // it is the first of its match
	waits  []float64
}

func newRecent(now time.Time) *recent {
	return &recent{query: client.EventQuery{Since: now.Add(-recentTime), Limit: 1000,
		Kinds: []string{"claimed", "assigned", "failed", "released", "full"}}}
}

// read reads what happened since it was read last, and forgets what is too old.
func (r *recent) read(ctx context.Context, api *client.Client, now time.Time) error {
	r.behind = false
	for n := 0; ; n++ {
		if r.behind = n == mostPages; r.behind {
			break
		}
		page, err := api.GetEvents(ctx, r.query)
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			r.events = append(r.events, newRecentEvent(e))
		}
		if r.query.After = page.Next; !page.More {
			break
		}
	}
	r.events = slices.DeleteFunc(r.events, func(e recentEvent) bool { return e.time.Before(now.Add(-recentTime)) })
	if n := len(r.events) - mostRecent; n > 0 {
		r.events, r.behind = slices.Delete(r.events, 0, n), true
	}
	return nil
}

func newRecentEvent(e client.Event) recentEvent {
	one := recentEvent{time: e.Time, config: e.Config, kind: e.Kind, match: e.Function != ""}
	if !one.match {
		return one
	}
	for _, id := range e.Tickets {
		if made, is := createdAt(id); is {
			one.waits = append(one.waits, max(0, e.Time.Sub(made).Seconds()))
		}
	}
	return one
}

// createdAt is the time in a ticket's id, a UUID of version 7.
func createdAt(id string) (time.Time, bool) {
	made, err := uuid.Parse(id)
	if err != nil || made.Version() != 7 {
		return time.Time{}, false
	}
	return time.Unix(made.Time().UnixTime()), true
}

// add adds to a config what happened to its matches.
func (r *recent) add(to *topConfig) {
	matches := 0
	var waits []float64
	for _, e := range r.events {
		if e.config != to.Config {
			continue
		}
		if e.match {
			matches++
			waits = append(waits, e.waits...)
		}
		switch e.kind {
		case "assigned":
			to.Assigned++
		case "failed":
			to.Failed++
		case "released":
			to.Released++
		case "full":
			to.Full++
		}
	}
	to.MatchesPerSecond, to.Tickets = float64(matches)/recentTime.Seconds(), len(waits)
	if len(waits) > 0 {
		slices.Sort(waits)
		to.Waited = &waits[len(waits)/2]
	}
}
