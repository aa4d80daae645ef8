package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
	reports "matchmaker.dev/services/internal/observe/report"
)

type reportCommand struct {
	Since       time.Duration `default:"1h" help:"How far back it begins; 90 days (2160h) at most."`
	Until       time.Duration `default:"0s" help:"How far back it ends."`
	SinceChange string        `placeholder:"CONFIG" completion-predictor:"config" help:"Only the matches of this config since its last change, beside the same time before it."`
	Earlier     time.Duration `placeholder:"DURATION" help:"Beside it the same time so much earlier, such as 1h or 12h." bounds:"0.."`
	Config      string        `completion-predictor:"config" help:"Only matches of this config."`
	By          []string      `default:"queue,party,region" completion-predictor:"dimension" help:"A table for each of these: config, revision, function, upload, queue, region, party, decile, slot (of five minutes, an hour or a day)."`
}

// mostReported is for how long reports are kept.
const mostReported = 90 * 24 * time.Hour

// Validate is called by the parser.
func (c reportCommand) Validate() error {
	switch {
	case c.Until < 0 || c.Since <= c.Until:
		return usageError("--since must be more than --until, such as 1h")
	case c.Since > mostReported:
		return usageError("--since: 90 days (2160h) at most: the service keeps no more")
	case c.Earlier > 0 && c.Earlier < c.Since-c.Until:
		return usageError(fmt.Sprintf("--earlier: %v at least, or some matches would be in both periods", c.Since-c.Until))
	case c.Since+c.Earlier > mostReported:
		return usageError("--since and --earlier: 90 days (2160h) at most together: the service keeps no more")
	case c.SinceChange != "" && (c.Config != "" || c.Earlier != 0 || c.Until != 0):
		return usageError("--since-change says already which matches are compared: leave --config, --earlier and --until out")
	}
	for _, by := range c.By {
		if !slices.Contains(reports.Dimensions(), by) {
			return usageError(fmt.Sprintf("--by: %q is none of %s", by, strings.Join(reports.Dimensions(), ", ")))
		}
	}
	return nil
}

// matchReport is the result of "mm report", with the fields of the JSON.
type matchReport struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Before is when the time began and ended that is beside it, if there is one.
	Before *period       `json:"before,omitempty"`
	Tables []reportTable `json:"tables"`
	// LeftOut is how many matches are not in it as a whole, for want of room.
	LeftOut int64 `json:"leftOut,omitempty"`
}

type period struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// reportTable is divided by a dimension; the first one is not.
type reportTable struct {
	By     string                  `json:"by,omitempty"`
	Rows   []client.MatchReportRow `json:"rows"`
	Before []client.MatchReportRow `json:"before,omitempty"`
}

// Run prints the report.
func (c reportCommand) Run(ctx context.Context, s *session, api developerAPI) error {
	now, before, err := c.periods(ctx, s, api)
	if err != nil {
		return err
	}
	r := &matchReport{}
	for _, by := range append([]string{""}, c.By...) {
		if by != "" {
			now.By = []string{by}
		}
		told, err := api.ReportMatches(ctx, now)
		if err != nil {
			return err
		}
		table := reportTable{By: by, Rows: told.Rows}
		r.Since, r.Until, r.LeftOut = told.Since, told.Until, told.LeftOut
		if before != nil {
			before.By = now.By
			if c.Earlier > 0 && before.Until.After(told.Since) {
				before.Until = told.Since // five minutes are counted as a whole, and once
			}
			told, err := api.ReportMatches(ctx, *before)
			if err != nil {
				return err
			}
			table.Before, r.Before = told.Rows, &period{told.Since, told.Until}
		}
		r.Tables = append(r.Tables, table)
	}
	if len(r.Tables[0].Rows) == 0 {
		s.noteIfUnknown(ctx, api.Client)
	}
	return s.showMatchReport(r)
}

// periods is what is asked for, and what is beside it; nil if nothing is.
func (c reportCommand) periods(
	ctx context.Context, s *session, api developerAPI,
) (now client.MatchReportQuery, before *client.MatchReportQuery, err error) {
	at := s.now()
	if c.SinceChange != "" {
		return sinceChange(ctx, api, c.SinceChange, at)
	}
	now = client.MatchReportQuery{Since: at.Add(-c.Since), Until: at.Add(-c.Until), Config: c.Config}
	if c.Earlier > 0 {
		earlier := now
		earlier.Since, earlier.Until = now.Since.Add(-c.Earlier), now.Until.Add(-c.Earlier)
		before = &earlier
	}
	return now, before, nil
}

// sinceChange is the time since the last change of a config, and as long before. Revisions divide the matches of the
// five minutes in which it was changed.
func sinceChange(
	ctx context.Context, api developerAPI, config string, at time.Time,
) (now client.MatchReportQuery, before *client.MatchReportQuery, err error) {
	changes, err := api.ConfigHistory(ctx, config)
	if err != nil {
		return now, nil, err
	}
	i := slices.IndexFunc(changes, func(c client.ConfigChange) bool { return c.Current })
	if i < 0 {
		return now, nil, fmt.Errorf("config %s is deleted", config)
	}
	changed := changes[i].Changed
	revision, err := strconv.ParseInt(strings.Trim(changes[i].ETag, `"`), 10, 64)
	if err != nil || changed.IsZero() || !changed.Before(at) {
		return now, nil, fmt.Errorf("config %s: the time of its change is not known: give --config and --since", config)
	}
	now = client.MatchReportQuery{Since: changed, Until: at, Config: config, MinRevision: revision}
	earlier := client.MatchReportQuery{Since: changed.Add(changed.Sub(at)), Until: changed, Config: config,
		MaxRevision: revision - 1}
	if revision == 1 {
		return now, nil, nil // it is the first one of all configs
	}
	return now, &earlier, nil
}

