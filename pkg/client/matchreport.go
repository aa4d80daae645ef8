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

// MatchReport is how good the matches of a time were. It has slots of five minutes, of a day.
type MatchReport struct {
	Since time.Time        `json:"since"`
	Until time.Time        `json:"until"`
	Rows  []MatchReportRow `json:"rows"`
	// LeftOut is how many matches are not in it, or not with all that was measured, for want of room.
	LeftOut int64 `json:"leftOut,omitempty"`
}

// MatchReportRow is the matches of a row. What rows are not divided by is zero.
type MatchReportRow struct {
	Config   string `json:"config,omitempty"`
	Revision int64  `json:"revision,omitempty"`
	Function string `json:"function,omitempty"`
	Upload   int64  `json:"upload,omitempty"`
	Queue    string `json:"queue,omitempty"`
	Region   string `json:"region,omitempty"`
	// Party is how many players the ticket has, and of a match, that of its largest party. 6 is 6 or more, and 0 that
	// nobody knows.
	Party int `json:"party,omitempty"`

	Matches  int64     `json:"matches"`
	Tickets  int64     `json:"tickets"`
	Players  int64     `json:"players"`
	Measures []Measure `json:"measures"`
}

// Measure is how values are spread. Kind is wait (of tickets, in seconds), spread or gap (of the attribute Name), or
// measure (of that Name, of the function).
type Measure struct {
	Kind  string  `json:"kind"`
	Name  string  `json:"name,omitempty"`
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	P10   float64 `json:"p10"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
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
