package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Event is something that happened to tickets or to a match. EVENTS.md of the service describes the kinds, and what
// each of them has.
type Event struct {
	Time time.Time `json:"time"`
	// Kind is created, claimed, allocating, assigned, failed, released, and so on. There may be more kinds in the future.
	Kind     string `json:"kind"`
	Reason   string `json:"reason,omitempty"`
	Error    string `json:"error,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Match    string `json:"match,omitempty"`
	Config   string `json:"config,omitempty"`
	Revision int64  `json:"revision,omitempty"`
	Backfill string `json:"backfill,omitempty"`
	// Tickets are in the order of the teams, if there are any.
	Tickets []string `json:"tickets,omitempty"`
	// Position grows with each event of the project.
	Position uint64 `json:"position"`
	// Player says which of the ticket's players it was, from 1; 0 for its owner.
	Player int    `json:"player,omitempty"`
	Queue  string `json:"queue,omitempty"`
	// Acceptance is for how many milliseconds the players may accept the match.
	Acceptance int64 `json:"acceptance,omitempty"`
	// Function, Upload, Score, Players and Teams are of the first event of a match, and the first two of events of the
	// kind function, whose Upload runs from then on. Upload says which upload of the
	// function ran, from 1. Players is 0 if each ticket has one.
	Function string      `json:"function,omitempty"`
	Upload   int64       `json:"upload,omitempty"`
	Score    *float64    `json:"score,omitempty"`
	Players  int         `json:"players,omitempty"`
	Teams    []EventTeam `json:"teams,omitempty"`
	// Region is the one that the function asks a server for, also of the first event of a match. So is what follows:
	// Parties is how many players each ticket has, nil if each has one or the config has no report; Measures is what the
	// function measured, and Attributes how far those differ that the report names.
	Region     string                `json:"region,omitempty"`
	Parties    []int                 `json:"parties,omitempty"`
	Measures   map[string]float64    `json:"measures,omitempty"`
	Attributes map[string]Difference `json:"attributes,omitempty"`
	// By is who changed a function, or the config that served a queue: the subject of the token. It is "" if the
	// service did.
	By string `json:"by,omitempty"`
	// Arrivals are the tickets of an event of the kind created, if EventQuery.Arrivals asked for them: nil for those that
	// were gone when the event was read.
	Arrivals []*Arrival `json:"arrivals,omitempty"`
	// ID is the place behind the event, for EventQuery.After.
	ID string `json:"id,omitempty"`
}

// Difference is how far an attribute differs in a match: the greatest value less the least, and the greatest mean of a
// team less the least, which is nil if fewer than two teams have values.
type Difference struct {
	Spread float64  `json:"spread"`
	Gap    *float64 `json:"gap,omitempty"`
}

// EventTeam is a team: the next so many of an event's tickets.
type EventTeam struct {
	Name    string `json:"name,omitempty"`
	Tickets int    `json:"tickets"`
}

// Arrival is a ticket that was created. Properties is nil unless EventQuery.Properties asked for them.
type Arrival struct {
	Attributes map[string]float64 `json:"attributes"`
	Properties map[string][]byte  `json:"properties,omitempty"`
	Queues     []string           `json:"queues,omitempty"`
	Players    []ArrivedPlayer    `json:"players"`
}

// ArrivedPlayer is a player of a ticket. Attributes and Properties are nil if the player has none but those of the
// ticket.
type ArrivedPlayer struct {
	ID         string             `json:"id"`
	Attributes map[string]float64 `json:"attributes,omitempty"`
	Properties map[string][]byte  `json:"properties,omitempty"`
}

// EventQuery selects events. Its zero value selects all.
type EventQuery struct {
	// Ticket, Match and Config are identifiers. Player selects the tickets of a player that the service lists now: in a
	// project that lists none, the status is 409.
	Ticket, Player, Match, Config string
	// Kinds are those of events.
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

// EventPage is some events, the oldest first.
type EventPage struct {
	Events []Event `json:"events"`
	// Next is the place behind what was looked at, and More is true if there may be more events now. A page may have more
	// and no event: of those that were looked at none was selected.
	Next string `json:"next"`
	More bool   `json:"more"`
}

func (q *EventQuery) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"ticket": q.Ticket, "player": q.Player, "match": q.Match, "config": q.Config, "kind": strings.Join(q.Kinds, ","),
		"after": q.After,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if q.Arrivals {
		values.Set("arrivals", "true")
	}
	if q.Properties {
		values.Set("properties", "true")
	}
	if !q.Since.IsZero() {
		values.Set("since", q.Since.UTC().Format(time.RFC3339Nano))
	}
	if q.Limit > 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return values
}

// GetEvents reads some events of the project. The token must be a developer's; the role Support is enough.
func (c *Client) GetEvents(ctx context.Context, q EventQuery) (*EventPage, error) {
	page := new(EventPage)
	_, err := c.do(ctx, &request{method: http.MethodGet, path: "v1/events", query: q.values(), repeatable: true}, page)
	if err != nil {
		return nil, err
	}
	return page, nil
}

// followPause is after how long FollowEvents asks again where there is no stream.
const followPause = 2 * time.Second

// FollowEvents tells of events as they happen, those since q.Since or behind q.After first, until ctx ends, whose cause
// it returns, or tell returns an error. Without both it begins with what is to come. It goes on when the connection
// breaks, and tells each event once. Where the service has no stream, or no room for one, it reads pages.
func (c *Client) FollowEvents(ctx context.Context, q EventQuery, tell func(Event) error) error {
	began := c.retry.Now()
	q.Limit = 0
	first := q.values()
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
