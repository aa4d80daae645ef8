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

	Match   playerMatch   `cmd:"" help:"Print the match that a player plays."`
	Ratings playerRatings `cmd:"" help:"Print a player's ratings."`
	History playerHistory `cmd:"" help:"Print what the last 32 matches did to a player's ratings."`

	Standing playerStanding `cmd:"" help:"Print a player's standing, or set numbers of it."`
}

// playerID is the argument of most commands.
type playerID struct {
	ID string `arg:"" completion-predictor:"player" help:"The player's identifier."`
}

type playerMatch struct{ playerID }

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
	return s.showMembers(m, "match, ticket, team, connection, began:time, due:time")
}

type playerRatings struct{ playerID }

// Run prints the ratings.
func (c playerRatings) Run(ctx context.Context, s *session, api developerAPI) error {
	return showList[client.PlayerRating](s,
		"rating=name, season, value, tier, rank, mean, sigma, matches, provisional")(api.PlayerRatings(ctx, c.ID))
}

type playerHistory struct{ playerID }

// Run prints the changes.
func (c playerHistory) Run(ctx context.Context, s *session, api developerAPI) error {
	return showList[client.RatingStep](s, "time:time, match, rating, value before=before.value, value=after.value, "+
		"mean before=before.mean, mean=after.mean")(api.RatingHistory(ctx, c.ID))
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
	g.addMembers(standing, "games, left")
	for _, name := range slices.Sorted(maps.Keys(standing.Numbers)) {
		g.add(name, format.Number(standing.Numbers[name]))
	}
	g.add("recent", strings.Join(standing.Recent, ", "))
	return s.show(standing, g)
}

type playerExport struct{ playerID }

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
	var g grid
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
	return s.show(erased, g, tableOf(erased.Remains, "remains=kind, id, seconds at most=seconds"))
}
