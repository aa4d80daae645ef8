package console

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"matchmaker.dev/pkg/client"
)

// createdAt is the time in an id, a UUID of version 7.
func createdAt(id string) (time.Time, bool) {
	made, err := uuid.Parse(id)
	if err != nil || made.Version() != 7 {
		return time.Time{}, false
	}
	return time.Unix(made.Time().UnixTime()), true
}

// result is something that a search found.
type result struct{ Kind, Name, Href string }

type search struct {
	Query   string
	Results []result
}

// loadSearch finds whatever has a name or an id. It goes there if there is only one.
func loadSearch(ctx context.Context, v *view) (any, error) {
	s := &search{Query: strings.TrimSpace(v.QueryParam("q"))}
	if s.Query == "" {
		return s, nil
	}
	add := func(kind, name, href string) { s.Results = append(s.Results, result{kind, name, href}) }
	if made, is := createdAt(s.Query); is {
		var err error
		if s.Results, err = v.identified(ctx, s.Query, made); err != nil {
			return nil, err
		}
	}
	configs, err := v.configs(ctx)
	if err != nil {
		return nil, err
	}
	functions, err := v.functions(ctx)
	if err != nil {
		return nil, err
	}
	has := func(name string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(s.Query)) }
	seen := map[string]bool{}
	for _, c := range configs {
		if has(c.ID) || has(c.Name) {
			add("config", c.ID, v.link("config", "id", c.ID))
		}
		if c.Queue != "" && has(c.Queue) && !seen[c.Queue] {
			seen[c.Queue] = true
			add("queue", c.Queue, v.queueLink(c.Queue))
		}
	}
	for _, f := range functions {
		if has(f.Name) {
			add("function", f.Name, v.link("function", "name", f.Name))
		}
	}
	p, err := v.player(ctx, s.Query)
	if err != nil {
		return nil, err
	}
	if len(p.Waiting) > 0 || len(p.Events) > 0 {
		add("player", s.Query, v.link("player", "id", s.Query))
	}
	if len(s.Results) == 1 {
		return nil, v.Redirect(http.StatusSeeOther, s.Results[0].Href)
	}
	return s, nil
}

// identified finds what the service gave an id, and the viewer may see. The error is a login that has ended.
func (v *view) identified(ctx context.Context, id string, made time.Time) (all []result, err error) {
	for _, one := range []struct {
		kind string
		find func() (found bool, err error)
	}{
		{"match", func() (bool, error) { _, err := v.API.GetMatch(ctx, id); return true, err }},
		{"ticket", func() (bool, error) {
			events, err := v.events(ctx, client.EventQuery{Ticket: id, Since: made.Add(-time.Second)})
			return len(events) > 0, err
		}},
		{"game", func() (bool, error) {
			g, err := v.game(ctx, id)
			return g != nil && (g.Ticket != nil || len(g.Events) > 0), err
		}},
		{"trial", func() (bool, error) { _, err := v.API.GetSimulation(ctx, id); return true, err }},
		{"party", func() (bool, error) { _, err := v.API.GetParty(ctx, id, ""); return true, err }},
	} {
		found, err := one.find()
		switch status := client.Status(err); {
		case status == http.StatusUnauthorized:
			return nil, err
		case err == nil && found:
			all = append(all, result{one.kind, id, v.link(one.kind, "id", id)})
		case err != nil && status != http.StatusNotFound && status != http.StatusForbidden:
			v.Problems = append(v.Problems, "Whether it is a "+one.kind+" is not known: "+reasonOf(err))
		}
	}
	return all, nil
}

// player is what is known of a player.
type player struct {
	ID      string
	Waiting []client.WaitingTicket
	Total   int64
	// Events are of the player's tickets; Listed is false in a project that does not list these.
	Events []client.Event
	Listed bool
}

func (v *view) player(ctx context.Context, id string) (*player, error) {
	p := &player{ID: id, Listed: true}
	page, err := v.API.GetWaitingTickets(ctx, client.WaitingQuery{Player: id})
	if client.Status(err) == http.StatusBadRequest { // it is no player's id
		return p, nil
	}
	if err := v.note("Tickets that wait", err); err != nil {
		return nil, err
	}
	if err == nil {
		p.Waiting, p.Total = page.Tickets, page.Total
	}
	p.Events, err = v.events(ctx, client.EventQuery{Player: id, Since: v.Now().Add(-24 * time.Hour)})
	if client.Status(err) == http.StatusConflict {
		p.Listed = false
		return p, nil
	}
	p.Events = slices.Clone(p.Events)
	slices.Reverse(p.Events)
	return p, v.note("Events", err)
}

func loadParty(ctx context.Context, v *view, id string) (any, error) {
	return v.API.GetParty(ctx, id, "")
}

func loadPlayer(ctx context.Context, v *view, id string) (any, error) { return v.player(ctx, id) }

// ticket is what is known of a ticket.
type ticket struct {
	ID          string
	Created     time.Time
	Explanation *client.TicketExplanation
	Events      []client.Event
	Player      string
}

// Waits reports whether the ticket waits, as far as is known.
func (t *ticket) Waits() bool { return t.Explanation != nil && t.Explanation.State == "waiting" }

func loadTicket(ctx context.Context, v *view, id string) (any, error) {
	t := &ticket{ID: id}
	made, is := createdAt(t.ID)
	if !is {
		return nil, viewerError("No ticket has an identifier like this.")
	}
	t.Created = made
	var err error
	if t.Events, err = v.events(ctx, client.EventQuery{Ticket: t.ID, Since: made.Add(-time.Second)}); err != nil {
		return nil, err
	}
	t.Explanation, err = recall(ctx, v, "ticket", 3*time.Second, t.ID, (*client.Client).ExplainTicket)
	if client.IsNotFound(err) {
		if len(t.Events) > 0 {
			err = nil
		}
		return t, err
	}
	return t, v.note("Why it waits", err)
}

// loadCapture answers a file with a run that gets a ticket.
func loadCapture(ctx context.Context, v *view, id string) (any, error) {
	file, err := v.API.CaptureRun(ctx, id, v.QueryParam("config"))
	if err != nil {
		return nil, err
	}
	v.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="run.capture"`)
	return nil, v.Blob(http.StatusOK, echo.MIMEOctetStream, file)
}

// match is what is known of a match.
type match struct {
	*client.Match
	Events []client.Event
}

func loadMatch(ctx context.Context, v *view, id string) (any, error) {
	one, err := v.API.GetMatch(ctx, id)
	if err != nil {
		return nil, err
	}
	m := &match{Match: one}
	m.Events, err = v.events(ctx, client.EventQuery{Match: m.ID, Since: m.Created.Add(-time.Second)})
	return m, v.note("What happened", err)
}
