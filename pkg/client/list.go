package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// parameters writes those parameters of a query that are not the zero value of their type: lengths of time in seconds.
func parameters(query map[string]any) url.Values {
	values := url.Values{}
	for name, value := range query {
		text := ""
		switch value := value.(type) {
		case time.Duration:
			text = strconv.FormatFloat(value.Seconds(), 'f', -1, 64)
		case time.Time:
			if !value.IsZero() {
				text = value.UTC().Format(time.RFC3339Nano)
			}
		case []string:
			text = strings.Join(value, ",")
		default:
			text = fmt.Sprint(value)
		}
		if text != "" && !reflect.ValueOf(value).IsZero() {
			values.Set(name, text)
		}
	}
	return values
}

// NoName is the name of a row of matches that have no queue, no region and so on.
const NoName = "-"

// Name is what people call a row, by what rows are divided by.
func (r *MatchReportRow) Name(by string) string {
	name := ""
	switch by {
	case "config":
		name = r.Config
	case "revision":
		name = fmt.Sprintf("%s, revision %d", r.Config, r.Revision)
	case "function":
		name = r.Function
	case "upload":
		name = fmt.Sprintf("%s, upload %d", r.Function, r.Upload)
	case "queue":
		name = r.Queue
	case "region":
		name = r.Region
	case "party":
		name = [...]string{"unknown", "1", "2", "3", "4", "5", "6+"}[min(max(r.Party, 0), 6)]
	case "decile":
		name = strconv.Itoa(r.Decile)
	case "slot":
		name = r.Slot.UTC().Format("2006-01-02 15:04")
	}
	return cmp.Or(name, NoName)
}

// WaitingQuery selects tickets that wait. Its zero value selects all.
type WaitingQuery struct {
	// Player is the owner of a ticket for itself, or one of the players of another.
	Player string
	// Queue is one that they wait in; NoQueue selects tickets in none.
	Queue   string
	NoQueue bool
	// Config selects the tickets that the pools of a config have, or one Pool of it, in its queue.
	Config, Pool string
	// Filters are as in a pool. A ticket must pass all of them.
	Filters []PoolFilter
	// MinAge and MaxAge bound for how long they have waited; 0 is no bound.
	MinAge, MaxAge time.Duration
	// Limit is how many a page has at most: 50 if it is 0, and never more than 200. After is the place to go on behind:
	// WaitingPage.Next.
	Limit int
	After string
	// Sample is set to get that many of all that are selected, evenly, instead of the oldest ones.
	Sample bool
}

// GetWaitingTickets lists the tickets that wait in the project. While no function of the project runs and
// more than 200 tickets wait, its status is 503, or 409 when the project has no config.
// The token must be a developer's; the role Support is enough.
func (c *Client) GetWaitingTickets(ctx context.Context, q WaitingQuery) (*WaitingPage, error) {
	values := parameters(map[string]any{"player": q.Player, "queue": q.Queue, "config": q.Config, "pool": q.Pool,
		"minAge": q.MinAge, "maxAge": q.MaxAge, "limit": q.Limit, "after": q.After, "sample": q.Sample})
	if q.NoQueue {
		values.Set("queue", "")
	}
	if len(q.Filters) > 0 {
		text, err := json.Marshal(q.Filters)
		if err != nil {
			return nil, fmt.Errorf("client: filters: %w", err)
		}
		values.Set("filters", string(text))
	}
	return ask[WaitingPage](ctx, c, plainCall{method: http.MethodGet, path: "v1/tickets/waiting", query: values,
		repeatable: true})
}
