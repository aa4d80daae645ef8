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

const (
	// slotTime is how long the shortest slot of a report is.
	slotTime = 5 * time.Minute
	// recentTime is what counts as now.
	recentTime = 15 * time.Minute
	// maxEvents is how many events a page looks at.
	maxEvents = 1000
)

// ranges are how far back pages look.
func ranges() []string { return []string{"1h", "6h", "24h", "7d", "30d", "90d"} }

// rangeOf is how long a range is.
func rangeOf(name string) time.Duration {
	const minute, day = time.Minute, 24 * time.Hour
	return map[string]time.Duration{"5m": 5 * minute, "15m": 15 * minute, "1h": 60 * minute, "6h": day / 4, "24h": day,
		"7d": 7 * day, "30d": 30 * day, "90d": 90 * day}[name]
}

// slotOf is how long a slot of a report is.
func slotOf(r *client.MatchReport) time.Duration {
	return max(time.Duration(r.SlotSeconds)*time.Second, slotTime)
}

// alert is something to look at, and what to do about it.
type alert struct {
	Bad         bool
	Text, Do    string
	Href, Label string
}

// pace is how many matches a minute there are, and how long tickets wait for them.
type pace struct{ PerMinute, P50, P90 float64 }

func paceOf(row client.MatchReportRow, r *client.MatchReport) pace {
	wait, _ := measureOf(row, "wait", "") // or zeros
	return pace{perMinute(row.Matches, r), wait.P50, wait.P90}
}

// queueRow is a queue as it is now.
type queueRow struct {
	client.Queue
	pace
	// Fails is the share of the runs that fail, of the worst function, and Lacking how many matches got no server.
	Fails   *float64 // nil if that is not known
	Lacking int
	Spark   string
	Href    string
}

// now is the first page.
type now struct {
	Time    time.Time
	Ranges  []choice
	Alerts  []alert
	Known   bool // how many wait
	Tickets int64
	Players int64
	Oldest  float64
	pace
	Lacking   int
	Queues    []queueRow
	Functions []client.Function
	Configs   []client.ListedConfig
	Matches   *plot
	Waits     *plot
}

// perMinute is how many matches a minute a report's time had.
func perMinute(matches int64, r *client.MatchReport) float64 {
	if minutes := r.Until.Sub(r.Since).Minutes(); minutes > 0 {
		return math.Round(float64(matches)/minutes*10) / 10
	}
	return 0
}

// measureOf finds a measure of a row.
func measureOf(row client.MatchReportRow, kind, name string) (client.Measure, bool) {
	i := slices.IndexFunc(row.Measures, func(m client.Measure) bool { return m.Kind == kind && m.Name == name })
	if i < 0 {
		return client.Measure{}, false
	}
	return row.Measures[i], true
}

func (v *view) queues(ctx context.Context) (*client.QueueList, error) {
	return remember(ctx, v, "queues", time.Second, (*client.Client).ListQueues)
}

func (v *view) configs(ctx context.Context) ([]client.ListedConfig, error) {
	return remember(ctx, v, "configs", 2*time.Second, (*client.Client).ListConfigs)
}

func (v *view) functions(ctx context.Context) ([]client.Function, error) {
	return remember(ctx, v, "functions", 2*time.Second, (*client.Client).ListFunctions)
}

// report reads how good matches were. It is kept for a while: slots are five minutes.
func (v *view) report(ctx context.Context, q client.MatchReportQuery) (*client.MatchReport, error) {
	q.Since, q.Until = q.Since.Truncate(10*time.Second), q.Until.Truncate(10*time.Second)
	return recall(ctx, v, "report", 5*time.Second, q, (*client.Client).ReportMatches)
}

// events reads the latest events of some kinds since a time, up to maxEvents of them.
func (v *view) events(ctx context.Context, q client.EventQuery) ([]client.Event, error) {
	q.Limit, q.Since = 1000, q.Since.Truncate(10*time.Second)
	return recall(ctx, v, "events", 2*time.Second, q,
		func(api *client.Client, ctx context.Context, q client.EventQuery) (all []client.Event, err error) {
			for range 8 {
				page, err := api.GetEvents(ctx, q)
				if err != nil {
					return nil, err
				}
				all = append(all, page.Events...)
				if q.After = page.Next; !page.More {
					break
				}
			}
			return slices.Clone(all[max(0, len(all)-maxEvents):]), nil
		})
}

