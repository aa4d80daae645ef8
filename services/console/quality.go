package console

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
)

// quality is how good matches were, of one measure, divided by something.
type quality struct {
	Ranges, Dimensions, Measures, Statistics, Changes []choice
	By, Measure, Statistic                            string
	Series                                            *plot
	Rows                                              []qualityRow
	Low, High                                         float64
	// Compared: rows have what was before the change, which was at Changed.
	Compared bool
	Changed  time.Time
	LeftOut  int64
	Empty    bool
	// Odds are of each rating, and Outcomes what results say, by what rows are divided.
	Odds     []qualityOdds
	Outcomes []qualityOutcome
}

// qualityOdds compare the odds of a rating with what came.
type qualityOdds struct {
	client.RatingOdds
	Plot *plot
}

// qualityOutcome is what results say of some matches.
type qualityOutcome struct {
	Name string
	*client.MatchOutcomes
}

// qualityRow is a measure of some matches, and of those like them before the change.
type qualityRow struct {
	Name            string
	Value           string // of a decile
	Matches, Before int64
	Measure         *client.Measure
	Was             *client.Measure
	Change          float64 // of the statistic
}

// dimensions are by what matches are divided.
func dimensions() []string {
	return []string{"queue", "config", "region", "party", "decile", "upload", "revision"}
}

// statistics are what a distribution is told by.
func statistics() []string { return []string{"mean", "p10", "p50", "p90"} }

func statisticOf(name string, m client.Measure) float64 {
	return map[string]float64{"mean": m.Mean, "p10": m.P10, "p50": m.P50, "p90": m.P90}[name]
}

// titleOf is a measure in an address and for people.
func titleOf(m client.Measure) string { return strings.TrimSpace(m.Kind + " " + m.Name) }

// unitOf writes values of a measure.
func unitOf(measure string) func(float64) string {
	if measure == "wait" {
		return seconds
	}
	return number1
}

func loadQuality(ctx context.Context, v *view) (any, error) {
	q := &quality{By: v.chosen("by", dimensions()...),
		Statistic: v.chosen("statistic", statistics()...)}
	back := v.chosen("range", append([]string{"24h"}, ranges()...)...)
	until := v.Now()
	since := until.Add(-rangeOf(back)).Truncate(slotTime)
	q.Ranges = v.choices("quality", "range", back, ranges()...)
	q.Dimensions = v.choices("quality", "by", q.By, dimensions()...)
	q.Statistics = v.choices("quality", "statistic", q.Statistic, statistics()...)
	series, err := v.report(ctx, client.MatchReportQuery{Since: since, By: []string{"slot"}})
	if err != nil {
		return nil, err
	}
	q.Empty, q.LeftOut = len(series.Rows) == 0, series.LeftOut
	var options []string
	for _, row := range series.Rows {
		for _, m := range row.Measures {
			if title := titleOf(m); !slices.Contains(options, title) && len(options) < 16 {
				options = append(options, title)
			}
		}
	}
	q.Measure = cmp.Or(v.chosen("measure", options...), "wait")
	q.Measures = v.choices("quality", "measure", q.Measure, options...)
	kind, name, _ := strings.Cut(q.Measure, " ")
	q.Series = timePlot(fmt.Sprintf("%s of %s of matches", q.Statistic, q.Measure), since, until,
		unitOf(q.Measure), line{"", "one",
			slots(series, since, until, math.NaN(), valueOf(kind, name, q.Statistic), nil)})
	if err := q.compare(ctx, v, since); err != nil {
		return nil, err
	}
	after := client.MatchReportQuery{Since: since, By: []string{q.By}}
	before := client.MatchReportQuery{}
	if q.Compared {
		after.Since = q.Changed
		before = client.MatchReportQuery{Since: q.Changed.Add(-until.Sub(q.Changed)), Until: q.Changed, By: after.By}
	}
	if err := q.fill(ctx, v, after, before, kind, name); err != nil {
		return nil, err
	}
	after.By = nil
	return q, q.judge(ctx, v, after)
}

