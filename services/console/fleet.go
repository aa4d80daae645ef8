package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
)

// fleets is where matches are played, from the events of a time.
type fleets struct {
	Ranges   []choice
	Counts   []count
	Times    *plot
	P50, P90 float64
	Timed    int
	Refusals []refusal
	Matches  []matchRow
	Cut      bool
	// Running are matches that run, of the chosen state, and Games running games that fill up.
	States  []choice
	Running *client.MatchPage
	More    string
	Games   []client.ListedBackfillTicket
}

// count is how many matches are in a state.
type count struct {
	Name  string
	N     int
	Class string
}

// refusal is why hosting gave no server.
type refusal struct {
	Reason, Detail string
	N              int
	Last           time.Time
	Match          string
}

// matchRow is a match of the list.
type matchRow struct {
	ID, State, Config, Queue, Region, Reason string
	Players                                  int
	Began, Ended                             time.Time
	Game                                     bool
}

// maxMatches is how many matches a list has.
const maxMatches = 25

func loadFleets(ctx context.Context, v *view) (any, error) {
	options := []string{"5m", "15m", "1h"}
	back := v.chosen("range", options...)
	f := &fleets{Ranges: v.choices("fleets", "range", back, options...)}
	events, err := v.events(ctx, client.EventQuery{Since: v.Now().Add(-rangeOf(back)),
		Kinds: []string{"claimed", "allocating", "assigned", "failed", "released", "full", "returned", "unreturned"}})
	if err != nil {
		return nil, err
	}
	f.Cut = len(events) == maxEvents
	matches := map[string]*matchRow{}
	asked := map[string]time.Time{}
	refusals := map[string]*refusal{}
	var times []float64
	for _, e := range events {
		m := matches[e.Match]
		if m == nil {
			m = &matchRow{ID: e.Match, Began: e.Time}
			matches[e.Match] = m
		}
		if e.Function != "" { // the first of its match
			m.Config, m.Queue, m.Region, m.Players = e.Config, e.Queue, e.Region, max(e.Players, len(e.Tickets))
		}
		switch e.Kind {
		case "claimed":
			m.State, m.Game = "claimed", e.Place != "hosting"
			if e.Acceptance > 0 {
				m.State = "asking"
			}
		case "allocating":
			m.State, asked[e.Match] = "allocating", e.Time
		case "full", "failed", "unreturned":
			key := e.Kind + e.Reason + e.Detail
			if refusals[key] == nil {
				refusals[key] = &refusal{Reason: e.Kind + ": " + cmp.Or(e.Reason, e.Error), Detail: e.Detail}
			}
			r := refusals[key]
			r.N, r.Last, r.Match = r.N+1, e.Time, e.Match
		case "assigned":
			if at, ok := asked[e.Match]; ok {
				times = append(times, e.Time.Sub(at).Seconds())
			}
		}
		if e.Kind != "claimed" && e.Kind != "allocating" {
			m.State, m.Ended, m.Reason = e.Kind, e.Time, e.Reason
			m.Config = cmp.Or(m.Config, e.Config)
		}
	}
	f.finish(matches, refusals, times)
	return f, f.list(ctx, v)
}

// list reads what runs.
func (f *fleets) list(ctx context.Context, v *view) error {
	states := []string{"all", "asking", "claimed", "allocating", "proposed", "assigned"}
	state := v.chosen("state", states...)
	f.States = v.choices("fleets", "state", state, states...)
	q := client.MatchQuery{Limit: maxMatches, After: v.QueryParam("after")}
	if state != "all" {
		q.State = state
	}
	var err error
	f.Running, err = remember(ctx, v, fmt.Sprint("matches ", q), 2*time.Second,
		func(ctx context.Context, api *client.Client) (*client.MatchPage, error) {
			return api.ListMatches(ctx, q)
		})
	if err := v.note("Which matches run is not known", err); err != nil {
		return err
	}
	if f.Running != nil && f.Running.Next != "" {
		f.More = v.choices("fleets", "after", "", f.Running.Next)[0].Href
	}
	games, err := remember(ctx, v, "games", 2*time.Second,
		func(ctx context.Context, api *client.Client) (*client.BackfillPage, error) {
			return api.ListBackfills(ctx, client.BackfillQuery{Limit: maxMatches})
		})
	if games != nil {
		f.Games = games.BackfillTickets
	}
	return v.note("Which games fill up is not known", err)
}

// finish sorts and counts what was found.
func (f *fleets) finish(matches map[string]*matchRow, refusals map[string]*refusal, times []float64) {
	found := map[string]int{}
	for _, m := range matches {
		found[m.State]++
		f.Matches = append(f.Matches, *m)
	}
	for _, one := range []count{{"asking", 0, "wait"}, {"claimed", 0, "wait"}, {"allocating", 0, "wait"},
		{"assigned", 0, "good"}, {"returned", 0, ""}, {"released", 0, ""}, {"full", 0, "bad"}, {"failed", 0, "bad"},
		{"unreturned", 0, "bad"}} {
		if one.N = found[one.Name]; one.N > 0 {
			f.Counts = append(f.Counts, one)
		}
	}
	slices.SortFunc(f.Matches, func(a, b matchRow) int { return b.Began.Compare(a.Began) })
	f.Matches = f.Matches[:min(len(f.Matches), maxMatches)]
	for _, r := range refusals {
		f.Refusals = append(f.Refusals, *r)
	}
	slices.SortFunc(f.Refusals, func(a, b refusal) int { return cmp.Or(cmp.Compare(b.N, a.N), b.Last.Compare(a.Last)) })
	f.Times = histogram("How long it took to get a server", times, seconds)
	if f.Timed = len(times); f.Timed > 0 {
		slices.Sort(times)
		f.P50, f.P90 = times[len(times)/2], times[len(times)*9/10]
	}
}
