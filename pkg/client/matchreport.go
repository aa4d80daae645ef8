package client

import (
	"context"
	"net/http"
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

// ReportMatches reads how good matches were. The token must be a developer's; the role Support is enough.
func (c *Client) ReportMatches(ctx context.Context, q MatchReportQuery) (*MatchReport, error) {
	return list[MatchReport](ctx, c, "v1/matches/report", map[string]any{"since": q.Since, "until": q.Until,
		"by": q.By, "config": q.Config, "minRevision": q.MinRevision, "maxRevision": q.MaxRevision})
}

// LeaderboardQuery says which part of a leaderboard is read. Its zero value is the first page of the rating's season.
type LeaderboardQuery struct {
	Season string
	// Limit is how many players a page has; 50 if it is 0. After is the rank behind which they are.
	Limit, After int
}

// Leaderboard reads the best players of a rating.
func (c *Client) Leaderboard(ctx context.Context, rating string, q LeaderboardQuery) (*Leaderboard, error) {
	return ask[Leaderboard](ctx, c, plainCall{method: http.MethodGet, path: "v1/ratings/{rating}/leaderboard",
		segments: []string{rating}, repeatable: true, query: parameters(map[string]any{"season": q.Season, "limit": q.Limit,
			"after": q.After})})
}
