package insight

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/observe/report"
)

// reportTime is the default length of a report.
const reportTime = time.Hour

// reportQuery is what a report is asked for.
type reportQuery struct {
	table       report.Table
	span        report.Span
	first, last int64 // slots
	since       time.Time
	until       time.Time
}

// report answers GET /matches/report.
func (s *service) report(c echo.Context) error {
	now := s.Store.Now()
	q, err := readReportQuery(c, now)
	if err != nil {
		return err
	}
	project := c.Param("project")
	ctx, leave, err := s.read(c.Request().Context(), project, readTime)
	if err != nil {
		return err
	}
	defer leave()
	err = report.Read(ctx, s.Store, s.pace, project, q.span.Name, q.first, q.last, q.table.Add)
	switch {
	case errors.Is(err, report.ErrNoTime):
		return problem.New(problem.Unavailable,
			"the report was not made in time: the project looks at too much, try again later").After(time.Second)
	case err != nil:
		return err
	}
	return c.JSON(http.StatusOK, q.answer(now))
}

// readReportQuery reads the parameters of a request.
func readReportQuery(c echo.Context, now time.Time) (*reportQuery, error) {
	values, err := web.Query(c, "since", "until", "by", "config", "minRevision", "maxRevision")
	if err != nil {
		return nil, err
	}
	q := &reportQuery{until: now}
	if values.Has("until") {
		if q.until, err = timeOf(values, "until"); err != nil {
			return nil, err
		}
	}
	q.since = q.until.Add(-reportTime)
	if values.Has("since") {
		if q.since, err = timeOf(values, "since"); err != nil {
			return nil, err
		}
	}
	if !q.since.Before(q.until) {
		return nil, problem.New(problem.Invalid, "query parameter since: a time before until is expected")
	}
	q.choose(now)
	t := &q.table
	if values.Has("by") {
		t.By = strings.Split(values.Get("by"), ",")
	}
	for _, by := range t.By {
		if !slices.Contains(report.Dimensions(), by) {
			return nil, problem.New(problem.Invalid, "query parameter by: %s are expected, with commas between, such as "+
				"queue,region", strings.Join(report.Dimensions(), ", "))
		}
	}
	if slices.Contains(t.By, "decile") && (slices.Contains(t.By, "region") || slices.Contains(t.By, "party")) {
		return nil, problem.New(problem.Invalid, "query parameter by: decile goes with neither region nor party")
	}
	t.Config = values.Get("config")
	if values.Has("config") && (t.Config == "" || len(t.Config) > 255) {
		return nil, problem.New(problem.Invalid, "query parameter config: an identifier of 1 to 255 bytes is expected")
	}
	for name, into := range map[string]*int64{"minRevision": &t.MinRevision, "maxRevision": &t.MaxRevision} {
		if !values.Has(name) {
			continue
		}
		if *into, err = strconv.ParseInt(values.Get(name), 10, 64); err != nil || *into < 1 {
			return nil, problem.New(problem.Invalid, "query parameter %s: a whole number from 1 on is expected",
				problem.Word(name))
		}
	}
	return q, nil
}

// maxSlots is how many slots a report has at most, so that rows which are divided by slot find room.
const maxSlots = 400

// choose chooses the shortest slots that are kept for the whole time and are not too many for it. Clocks differ by a
// slot. Of longer slots than the shortest, the one in which the time ends is left out where it began before: what came
// after the time would count.
func (q *reportQuery) choose(now time.Time) {
	for n, span := range report.Spans() {
		newest := span.SlotOf(now)
		oldest := newest - span.Slots
		q.span, q.first = span, max(span.SlotOf(q.since), oldest)
		q.last = min(span.SlotOf(q.until.Add(-time.Millisecond)), newest)
		if end := span.SlotOf(q.until); n > 0 && end < newest {
			q.last = max(q.first, end-1)
		}
		if span.SlotOf(q.since) >= oldest-2 && q.last-q.first < maxSlots {
			return
		}
	}
}

// timeOf reads a time.
func timeOf(values url.Values, name string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, values.Get(name))
	if err != nil {
		return time.Time{}, problem.New(problem.Invalid,
			"query parameter %s: a time is expected, such as 2026-11-05T10:26:40Z", problem.Word(name))
	}
	return at, nil
}

// answer is what the table has.
func (q *reportQuery) answer(now time.Time) response.MatchReport {
	slot := q.span.Slot.Milliseconds()
	a := response.MatchReport{
		SlotSeconds: int(q.span.Slot.Seconds()), Since: formatTime(q.first * slot),
		Until: formatTime(max(q.first*slot, min(now.UnixMilli(), (q.last+1)*slot))),
		Rows:  []response.MatchReportRow{}, LeftOut: q.table.LeftOut(),
	}
	for _, row := range q.table.Rows() {
		one := response.MatchReportRow{
			Config: row.Config, Revision: row.Revision, Function: row.Function, Upload: row.Upload, Queue: row.Queue,
			Region: row.Region, Party: row.Party, Decile: row.Decile, Matches: row.Matches, Tickets: row.Tickets,
			Players: row.Players, Measures: response.NewMeasures(row.Distributions), Outcomes: outcomesOf(&row),
		}
		if row.Slot > 0 {
			one.Slot = formatTime(row.Slot * slot)
		}
		a.Rows = append(a.Rows, one)
	}
	return a
}

// outcomesOf is what results say of the matches of a row; nil if there is none.
func outcomesOf(row *report.Row) *response.MatchOutcomes {
	if row.Results == 0 {
		return nil
	}
	all := &response.MatchOutcomes{Results: row.Results, Players: row.ResultPlayers,
		Left: float64(row.Left) / float64(max(row.ResultPlayers, 1)), Odds: []response.RatingOdds{}}
	for _, o := range row.Odds {
		sum := o.Sum()
		if sum.Pairs == 0 {
			continue
		}
		one := response.RatingOdds{Rating: o.Rating, Pairs: int64(sum.Pairs), LogLoss: o.Loss / sum.Pairs,
			Brier: o.Squares / sum.Pairs}
		for i, b := range o.Buckets {
			if b.Pairs > 0 {
				means := b.Means()
				one.Calibration = append(one.Calibration, response.OddsBucket{
					From: 0.5 + float64(i)/(2*rating.Buckets), Pairs: int64(b.Pairs), Predicted: means.Odds, Won: means.Won})
			}
		}
		all.Odds = append(all.Odds, one)
	}
	return all
}
