package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// EventQuery selects events. Its zero value selects all.
type EventQuery struct {
	// Ticket, Match, Config and Backfill are identifiers; the last selects matches that go to its game, and the first
	// event of the match that it was made with. Player selects the tickets of a player that the service lists now: in a
	// project that lists none, the status is 409.
	Ticket, Player, Match, Config, Backfill string
	// Kinds are the kinds of events.
	Kinds []string
	// Arrivals asks for what the tickets are that events of the kind created are about.
	Arrivals bool
	// Properties asks for the properties of arrivals, too. The role Support may not, unless the project's settings let it.
	Properties bool
	// Since is the time of the first event. After is the place to go on behind: the ID of an event, or EventPage.Next.
	Since time.Time
	After string
	// Limit is how many events a page has at most: 100 if it is 0, and never more than 1000.
	Limit int
}

func (q *EventQuery) parameters() map[string]any {
	return map[string]any{"ticket": q.Ticket, "player": q.Player, "match": q.Match, "config": q.Config,
		"backfill": q.Backfill, "kind": q.Kinds, "arrivals": q.Arrivals, "properties": q.Properties, "since": q.Since,
		"limit": q.Limit, "after": q.After}
}

// GetEvents reads some events of the project. The token must be a developer's; the role Support is enough.
func (c *Client) GetEvents(ctx context.Context, q EventQuery) (*EventPage, error) {
	return ask[EventPage](ctx, c, plainCall{method: http.MethodGet, path: "v1/events", query: parameters(q.parameters()),
		repeatable: true})
}

// followPause is after how long FollowEvents asks again where there is no stream.
const followPause = 2 * time.Second

// FollowEvents tells of events as they happen, those since q.Since or behind q.After first, until ctx ends, whose cause
// it returns, or tell returns an error. Without both it begins with what is to come. It goes on when the connection
// breaks, and tells each event once. Where the service has no stream, or no room for one, it reads pages.
func (c *Client) FollowEvents(ctx context.Context, q EventQuery, tell func(Event) error) error {
	began := c.retry.Now()
	q.Limit = 0
	first := parameters(q.parameters())
	first.Del("after")
	events := &stream{Client: c, path: "v1/events", query: first, last: q.After, handle: func(e sent) (bool, error) {
		var one Event
		if err := json.Unmarshal([]byte(e.data), &one); err != nil {
			return false, fmt.Errorf("client: an event is not what the API says: %w", err)
		}
		return false, tell(one)
	}}
	if err := events.run(ctx); !errors.Is(err, errNoStream) {
		return err
	}
	if q.After = events.last; q.After == "" && q.Since.IsZero() {
		q.Since = began
	}
	for {
		page, err := c.GetEvents(ctx, q)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
		for _, e := range page.Events {
			if err := tell(e); err != nil {
				return err
			}
		}
		if q.After = page.Next; page.More {
			continue
		}
		if err := c.retry.Sleep(ctx, followPause); err != nil {
			return err
		}
	}
}
