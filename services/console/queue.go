package console

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"matchmaker.dev/pkg/client"
)

// queuePage is a queue: the tickets in it, and how long tickets waited.
type queuePage struct {
	queueRow
	Name       string
	None       bool
	Ranges     []choice
	Attributes []choice
	Attribute  string
	Oldest     []client.WaitingTicket
	Total      int64
	// Sampled is how many of the waiting tickets the pictures are of: the oldest.
	Sampled  int
	Ages     *plot
	Values   *plot
	Parties  *plot
	Matches  *plot
	WaitPlot *plot
	WhatIf   *whatIf
	// Parts are the matches of each region, and of each size of the largest party.
	Parts []queuePart
}

type queuePart struct {
	By, Name     string
	Matches      int64
	Wait, Spread client.Measure
}

func loadQueue(ctx context.Context, v *view) (any, error) {
	name, back := v.QueryParam("queue"), v.chosen("range", ranges()...)
	until := v.Now()
	since := until.Add(-rangeOf(back)).Truncate(slotTime)
	q := &queuePage{Name: name, None: name == "", Ranges: v.choices("queue", "range", back, ranges()...)}
	list, err := v.queues(ctx)
	if err := v.note("How many wait is not known", err); err != nil {
		return nil, err
	}
	if list != nil {
		for _, one := range list.Queues {
			if one.Queue == name {
				q.Queue = one
			}
		}
	}
	recent, err := v.report(ctx, client.MatchReportQuery{Since: until.Add(-recentTime), By: []string{"queue"}})
	if err != nil {
		return nil, err
	}
	own := func(row client.MatchReportRow) bool { return row.Queue == name }
	if i := slices.IndexFunc(recent.Rows, own); i >= 0 {
		q.pace = paceOf(recent.Rows[i], recent)
	}
	series, err := v.report(ctx, client.MatchReportQuery{Since: since, By: []string{"queue", "slot"}})
	if err != nil {
		return nil, err
	}
	q.Matches = timePlot("Matches a minute, for the last "+back, since, until, number1,
		line{"", "one", zeros(slots(series, since, until, v.perSlot(series), own))})
	q.WaitPlot = timePlot("How long tickets waited until their match", since, until, seconds,
		line{"90 %", "two", slots(series, since, until, waitAt(p90), own)},
		line{"half", "one", slots(series, since, until, waitAt(p50), own)})
	if q.WhatIf, err = loadWhatIf(ctx, v, q.Configs); v.note("No config can be tried", err) != nil {
		return nil, err
	}
	page, err := remember(ctx, v, "waiting "+name, 4*time.Second,
		func(ctx context.Context, api *client.Client) (*client.WaitingPage, error) {
			return api.GetWaitingTickets(ctx, client.WaitingQuery{Queue: name, NoQueue: name == "", Limit: 200})
		})
	if err := v.note("Who waits is not known", err); err != nil {
		return nil, err
	}
	if page != nil {
		q.sample(v, page)
	}
	return q, q.divide(ctx, v, since)
}

// divide adds the matches by region and party.
func (q *queuePage) divide(ctx context.Context, v *view, since time.Time) error {
	for _, by := range []string{"region", "party"} {
		r, err := v.report(ctx, client.MatchReportQuery{Since: since, By: []string{"queue", by}})
		if err != nil {
			return err
		}
		for _, row := range r.Rows {
			if row.Queue == q.Name {
				part := queuePart{By: by, Name: nameOf(by, row), Matches: row.Matches}
				part.Wait, _ = measureOf(row, "wait", "")
				part.Spread, _ = measureOf(row, "spread", q.Attribute)
				q.Parts = append(q.Parts, part)
			}
		}
	}
	return nil
}

// sample draws the waiting tickets.
func (q *queuePage) sample(v *view, page *client.WaitingPage) {
	q.Total, q.Sampled = page.Total, len(page.Tickets)
	q.Oldest = page.Tickets[:min(len(page.Tickets), 25)]
	names := map[string]bool{}
	var ages []float64
	sizes := make([]bar, 6)
	for i := range sizes {
		sizes[i].Name = strconv.Itoa(i + 1)
	}
	sizes[5].Name = "6+"
	for _, t := range page.Tickets {
		ages = append(ages, t.Waited)
		sizes[min(max(len(t.Players), 1), 6)-1].Value++
		for name := range t.Attributes {
			names[name] = true
		}
	}
	options := slices.Sorted(maps.Keys(names))
	options = options[:min(len(options), 12)]
	q.Attribute = v.chosen("attribute", options...)
	if slices.Contains(options, "skill") && !v.QueryParams().Has("attribute") {
		q.Attribute = "skill"
	}
	q.Attributes = v.choices("queue", "attribute", q.Attribute, options...)
	var values []float64
	for _, t := range page.Tickets {
		if value, ok := t.Attributes[q.Attribute]; ok {
			values = append(values, value)
		}
	}
	q.Ages = histogram("For how long they have waited", ages, seconds)
	q.Values = histogram("Their "+q.Attribute, values, number1)
	q.Parties = barPlot("Tickets by number of players", number1, sizes)
}
