package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
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
	return list[MatchPage](ctx, c, "v1/matches", map[string]string{"state": q.State, "config": q.Config,
		"queue": q.Queue, "region": q.Region, "fleet": q.Fleet, "minAge": secondsOf(q.MinAge),
		"maxAge": secondsOf(q.MaxAge), "limit": numberOf(q.Limit), "after": q.After})
}

// BackfillQuery selects backfill tickets. Its zero value selects all.
type BackfillQuery struct {
	ID, Queue string
	// Limit and After are as in MatchQuery.
	Limit int
	After string
}

// ListBackfills lists the games that fill up, without their properties. The token must be a developer's; the role
// Support is enough.
func (c *Client) ListBackfills(ctx context.Context, q BackfillQuery) (*BackfillPage, error) {
	return list[BackfillPage](ctx, c, "v2/backfill", map[string]string{"id": q.ID, "queue": q.Queue,
		"limit": numberOf(q.Limit), "after": q.After})
}

// ChangeQuery selects changes. Its zero value selects all.
type ChangeQuery struct {
	// Kind is config, settings, function, player or key, Name a config, a function or a key, and By their author.
	Kind, Name, By string
	// Limit and After are as in MatchQuery.
	Limit int
	After string
}

// ListChanges lists changes with their authors, the newest first. The token must be a developer's; the role Support is
// enough.
func (c *Client) ListChanges(ctx context.Context, q ChangeQuery) (*ChangePage, error) {
	return list[ChangePage](ctx, c, "v1/changes", map[string]string{"kind": q.Kind, "name": q.Name, "by": q.By,
		"limit": numberOf(q.Limit), "after": q.After})
}

// list reads a page of a list.
func list[T any](ctx context.Context, c *Client, path string, parameters map[string]string) (*T, error) {
	return ask[T](ctx, c, plainCall{method: http.MethodGet, path: path, query: nonEmpty(parameters), repeatable: true})
}

// nonEmpty leaves out parameters without a value.
func nonEmpty(parameters map[string]string) url.Values {
	values := url.Values{}
	for name, value := range parameters {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// numberOf writes a number, "" for 0.
func numberOf[N int | int64](n N) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// secondsOf writes a length of time, "" for 0.
func secondsOf(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}

// timeOf writes a time, "" for none.
func timeOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// boolOf writes what is true, "" for what is not.
func boolOf(is bool) string {
	if is {
		return "true"
	}
	return ""
}