// slots turns the rows of a report that is divided by slot into points, one for each slot of a time. none is the value
// where there is no row.
func slots(r *client.MatchReport, since, until time.Time, none float64, value func(client.MatchReportRow) float64,
	of func(client.MatchReportRow) bool) []point {
	found := map[int64]float64{}
	for _, row := range r.Rows {
		if of == nil || of(row) {
			found[row.Slot.Unix()] = value(row)
		}
	}
	var points []point
	for at := since.Truncate(slotOf(r)); at.Before(until); at = at.Add(slotOf(r)) {
		v, ok := found[at.Unix()]
		if !ok {
			v = none
		}
		points = append(points, point{at, v})
	}
	return points
}

// valueOf returns a statistic of a measure of a row.
func valueOf(kind, name, statistic string) func(client.MatchReportRow) float64 {
	return func(row client.MatchReportRow) float64 {
		if m, ok := measureOf(row, kind, name); ok {
			return statisticOf(statistic, m)
		}
		return math.NaN()
	}
}

// draw draws how many matches a minute there were, and how long tickets waited for them.
func (v *view) draw(r *client.MatchReport, since, until time.Time, back string,
	of func(client.MatchReportRow) bool) (matches, waits *plot) {
	wait := func(statistic string) []point {
		return slots(r, since, until, math.NaN(), valueOf("wait", "", statistic), of)
	}
	return timePlot("Matches a minute, for the last "+back, since, until, number1,
			line{"", "one", slots(r, since, until, 0, v.perSlot(r), of)}),
		timePlot("How long tickets waited until their match, for the last "+back, since, until, seconds,
			line{"90 %", "two", wait("p90")}, line{"half", "one", wait("p50")})
}

