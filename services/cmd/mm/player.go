package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type playerCommands struct {
	Export playerExport `cmd:"" help:"Print what the service stores of a player, as JSON or YAML."`
	Erase  playerErase  `cmd:"" help:"Remove what the service stores of a player."`

	Match   playerMatch   `cmd:"" help:"Print the match that a player plays." example:"player match ada"`
	Ratings playerRatings `cmd:"" help:"Print a player's ratings." example:"player ratings ada"`
	History playerHistory `cmd:"" help:"Print what the last 32 matches did to a player's ratings." example:"player history ada"`

	Standing playerStanding `cmd:"" help:"Print a player's standing, or set numbers of it." example:"player standing ada trust=0.2"`
}

type playerMatch struct {
	ID string `arg:"" completion-predictor:"player" help:"The player's identifier."`
}

// Run prints the match.
func (c playerMatch) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asReader(c.ID))
	if err != nil {
		return err
	}
	m, err := api.RunningMatch(ctx, c.ID)
	if err != nil {
		return err
	}
	var g grid
	g.add("match", m.Match)
	g.add("ticket", m.Ticket)
	g.add("team", m.Team)
	g.add("connection", m.Connection)
	g.add("began", formatTime(m.Began))
	g.add("due", formatTime(m.Due))
	return s.show(m, g)
}

type playerRatings struct {
	ID string `arg:"" completion-predictor:"player" help:"The player's identifier."`
}

// Run prints the ratings.
func (c playerRatings) Run(ctx context.Context, s *session, api developerAPI) error {
	ratings, err := api.PlayerRatings(ctx, c.ID)
	if err != nil {
		return err
	}
	table := grid{head: []any{"rating", "season", "value", "tier", "rank", "mean", "sigma", "matches", "provisional"}}
	for _, r := range ratings {
		provisional, rank, value := "", any(""), 0.0
		if r.Provisional {
			provisional = "yes"
		}
		if r.Rank > 0 {
			rank = r.Rank
		}
		if r.Value != nil {
			value = *r.Value
		}
		table.add(r.Name, r.Season, format.Number(value), r.Tier, rank, format.Number(r.Mean), format.Number(r.Sigma),
			r.Matches, provisional)
	}
	return s.show(ratings, table.withoutEmptyColumns())
}

type playerHistory struct {
	ID string `arg:"" completion-predictor:"player" help:"The player's identifier."`
}

// Run prints the changes.
func (c playerHistory) Run(ctx context.Context, s *session, api developerAPI) error {
	changes, err := api.RatingHistory(ctx, c.ID)
	if err != nil {
		return err
	}
	table := grid{head: []any{"time", "match", "rating", "value before", "value", "mean before", "mean"}}
	for _, one := range changes {
		table.add(formatTime(one.Time), one.Match, one.Rating, format.Number(one.Before.Value),
			format.Number(one.After.Value), format.Number(one.Before.Mean), format.Number(one.After.Mean))
	}
	return s.show(changes, table)
}

type playerStanding struct {
	ID     string   `arg:"" completion-predictor:"player" help:"The player's identifier."`
	Number []string `arg:"" optional:"" placeholder:"NAME=NUMBER" help:"Numbers to set, which the project's settings name."`
}

// Run prints the standing.
func (c playerStanding) Run(ctx context.Context, s *session, api developerAPI) error {
	numbers := map[string]float64{}
	for _, one := range c.Number {
		name, text, _ := strings.Cut(one, "=")
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return usageError(fmt.Sprintf("%q is no name and number, as trust=0.2", one))
		}
		numbers[name] = n
	}
	get := func() (*client.Standing, error) { return api.PlayerStanding(ctx, c.ID) }
	if len(numbers) > 0 {
		get = func() (*client.Standing, error) { return api.SetStanding(ctx, c.ID, numbers) }
	}
	standing, err := get()
	if err != nil {
		return err
	}
	var g grid
	g.add("games", standing.Games)
	g.add("left", standing.Left)
	for _, name := range slices.Sorted(maps.Keys(standing.Numbers)) {
		g.add(name, format.Number(standing.Numbers[name]))
	}
	g.add("recent", strings.Join(standing.Recent, ", "))
	return s.show(standing, g)
}

type playerExport struct {
	ID string `arg:"" completion-predictor:"player" help:"The player's identifier."`
}

func (playerExport) Help() string {
	return `docs/privacy.md says what is stored of players.

Example: mm player export ada > ada.json`
}

// Run prints the document.
func (c playerExport) Run(ctx context.Context, s *session, api developerAPI) error {
	document, err := api.ExportPlayer(ctx, c.ID)
	if err != nil {
		return err
	}
	if s.Output == "yaml" {
		return s.print(document)
	}
	return s.printJSON(document, "  ")
}

type playerErase struct {
	ID  string `arg:"" completion-predictor:"player" help:"The player's identifier."`
	Yes bool   `help:"Remove it. Without it the command says what the service stores."`
}

func (playerErase) Help() string {
	return `First take away the player's tokens: a player that plays on is stored again. The command may be repeated.
docs/privacy.md says what is removed, and what remains for how long.

Examples:

    mm player erase ada
    mm player erase ada --yes`
}

// Run erases the player, or says what is stored.
func (c playerErase) Run(ctx context.Context, s *session, api developerAPI) error {
	if c.Yes {
		erased, err := api.ErasePlayer(ctx, c.ID)
		if err != nil {
			return err
		}
		return s.showErased(erased)
	}
	document, err := api.ExportPlayer(ctx, c.ID)
	if err != nil {
		return err
	}
	var stored struct {
		Tickets, KickedFrom, Acceptances, Games, Matches, Ratings []json.RawMessage
		RatingChanges                                             []json.RawMessage
		Party, Pause, Rate                                        json.RawMessage
		Complete                                                  bool
	}
	if err := json.Unmarshal(document, &stored); err != nil {
		return err
	}
	has := func(one json.RawMessage) string {
		if len(one) == 0 || string(one) == "null" {
			return "no"
		}
		return "yes"
	}
	var g grid
	g.add("tickets", len(stored.Tickets))
	g.add("party", has(stored.Party))
	g.add("kicked from", len(stored.KickedFrom))
	g.add("acceptances", len(stored.Acceptances))
	g.add("matches", len(stored.Matches))
	g.add("ratings", len(stored.Ratings))
	g.add("changes of ratings", len(stored.RatingChanges))
	g.add("running games", len(stored.Games))
	g.add("pause", has(stored.Pause))
	g.add("rate of creates", has(stored.Rate))
	if err := s.show(document, g); err != nil {
		return err
	}
	if !stored.Complete {
		s.note("there are more tickets than an export has")
	}
	s.note("nothing was erased: --yes erases the player")
	return nil
}

func (s *session) showErased(erased *client.ErasedPlayer) error {
	var g, remains grid
	g.add("tickets", erased.Tickets)
	if erased.Party {
		g.add("party", "left")
	}
	if erased.DeadLetters > 0 {
		g.add("dead letters", erased.DeadLetters)
	}
	if erased.Ratings {
		g.add("ratings", "removed")
	}
	if erased.Matches > 0 {
		g.add("matches", erased.Matches)
	}
	remains.head = []any{"remains", "id", "seconds at most"}
	for _, one := range erased.Remains {
		seconds := any("")
		if one.Seconds > 0 {
			seconds = one.Seconds
		}
		remains.add(one.Kind, one.ID, seconds)
	}
	return s.show(erased, g, remains)
}
