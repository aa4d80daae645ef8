package console

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/web"
)

// maxGroups is how many parties and regions are told apart, those with the most tickets.
const maxGroups = 24

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
	// Sampled is how many of the waiting tickets are looked at.
	Sampled  int
	Ages     *plot
	Values   *plot
	Matches  *plot
	WaitPlot *plot
	WhatIf   *whatIf
	// Parts are the matches of each region, and of each size of the largest party.
	Parts []queuePart
	// Groups are the tickets that wait, by region and party. The pictures are of one of them, Of, or else of All.
	Groups  []waitingGroup
	Of, All string
}

// waitingGroup is some of the tickets that wait. The pictures are of the chosen one.
type waitingGroup struct {
	choice
	By            string
	Tickets       int
	Waited, Value *valueRange
	ages, values  []float64
}

// valueRange is where most of some values are.
type valueRange struct {
	P10, P50, P90 float64
	Span          span
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
	recent, err := v.reports(ctx, until.Add(-recentTime), "queue")
	if err != nil {
		return nil, err
	}
	own := func(row client.MatchReportRow) bool { return row.Queue == name }
	if i := slices.IndexFunc(recent[0].Rows, own); i >= 0 {
		q.pace = paceOf(recent[0].Rows[i], recent[0])
	}
	long, err := v.reports(ctx, since, "queue,slot", "queue,region", "queue,party")
	if err != nil {
		return nil, err
	}
	q.Matches, q.WaitPlot = v.draw(long[0], since, until, back, own)
	if q.WhatIf, err = loadWhatIf(ctx, v, q.Configs); v.note("No config can be tried", err) != nil {
		return nil, err
	}
	page, err := v.waiting(ctx, name, false)
	some := page
	if err == nil && page.Total > web.MostListed {
		if some, err = v.waiting(ctx, name, true); err != nil {
			some = page
		}
	}
	if err := v.note("Who waits is not known", err); err != nil {
		return nil, err
	}
	if some != nil {
		q.Oldest, q.Total = page.Tickets[:min(len(page.Tickets), 25)], page.Total
		q.sample(v, some.Tickets)
	}
	q.divide("region", long[1])
	q.divide("party", long[2])
	return q, nil
}

// waiting reads the oldest tickets of a queue, or a sample of all.
func (v *view) waiting(ctx context.Context, queue string, sample bool) (*client.WaitingPage, error) {
	return recall(ctx, v, "waiting", 4*time.Second, client.WaitingQuery{Queue: queue, NoQueue: queue == "",
		Limit: web.MostListed, Sample: sample}, (*client.Client).GetWaitingTickets)
}

// divide adds the matches by region or party.
func (q *queuePage) divide(by string, r *client.MatchReport) {
	for _, row := range r.Rows {
		if row.Queue == q.Name {
			part := queuePart{By: by, Name: row.Name(by), Matches: row.Matches}
			part.Wait, _ = measureOf(row, "wait", "")
			part.Spread, _ = measureOf(row, "spread", q.Attribute)
			q.Parts = append(q.Parts, part)
		}
	}
}

// sample draws the waiting tickets: all, or some of them, by what is chosen.
func (q *queuePage) sample(v *view, tickets []client.WaitingTicket) {
	names := map[string]bool{}
	for _, t := range tickets {
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
	q.group(v, tickets)
	ages, values := valuesOf(tickets, q.Attribute)
	for _, g := range q.Groups {
		if g.Chosen {
			ages, values, q.Of = g.ages, g.values, g.By+" "+g.Name
		}
	}
	q.Sampled, q.All = len(tickets), v.choices("queue", "of", "", "")[0].Href
	q.Ages = histogram("For how long they have waited", ages, seconds)
	q.Values = histogram("Their "+q.Attribute, values, number1)
}

// group divides tickets by region and by party.
func (q *queuePage) group(v *view, tickets []client.WaitingTicket) {
	groups := map[[2]string][]client.WaitingTicket{}
	for _, t := range tickets {
		party := client.MatchReportRow{Party: max(len(t.Players), 1)}
		for _, key := range [][2]string{{"region", cmp.Or(t.Region, "unknown")}, {"party", party.Name("party")}} {
			groups[key] = append(groups[key], t)
		}
	}
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b [2]string) int { // the parties, which are few, are first
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a[1], b[1]))
	})
	for _, key := range keys[min(len(keys), maxGroups):] {
		some, others := groups[key], [2]string{"region", "others"}
		delete(groups, key)
		groups[others] = append(groups[others], some...)
	}
	ages, values := valuesOf(tickets, q.Attribute)
	for key, some := range groups {
		g := waitingGroup{choice: v.choices("queue", "of", v.QueryParam("of"), key[0]+" "+key[1])[0], By: key[0]}
		g.Name, g.Tickets = key[1], len(some)
		g.ages, g.values = valuesOf(some, q.Attribute)
		g.Waited, g.Value = rangeIn(g.ages, ages), rangeIn(g.values, values)
		q.Groups = append(q.Groups, g)
	}
	slices.SortFunc(q.Groups, func(a, b waitingGroup) int {
		return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Name, b.Name))
	})
}

// valuesOf are for how long tickets have waited, and the values of those that have an attribute, in order.
func valuesOf(tickets []client.WaitingTicket, attribute string) (ages, values []float64) {
	for _, t := range tickets {
		ages = append(ages, t.Waited)
		if value, has := t.Attributes[attribute]; has {
			values = append(values, value)
		}
	}
	slices.Sort(ages)
	slices.Sort(values)
	return ages, values
}

// rangeIn is where sorted values are among all; nil if there is none.
func rangeIn(values, all []float64) *valueRange {
	if len(values) == 0 {
		return nil
	}
	at := func(share float64) float64 { return values[int(share*float64(len(values)-1))] }
	return &valueRange{at(0.1), at(0.5), at(0.9), spanOf(at(0.1), at(0.5), at(0.9), all[0], all[len(all)-1])}
}