// showMatchReport prints a report.
func (s *session) showMatchReport(r *matchReport) error {
	var about grid
	about.add("from", formatTime(r.Since.Truncate(time.Second))+" to "+formatTime(r.Until.Truncate(time.Second)))
	if r.Before != nil {
		about.add("before",
			formatTime(r.Before.Since.Truncate(time.Second))+" to "+formatTime(r.Before.Until.Truncate(time.Second)))
	}
	grids := []grid{about}
	for _, t := range r.Tables {
		if !t.divides() {
			continue
		}
		grids = append(grids, t.grid(r.Before != nil))
	}
	grids = append(grids, calibration(r.Tables[0].Rows))
	if err := s.show(r, grids...); err != nil {
		return err
	}
	if len(r.Tables[0].Rows) == 0 {
		s.note("no match was made in this time, of those that are asked for")
	}
	if r.LeftOut > 0 {
		s.note("%d matches are not in it as a whole: configs, regions and measures are too many for the room", r.LeftOut)
	}
	return nil
}

// divides reports whether the table says more than the one that is not divided.
func (t *reportTable) divides() bool {
	return t.By == "" || slices.ContainsFunc(slices.Concat(t.Rows, t.Before), func(row client.MatchReportRow) bool {
		return row.Name(t.By) != client.NoName
	})
}

// grid is the table. Each row of the report has a line for the matches and one for each measure.
func (t *reportTable) grid(compared bool) grid {
	g := grid{head: []any{t.By, "of", "count", "median", "90 %", "mean"}}
	if t.By == "" {
		g.head[0] = "all"
	}
	if compared {
		g.head = append(g.head, "count before", "median before", "90 % before", "mean before")
	}
	names, rows := rowsByName(t.By, t.Rows)
	more, before := rowsByName(t.By, t.Before)
	more = slices.DeleteFunc(more, func(name string) bool { return slices.Contains(names, name) })
	for _, name := range append(names, more...) {
		row, other := rows[name], before[name]
		line := []any{name, "matches", row.Matches, "", "", ""}
		if compared {
			line = append(line, other.Matches, "", "", "")
		}
		g.add(line...)
		for _, of := range measuresOfRows(row, other) {
			line := append([]any{name, of.text()}, cellsOf(of, measuresOfRow(row))...)
			if compared {
				line = append(line, cellsOf(of, measuresOfRow(other))...)
			}
			g.add(line...)
		}
	}
	return g
}

func rowsByName(by string, rows []client.MatchReportRow) (names []string, of map[string]client.MatchReportRow) {
	of = map[string]client.MatchReportRow{}
	for _, row := range rows {
		name := row.Name(by)
		names, of[name] = append(names, name), row
	}
	return names, of
}

// outcome is the kind of what results say of matches, which have a mean alone.
const outcome = "outcome"

// measuresOfRow are the measures of a row, and what results say.
func measuresOfRow(row client.MatchReportRow) []client.Measure {
	o := row.Outcomes
	if o == nil {
		return row.Measures
	}
	all := append(slices.Clone(row.Measures),
		client.Measure{Kind: outcome, Name: "left before the end", Count: o.Players, Mean: o.Left})
	for _, r := range o.Odds {
		all = append(all, client.Measure{Kind: outcome, Name: r.Rating + " log-loss", Count: r.Pairs, Mean: r.LogLoss},
			client.Measure{Kind: outcome, Name: r.Rating + " Brier", Count: r.Pairs, Mean: r.Brier})
	}
	return all
}

// calibration says whether the odds of ratings can be believed.
func calibration(rows []client.MatchReportRow) grid {
	g := grid{head: []any{"rating", "odds of the favorite", "won", "pairs of teams"}}
	for _, row := range rows {
		if row.Outcomes == nil {
			continue
		}
		for _, r := range row.Outcomes.Odds {
			for _, b := range r.Calibration {
				g.add(r.Rating, fmt.Sprintf("%.1f %%", b.Predicted*100), fmt.Sprintf("%.1f %%", b.Won*100), b.Pairs)
			}
		}
	}
	return g
}

// measureName is what a line of a table is about.
type measureName struct{ kind, name string }

func (m measureName) text() string {
	switch m.kind {
	case reports.Wait:
		return "wait in seconds"
	case reports.Measure, outcome:
		return m.name
	}
	return m.name + " " + m.kind
}

// measuresOfRows are the measures of some rows, each once.
func measuresOfRows(rows ...client.MatchReportRow) (all []measureName) {
	for _, row := range rows {
		for _, m := range measuresOfRow(row) {
			if of := (measureName{m.Kind, m.Name}); !slices.Contains(all, of) {
				all = append(all, of)
			}
		}
	}
	return all
}

// cellsOf are the cells of a measure, empty if there is none.
func cellsOf(of measureName, measures []client.Measure) []any {
	for _, m := range measures {
		switch {
		case m.Kind != of.kind || m.Name != of.name:
		case of.kind == outcome:
			return []any{m.Count, "", "", format.Number(m.Mean)}
		default:
			return []any{m.Count, format.Number(m.P50), format.Number(m.P90), format.Number(m.Mean)}
		}
	}
	return []any{"", "", "", ""}
}
