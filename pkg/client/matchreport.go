package client

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
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

// ReportMatches reads how good matches were. The token must be a developer's; the role Support is enough.
func (c *Client) ReportMatches(ctx context.Context, q MatchReportQuery) (*MatchReport, error) {
	return list[MatchReport](ctx, c, "v1/matches/report", map[string]string{"since": timeOf(q.Since),
		"until": timeOf(q.Until), "by": strings.Join(q.By, ","), "config": q.Config,
		"minRevision": numberOf(q.MinRevision), "maxRevision": numberOf(q.MaxRevision)})
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

// LeaderboardQuery says which part of a leaderboard is read. Its zero value is the first page of the rating's season.
type LeaderboardQuery struct {
	Season string
	// Limit is how many players a page has; 50 if it is 0. After is the rank behind which they are.
	Limit, After int
}

// Leaderboard reads the best players of a rating.
func (c *Client) Leaderboard(ctx context.Context, rating string, q LeaderboardQuery) (*Leaderboard, error) {
	return ask[Leaderboard](ctx, c, plainCall{method: http.MethodGet, path: "v1/ratings/{rating}/leaderboard",
		segments: []string{rating}, repeatable: true, query: nonEmpty(map[string]string{"season": q.Season,
			"limit": numberOf(q.Limit), "after": numberOf(q.After)})})
}
