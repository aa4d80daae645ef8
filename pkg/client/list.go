package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// MatchQuery selects matches that run. Its zero value selects all.
type MatchQuery struct {
	// State is asking, claimed, allocating, proposed or assigned.
	State, Config, Queue, Region, Fleet string
	// MinAge and MaxAge bound how long ago they were made; 0 is no bound.
	MinAge, MaxAge time.Duration
	// Limit is how many a page has at most: 50 if it is 0, and never more than 200. After is the place to go on behind.
	Limit int
	After string
}

// ListMatches lists the matches that run, as far as the service knows. A page may be empty and have a Next. The token
// must be a developer's; the role Support is enough.
func (c *Client) ListMatches(ctx context.Context, q MatchQuery) (*MatchPage, error) {
	return list[MatchPage](ctx, c, "v1/matches", map[string]any{"state": q.State, "config": q.Config,
		"queue": q.Queue, "region": q.Region, "fleet": q.Fleet, "minAge": q.MinAge, "maxAge": q.MaxAge, "limit": q.Limit,
		"after": q.After})
}

// BackfillQuery selects backfill tickets. Its zero value selects all.
type BackfillQuery struct {
	Queue string
	// Limit and After are as in MatchQuery.
	Limit int
	After string
}

// ListBackfills lists the games that fill up, without their properties. The token must be a developer's; the role
// Support is enough.
func (c *Client) ListBackfills(ctx context.Context, q BackfillQuery) (*BackfillPage, error) {
	return list[BackfillPage](ctx, c, "v2/backfill", map[string]any{"queue": q.Queue, "limit": q.Limit,
		"after": q.After})
}

// ChangeQuery selects changes. Its zero value selects all.
type ChangeQuery struct {
	// Kind is config, settings, function or player, Name a config or a function, and By their author.
	Kind, Name, By string
	// Limit and After are as in MatchQuery.
	Limit int
	After string
}

// ListChanges lists changes with their authors, the newest first. The token must be a developer's; the role Support is
// enough.
func (c *Client) ListChanges(ctx context.Context, q ChangeQuery) (*ChangePage, error) {
	return list[ChangePage](ctx, c, "v1/changes", map[string]any{"kind": q.Kind, "name": q.Name, "by": q.By,
		"limit": q.Limit, "after": q.After})
}

// list reads a page of a list.
func list[T any](ctx context.Context, c *Client, path string, query map[string]any) (*T, error) {
	return ask[T](ctx, c, plainCall{method: http.MethodGet, path: path, query: parameters(query), repeatable: true})
}

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
