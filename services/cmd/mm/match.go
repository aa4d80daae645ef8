package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type matchCommands struct {
	Get matchGet `cmd:"" help:"Print what became of a match."`
}

type matchGet struct {
	ID string `arg:"" name:"id" completion-predictor:"match" help:"The match's id."`
}

func (matchGet) Help() string {
	return `Its tickets, players, teams, score and server, the config's revision and the function's upload, what the
function measured, and how far attributes differ that the config's report names. The service knows a match as long as
events are kept; players and the connection as long as results can be read.

Example: mm match get 0199e6a2-5b2c-7d63-a6f9-1f2b7c6f1f10`
}

// Run prints the match.
func (c matchGet) Run(ctx context.Context, s *session, api developerAPI) error {
	m, err := api.GetMatch(ctx, c.ID)
	if err != nil {
		return err
	}
	var about grid
	about.add("match", m.ID)
	about.add("state", m.State)
	about.add("config", fmt.Sprintf("%s, revision %d", m.Config, m.Revision))
	about.add("function", functionText(m))
	about.add("made", formatTime(m.Created))
	about.add("ended", formatTime(m.Ended))
	about.add("reason", m.Reason)
	about.add("error", m.Error)
	about.add("detail", m.Detail)
	about.add("backfill", m.Backfill)
	about.add("players", m.Players)
	if m.Accepted > 0 {
		about.add("accepted", m.Accepted)
	}
	if m.Score != nil {
		about.add("score", number(*m.Score))
	}
	about.add("queue", m.Queue)
	for _, one := range measuresOf(m.Measures, m.Attributes) {
		about.add(one.name, format.Number(one.value))
	}
	if v := m.Server; v != nil {
		about.add("server", v.Connection)
		about.add("profile", v.Profile)
		about.add("fleet", v.Fleet)
		about.add("region", v.Region)
	}
	tickets := grid{head: []any{"team", "ticket", "waited", "players"}}
	for n, team := range m.Teams {
		name := team.Name
		if name == "" && len(m.Teams) > 1 {
			name = strconv.Itoa(n + 1)
		}
		for _, t := range team.Tickets {
			waited := ""
			if t.Waited != nil {
				waited = format.Number(*t.Waited) + " s"
			}
			tickets.add(name, t.ID, waited, strings.Join(t.Players, " "))
		}
	}
	return s.show(m, about, tickets.withoutEmptyColumns())
}

// functionText is the function of a match and its upload.
func functionText(m *client.Match) string {
	if m.Upload == 0 {
		return m.Function
	}
	return fmt.Sprintf("%s, upload %d", m.Function, m.Upload)
}
