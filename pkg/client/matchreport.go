package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// MatchReportQuery says what a report is about. Its zero value is the last hour, in one row.
type MatchReportQuery struct {
	// Since is an hour before Until if it is zero, and Until is now.
	Since, Until time.Time
	// By is by what rows are divided: config, revision, function, upload, queue, region and party.
	By []string
	// Config selects the matches of one config; empty for all. MinRevision and MaxRevision select revisions of configs; 0
	// for any.
	Config                   string
	MinRevision, MaxRevision int64
}

func (q *MatchReportQuery) values() url.Values {
	values := url.Values{}
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			values.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	for name, n := range map[string]int64{"minRevision": q.MinRevision, "maxRevision": q.MaxRevision} {
		if n > 0 {
			values.Set(name, strconv.FormatInt(n, 10))
		}
	}
	if len(q.By) > 0 {
		values.Set("by", strings.Join(q.By, ","))
	}
	if q.Config != "" {
		values.Set("config", q.Config)
	}
	return values
}

// ReportMatches reads how good matches were. The token must be a developer's; the role Support is enough.
func (c *Client) ReportMatches(ctx context.Context, q MatchReportQuery) (*MatchReport, error) {
	report := new(MatchReport)
	_, err := c.do(ctx, &request{
		method: http.MethodGet, path: "v1/matches/report", query: q.values(), repeatable: true,
	}, report)
	if err != nil {
		return nil, err
	}
	return report, nil
}

// LeaderboardQuery says which part of a leaderboard is read. Its zero value is the first page of the rating's season.
type LeaderboardQuery struct {
	Season string
	// Limit is how many players a page has; 50 if it is 0. After is the rank behind which they are.
	Limit, After int
}

// Leaderboard reads the best players of a rating.
func (c *Client) Leaderboard(ctx context.Context, rating string, q LeaderboardQuery) (*Leaderboard, error) {
	values := url.Values{}
	if q.Season != "" {
		values.Set("season", q.Season)
	}
	for name, n := range map[string]int{"limit": q.Limit, "after": q.After} {
		if n != 0 {
			values.Set(name, strconv.Itoa(n))
		}
	}
	page := new(Leaderboard)
	_, err := c.do(ctx, &request{
		method: http.MethodGet, path: "v1/ratings/" + url.PathEscape(rating) + "/leaderboard", query: values,
		repeatable: true,
	}, page)
	if err != nil {
		return nil, err
	}
	return page, nil
}
