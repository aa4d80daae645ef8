package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/internal/platform/textfile"
)

type matchCommands struct {
	List   matchList   `cmd:"" help:"List the matches that run."`
	Get    matchGet    `cmd:"" help:"Print what became of a match."`
	Result matchResult `cmd:"" help:"Report how a match ended, or correct it."`
}

type matchResult struct {
	ID   string   `arg:"" name:"id" completion-predictor:"match" help:"The match's id."`
	Team []string `arg:"" optional:"" placeholder:"NAME=RANK" help:"Teams with their ranks, as red=1; equal ranks drew."`
	File string   `placeholder:"FILE" type:"existingfile" completion-predictor:"file" help:"JSON file with the teams instead: a list of objects with name, rank or score, players and numbers."`
}

func (matchResult) Help() string {
	return `The match's config must have "result". The same result may be reported again; another one within a day
replaces it.

Example: mm match result 0199e6a2-5b2c-7d63-a6f9-1f2b7c6f1f10 red=1 blue=2`
}

// teams are the teams that the arguments or the file name.
func (c matchResult) teams() (teams []client.ReportedTeam, err error) {
	if (c.File == "") == (len(c.Team) == 0) {
		return nil, usageError("give teams, as red=1 blue=2, or --file")
	}
	if c.File != "" {
		text, err := textfile.Read(c.File)
		if err == nil {
			teams, err = readList[client.ReportedTeam](text)
		}
		if err != nil {
			return nil, fmt.Errorf("--file: %w", err)
		}
		return teams, nil
	}
	for _, one := range c.Team {
		name, rank, _ := strings.Cut(one, "=")
		n, err := strconv.Atoi(rank)
		if err != nil || n < 1 {
			return nil, usageError(fmt.Sprintf("%q is no team with its rank, as red=1", one))
		}
		teams = append(teams, client.ReportedTeam{Name: name, Rank: n})
	}
	return teams, nil
}

// Run reports the result.
func (c matchResult) Run(ctx context.Context, s *session, api serverAPI) error {
	teams, err := c.teams()
	if err != nil {
		return err
	}
	r, err := api.ReportResult(ctx, c.ID, teams...)
	if err != nil {
		return err
	}
	changes := grid{head: []any{"player", "rating", "before", "after", "sigma"}}
	for _, one := range r.Ratings {
		changes.add(one.Player, one.Rating, format.Number(one.Before), format.Number(one.Mean), format.Number(one.Sigma))
	}
	return s.show(r, resultGrid(r), changes)
}

// resultGrid is a result, a team a line.
func resultGrid(r *client.MatchResult) grid {
	teams := grid{head: []any{"team", "rank", "score", "players", "left"}}
	if r == nil {
		return grid{}
	}
	for _, t := range r.Teams {
		var score, rank any = "", ""
		if t.Score != nil {
			score = format.Number(*t.Score)
		}
		if t.Rank > 0 {
			rank = t.Rank
		}
		var players, left []string
		for _, p := range t.Players {
			if players = append(players, p.ID); p.Left != nil {
				left = append(left, p.ID)
			}
		}
		teams.add(t.Name, rank, score, strings.Join(players, " "), strings.Join(left, " "))
	}
	return teams.withoutEmptyColumns()
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
	about.add("result due", formatTime(m.Due))
	if m.Missing {
		about.add("result", "missing")
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
	return s.show(m, about, tickets.withoutEmptyColumns(), resultGrid(m.Result))
}

// functionText is the function of a match and its upload.
func functionText(m *client.Match) string {
	if m.Upload == 0 {
		return m.Function
	}
	return fmt.Sprintf("%s, upload %d", m.Function, m.Upload)
}
