package console

import (
	"cmp"
	"context"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/web"
)

// fleets is where matches are played: the servers that there are now, and the events of a time.
type fleets struct {
	Ranges   []choice
	Counts   map[string]int // of matches, by state
	Times    *plot
	P50, P90 float64
	Timed    int
	Refusals []refusal
	Matches  []matchRow
	Cut      bool
	// Servers are of each fleet and region, and All is their sum. Some is set if there are more than were counted, and
	// Hidden is how many fleets and regions were counted that the list does not have.
	Servers []servers
	All     servers
	Some    bool
	Hidden  int
	// Running are matches that run, of the chosen state, fleet and region, and Games running games that fill up.
	States        []choice
	Fleet, Region string
	Running       *client.MatchPage
	More          string
	Games         []client.ListedBackfillTicket
}

// servers counts the servers of a fleet in a region: those that are asked for, that run a match, and that want players.
type servers struct {
	Fleet, Region           string
	Asked, Running, Filling int
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

// maxMatches is how many matches a list has, and serverPages how many pages of matches are counted.
const maxMatches, serverPages = 25, 5

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
	f.Fleet, f.Region = v.QueryParam("fleet"), v.QueryParam("region")
	q := client.MatchQuery{Limit: maxMatches, Fleet: f.Fleet, Region: f.Region, After: v.QueryParam("after")}
	if state != "all" {
		q.State = state
	}
	var err error
	f.Running, err = recall(ctx, v, "matches", 2*time.Second, q, (*client.Client).ListMatches)
	if err := v.note("Which matches run is not known", err); err != nil {
		return err
	}
	if f.Running != nil && f.Running.Next != "" {
		f.More = v.choices("fleets", "after", "", f.Running.Next)[0].Href
	}
	games, err := recall(ctx, v, "games", 2*time.Second, client.BackfillQuery{Limit: web.MostListed},
		(*client.Client).ListBackfills)
	if games != nil {
		f.Games, f.Some = games.BackfillTickets, games.Next != ""
	}
	if err := v.note("Which games fill up is not known", err); err != nil {
		return err
	}
	all, err := remember(ctx, v, "servers", 5*time.Second,
		func(api *client.Client, ctx context.Context) (client.MatchPage, error) { return serversOf(ctx, api) })
	f.count(all)
	return v.note("Which servers there are is not known", err)
}

// serversOf lists the matches that have a server or ask for one, in some pages.
func serversOf(ctx context.Context, api *client.Client) (client.MatchPage, error) {
	var all client.MatchPage
	for range serverPages {
		page, err := api.ListMatches(ctx, client.MatchQuery{Limit: web.MostListed, After: all.Next})
		if err != nil {
			return all, err
		}
		all.Matches, all.Next = append(all.Matches, page.Matches...), page.Next
		if all.Next == "" {
			break
		}
	}
	return all, nil
}

// count adds up servers. A match may move to a later page while they are read. A game has the place of its match if it
// is among them: not if a server began it, nor once the match has its result.
func (f *fleets) count(all client.MatchPage) {
	rows, where := map[[2]string]*servers{}, map[string][2]string{}
	add := func(place [2]string, asked, running, filling int) {
		one := rows[place]
		if one == nil {
			one = &servers{Fleet: place[0], Region: place[1]}
			rows[place] = one
		}
		for _, s := range []*servers{one, &f.All} {
			s.Asked, s.Running, s.Filling = s.Asked+asked, s.Running+running, s.Filling+filling
		}
	}
	for _, m := range all.Matches {
		place := [2]string{m.Fleet, m.Region}
		if _, counted := where[m.ID]; counted {
			continue
		}
		switch where[m.ID] = place; m.State {
		case "assigned":
			add(place, 0, 1, 0)
		case "claimed", "allocating":
			add(place, 1, 0, 0)
		}
	}
	for _, g := range f.Games {
		add(where[g.Match], 0, 0, 1)
	}
	for _, one := range rows {
		f.Servers = append(f.Servers, *one)
	}
	slices.SortFunc(f.Servers, func(a, b servers) int {
		return cmp.Or(cmp.Compare(b.Running, a.Running), cmp.Compare(a.Fleet, b.Fleet), cmp.Compare(a.Region, b.Region))
	})
	f.Servers, f.Games = f.Servers[:min(len(f.Servers), maxMatches)], f.Games[:min(len(f.Games), maxMatches)]
	f.Some, f.Hidden = f.Some || all.Next != "", len(rows)-len(f.Servers)
}

// game is a running game that fills up, or did.
type game struct {
	ID     string
	Ticket *client.ListedBackfillTicket
	Events []client.Event
}

// game reads what is known of a backfill ticket.
func (v *view) game(ctx context.Context, id string) (*game, error) {
	made, is := createdAt(id)
	if !is {
		return nil, viewerError("No backfill ticket has an identifier like this.")
	}
	page, err := recall(ctx, v, "games", 2*time.Second, client.BackfillQuery{ID: id}, (*client.Client).ListBackfills)
	if err != nil {
		return nil, err
	}
	g := &game{ID: id}
	for _, one := range page.BackfillTickets {
		g.Ticket = &one
	}
	g.Events, err = v.events(ctx, client.EventQuery{Backfill: id, Since: made.Add(-time.Second)})
	return g, v.note("What happened", err)
}

func loadGame(ctx context.Context, v *view, id string) (any, error) {
	g, err := v.game(ctx, id)
	if err == nil && g.Ticket == nil && len(g.Events) == 0 {
		err = viewerError("There is no such game, or it has ended and its events are not kept any more.")
	}
	return g, err
}

// finish sorts and counts what was found.
func (f *fleets) finish(matches map[string]*matchRow, refusals map[string]*refusal, times []float64) {
	f.Counts = map[string]int{}
	for _, m := range matches {
		f.Counts[m.State]++
		f.Matches = append(f.Matches, *m)
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