// judge reads whether the odds of ratings came true.
func (q *quality) judge(ctx context.Context, v *view, of client.MatchReportQuery) error {
	all, err := v.report(ctx, of)
	if err != nil {
		return err
	}
	for _, row := range all.Rows {
		if row.Outcomes == nil {
			continue
		}
		for _, o := range row.Outcomes.Odds {
			q.Odds = append(q.Odds, qualityOdds{o,
				calibrationPlot("how often favorites won, by their odds, of "+o.Rating, o.Calibration)})
		}
	}
	return nil
}

// compare lists the latest changes, and takes the one that is asked for.
func (q *quality) compare(ctx context.Context, v *view, since time.Time) error {
	page, err := v.changePage(ctx, client.ChangeQuery{Limit: 200})
	if err != nil {
		return err
	}
	asked := v.QueryParam("change")
	q.Changes = v.choices("quality", "change", asked, "")
	q.Changes[0].Name = "none"
	for _, c := range page.Changes {
		if c.Time.Before(since) || len(q.Changes) > 8 || c.Kind != "config" && c.Kind != "function" {
			continue
		}
		at := c.Time.UTC().Format(time.RFC3339Nano)
		one := v.choices("quality", "change", asked, at)[0]
		one.Name = c.Kind + " " + c.Name + ", " + c.Time.UTC().Format("2 Jan 15:04")
		q.Changes = append(q.Changes, one)
		if at == asked {
			q.Compared, q.Changed = true, c.Time
		}
	}
	return nil
}

// fill reads the rows.
func (q *quality) fill(ctx context.Context, v *view, after, before client.MatchReportQuery, kind, name string) error {
	now, err := v.report(ctx, after)
	if err != nil {
		return err
	}
	q.LeftOut = max(q.LeftOut, now.LeftOut) // deciles have their own room
	was := map[string]client.MatchReportRow{}
	if q.Compared {
		r, err := v.report(ctx, before)
		if err != nil {
			return err
		}
		for _, row := range r.Rows {
			was[row.Name(q.By)] = row
		}
	}
	// Both begin with 0, so that lengths can be compared.
	see := func(m client.Measure) { q.Low, q.High = min(q.Low, m.P10), max(q.High, m.P90) }
	for _, row := range now.Rows {
		if row.Outcomes != nil {
			q.Outcomes = append(q.Outcomes, qualityOutcome{row.Name(q.By), row.Outcomes})
		}
		m, ok := measureOf(row, kind, name)
		if !ok {
			continue
		}
		one := qualityRow{Name: row.Name(q.By), Matches: row.Matches, Measure: &m}
		for _, own := range row.Measures {
			if own.Kind == "value" {
				one.Value = own.Name + " " + number(math.Round(own.Mean*10)/10)
			}
		}
		see(m)
		if old, ok := was[one.Name]; ok {
			one.Before = old.Matches
			if b, ok := measureOf(old, kind, name); ok {
				see(b)
				one.Was, one.Change = &b, statisticOf(q.Statistic, m)-statisticOf(q.Statistic, b)
			}
		}
		q.Rows = append(q.Rows, one)
	}
	return nil
}

// Text writes a value of the measure.
func (q *quality) Text(value float64) string { return unitOf(q.Measure)(value) }

// Span is where most of a measure is.
func (q *quality) Span(m *client.Measure) span { return spanOf(m.P10, m.P50, m.P90, q.Low, q.High) }

// Of is the statistic of a measure.
func (q *quality) Of(m *client.Measure) float64 { return statisticOf(q.Statistic, *m) }

// Signed writes a difference.
func (q *quality) Signed(value float64) string {
	switch {
	case value > 0:
		return "+" + q.Text(value)
	case value < 0:
		return "−" + q.Text(-value)
	}
	return "±0"
}
