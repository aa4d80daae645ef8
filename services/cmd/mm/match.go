package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
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
	return s.show(r, resultGrid(r), tableOf(r.Ratings, "player, rating, before, after=mean, sigma"))
}

// resultGrid is a result, a team a line.
func resultGrid(r *client.MatchResult) grid {
	teams := grid{head: []any{"team", "rank", "score", "players", "left"}}
	if r == nil {
		return grid{}
	}
	for _, t := range r.Teams {
		var rank any = ""
		if t.Rank > 0 {
			rank = t.Rank
		}
		var players, left []string
		for _, p := range t.Players {
			if players = append(players, p.ID); p.Left != nil {
				left = append(left, p.ID)
			}
		}
		teams.add(t.Name, rank, numberOf(t.Score, ""), strings.Join(players, " "), strings.Join(left, " "))
	}
	return teams.withoutEmptyColumns()
}

type matchGet struct {
	ID string `arg:"" name:"id" completion-predictor:"match" help:"The match's id."`
}

// Run prints the match.
func (c matchGet) Run(ctx context.Context, s *session, api developerAPI) error {
	m, err := api.GetMatch(ctx, c.ID)
	if err != nil {
		return err
	}
	var about grid
	about.addMembers(m, "match=id, state")
	about.add("config", fmt.Sprintf("%s, revision %d", m.Config, m.Revision))
	function := m.Function
	if m.Upload != 0 {
		function += fmt.Sprintf(", upload %d", m.Upload)
	}
	about.add("function", function)
	about.addMembers(m, "made=created:time, ended:time, reason, error, detail, backfill, players, accepted, score, queue")
	for _, one := range measuresOf(m.Measures, m.Attributes) {
		about.add(one.name, format.Number(one.value))
	}
	about.addMembers(m, "server=server.connection, profile=server.profile, fleet=server.fleet, region=server.region, "+
		"result due=due:time")
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
			tickets.add(name, t.ID, numberOf(t.Waited, "s"), strings.Join(t.Players, " "))
		}
	}
	return s.show(m, about, tickets.withoutEmptyColumns(), resultGrid(m.Result))
}

// namedMeasure is a number that says how good a match is.
type namedMeasure struct {
	name  string
	value float64
}

// measuresOf lists what was measured of a match, by name: the function's measures first.
func measuresOf(own map[string]float64, attributes map[string]client.Difference) (all []namedMeasure) {
	for _, name := range slices.Sorted(maps.Keys(own)) {
		all = append(all, namedMeasure{name, own[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		all = append(all, namedMeasure{name + " spread", attributes[name].Spread})
		if gap := attributes[name].Gap; gap != nil {
			all = append(all, namedMeasure{name + " gap", *gap})
		}
	}
	return all
}