// reports reads a report since a time for each of some divisions.
func (v *view) reports(ctx context.Context, since time.Time, by ...string) (all []*client.MatchReport, err error) {
	for _, names := range by {
		r, err := v.report(ctx, client.MatchReportQuery{Since: since, By: strings.Split(names, ",")})
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// perSlot returns how many matches a minute a slot of a report had. The slot that goes on is shorter than the others.
func (v *view) perSlot(r *client.MatchReport) func(client.MatchReportRow) float64 {
	return func(row client.MatchReportRow) float64 {
		long := min(slotOf(r), max(v.Now().Sub(row.Slot), time.Minute))
		return math.Round(float64(row.Matches)/long.Minutes()*100) / 100
	}
}

func loadNow(ctx context.Context, v *view) (any, error) {
	back := v.chosen("range", ranges()...)
	until := v.Now()
	since := until.Add(-rangeOf(back)).Truncate(slotTime)
	n := &now{Time: until, Ranges: v.choices("now", "range", back, ranges()...)}
	list, err := v.queues(ctx)
	if err := v.note("How many wait is not known", err); err != nil {
		return nil, err
	}
	if n.Configs, err = v.configs(ctx); err != nil {
		return nil, err
	}
	if n.Functions, err = v.functions(ctx); err != nil {
		return nil, err
	}
	recent, err := v.reports(ctx, until.Add(-recentTime), "", "queue")
	if err != nil {
		return nil, err
	}
	if len(recent[0].Rows) > 0 {
		n.pace = paceOf(recent[0].Rows[0], recent[0])
	}
	long, err := v.reports(ctx, since, "slot", "queue,slot")
	if err != nil {
		return nil, err
	}
	n.Matches, n.Waits = v.draw(long[0], since, until, back, nil)
	events, err := v.events(ctx, client.EventQuery{Kinds: []string{"full", "failed"}, Since: until.Add(-recentTime)})
	if err := v.note("Whether servers lack is not known", err); err != nil {
		return nil, err
	}
	n.Lacking = len(events)
	n.addQueues(v, list, recent[1], long[1], since, until, events)
	n.addAlerts(v)
	return n, nil
}

func number1(f float64) string { return number(f) }

// addQueues adds a row for each queue.
func (n *now) addQueues(v *view, list *client.QueueList, recent, series *client.MatchReport, since, until time.Time,
	events []client.Event) {
	rows := map[string]*queueRow{}
	of := func(name string) *queueRow {
		if rows[name] == nil {
			rows[name] = &queueRow{Queue: client.Queue{Queue: name}}
		}
		return rows[name]
	}
	if list != nil {
		n.Known, n.Tickets = true, list.Tickets
		for _, q := range list.Queues {
			of(q.Queue).Queue = q
			n.Players, n.Oldest = n.Players+q.Players, max(n.Oldest, q.Oldest)
		}
	}
	health, lacking := map[string]*client.FunctionHealth{}, map[string]int{}
	for _, f := range n.Functions {
		health[f.Name] = f.Health
	}
	for _, e := range events {
		lacking[e.Config]++
	}
	for _, c := range n.Configs {
		q := of(c.Queue)
		if list == nil {
			q.Configs = append(q.Configs, c.ID)
		}
		if h := health[c.Function]; h != nil && (q.Fails == nil || *q.Fails < h.FailedShare) {
			q.Fails = &h.FailedShare
		}
		q.Lacking += lacking[c.ID]
	}
	for _, one := range recent.Rows {
		of(one.Queue).pace = paceOf(one, recent)
	}
	for name, q := range rows {
		q.Href = v.queueLink(name)
		q.Spark = spark(slots(series, since, until, 0, v.perSlot(series),
			func(row client.MatchReportRow) bool { return row.Queue == name }))
		n.Queues = append(n.Queues, *q)
	}
	slices.SortFunc(n.Queues, func(a, b queueRow) int { return cmp.Compare(a.Queue.Queue, b.Queue.Queue) })
}

// queueLink is the page of a queue; of the tickets without one, too.
func (v *view) queueLink(name string) string {
	if name == "" {
		return v.link("queue", "none", "true")
	}
	return v.link("queue", "queue", name)
}

// addAlerts adds what should be looked at.
func (n *now) addAlerts(v *view) {
	add := func(a alert) { n.Alerts = append(n.Alerts, a) }
	for _, q := range n.Queues {
		name := "The queue " + q.Queue.Queue
		if q.Queue.Queue == "" {
			name = "Having no queue"
		}
		switch {
		case len(q.Configs) == 0 && q.Tickets > 0:
			waits := plural(q.Tickets, "ticket waits", "tickets wait")
			add(alert{true, fmt.Sprintf("%s: %s, and no config serves it.", name, waits),
				"Put a config for this queue, or find out which client asks for it.", q.Href, "Who waits there"})
		case q.P90 > 0 && q.Oldest > max(10*q.P90, 60):
			add(alert{false, fmt.Sprintf("%s: the oldest ticket has waited for %s; most wait less than %s.", name,
				seconds(q.Oldest), seconds(q.P90)), "See why that ticket is in no match.", q.Href, "The oldest tickets"})
		}
	}
	functions := map[string]bool{}
	for _, f := range n.Functions {
		functions[f.Name] = true
		href := v.link("function", "name", f.Name)
		switch {
		case f.Status.State == client.Failed:
			add(alert{true, "The function " + f.Name + " does not run.", "Read its log, and go back to an upload that worked.",
				href, "Its versions and log"})
		case f.Health != nil && f.Health.FailedShare >= 0.01:
			add(alert{true, fmt.Sprintf("The function %s fails %s of its runs.", f.Name, percent(f.Health.FailedShare)),
				"Read its last error, and go back to an upload that worked.", href, "Its failures"})
		case f.Returned != nil:
			add(alert{false, fmt.Sprintf("The function %s went back by itself from upload %d to %d.", f.Name, f.Returned.From,
				f.Returned.To), "Mend the upload before you try it again.", href, "Why it went back"})
		}
	}
	for _, c := range n.Configs {
		if !functions[c.Function] {
			add(alert{true, fmt.Sprintf("The config %s names the function %s, which is not uploaded.", c.ID, c.Function),
				"Upload the function, or name another one in the config.", v.link("config", "id", c.ID), "The config"})
		}
	}
	if n.Lacking > 0 {
		add(alert{true, fmt.Sprintf("%s no server within a quarter of an hour.", plural(n.Lacking, "match got",
			"matches got")), "See what hosting answered, and add servers to the fleet.", v.link("fleets"), "Refusals"})
	}
	slices.SortStableFunc(n.Alerts, func(a, b alert) int {
		return cmp.Compare(map[bool]int{true: 0, false: 1}[a.Bad], map[bool]int{true: 0, false: 1}[b.Bad])
	})
}

// plural counts something.
func plural(n any, one, many string) string {
	if text := number(n); text != "1" {
		return text + " " + many
	}
	return "1 " + one
}
