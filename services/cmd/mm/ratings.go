package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/observe/statistics"
)

type ratingsCommands struct {
	Top    ratingsTop    `cmd:"" help:"Print the best players of a rating's season."`
	Replay ratingsReplay `cmd:"" help:"Rate the players of past matches, and say which model predicts best."`
}

type ratingsTop struct {
	Rating string `arg:"" help:"The rating's name in the settings."`
	Season string `help:"An earlier season instead of the rating's own."`
	Limit  int    `default:"50" help:"How many players, 200 at most."`
	After  int    `help:"Only players behind this rank."`
}

// Run prints a page of the leaderboard.
func (c ratingsTop) Run(ctx context.Context, s *session, api developerAPI) error {
	page, err := api.Leaderboard(ctx, c.Rating, client.LeaderboardQuery{Season: c.Season, Limit: c.Limit, After: c.After})
	if err != nil {
		return err
	}
	if err := s.show(page, tableOf(page.Players, "rank, player, value, tier")); err != nil {
		return err
	}
	s.note("it has %s", format.Plural(page.Total, "player"))
	return nil
}

type ratingsReplay struct {
	File  string   `arg:"" completion-predictor:"file" help:"Results, a JSON object a line, the oldest first; - is standard input."`
	Model []string `sep:"none" placeholder:"NAME[,PARAMETER=NUMBER]…" default:"plackettLuce" completion-predictor:"model" help:"plackettLuce, bradleyTerry, thurstoneMosteller, glicko2 or trueSkill, with parameters: mean, deviation, beta, tau, growth, draw, margin, volatility. Several are compared with the first."`
	After int      `default:"10" help:"Judge a match only when each of its players had so many before." bounds:"0.."`
}

// Validate is called by the parser.
func (c ratingsReplay) Validate() error {
	_, err := c.replays()
	return err
}

// mostModels is how many models one command compares.
const mostModels = 16

// replays are the replays that the flags ask for.
func (c ratingsReplay) replays() ([]*rating.Replay, error) {
	if len(c.Model) > mostModels {
		return nil, usageError(fmt.Sprintf("--model: %d at most", mostModels))
	}
	all := make([]*rating.Replay, len(c.Model))
	for i, text := range c.Model {
		settings, err := parseModel(text)
		if err == nil {
			all[i], err = rating.NewReplay(settings, c.After)
		}
		if err != nil {
			return nil, usageError(fmt.Sprintf("--model %s: %v", text, err))
		}
	}
	return all, nil
}

// parseModel reads a model and its parameters, as in trueSkill,tau=0.2.
func parseModel(text string) (s rating.Settings, err error) {
	name, rest, more := strings.Cut(text, ",")
	parameters := map[string]float64{}
	for more {
		var one string
		one, rest, more = strings.Cut(rest, ",")
		key, value, _ := strings.Cut(one, "=")
		if parameters[key], err = strconv.ParseFloat(value, 64); err != nil {
			return s, fmt.Errorf("%s: %q is not a number, as in tau=0.2", key, value)
		}
	}
	return rating.With(name, parameters)
}

// ratingsVerdict is the result of "mm ratings replay" for a model, with the fields of the JSON.
type ratingsVerdict struct {
	Model string `json:"model"`
	rating.Verdict
	// Better is by how much less its log-loss is than the first model's, and Margin half of the 95 % interval.
	Better *float64 `json:"better,omitempty"`
	Margin *float64 `json:"margin,omitempty"`
}

// Run prints the verdicts.
func (c ratingsReplay) Run(ctx context.Context, s *session) error {
	replays, err := c.replays()
	if err != nil {
		return err
	}
	text, err := s.readText(c.File)
	if err != nil {
		return err
	}
	results, err := replay(ctx, text, replays)
	if err != nil {
		return fmt.Errorf("%s:%w", displayName(c.File), err)
	}
	verdicts := make([]ratingsVerdict, len(replays))
	table := grid{head: []any{"model", "matches", "log-loss", "Brier", "favorite won", "less than the first"}}
	for i, r := range replays {
		v := ratingsVerdict{Model: c.Model[i], Verdict: r.Verdict()}
		than := ""
		if i > 0 && v.Matches > 1 {
			mean, half := statistics.Interval(r.Less(replays[0]))
			v.Better, v.Margin = &mean, &half
			than = fmt.Sprintf("%.5f ± %.5f", mean, half)
			switch {
			case mean > half:
				than += ", better"
			case mean < -half:
				than += ", worse"
			}
		}
		verdicts[i] = v
		table.add(v.Model, v.Matches, fmt.Sprintf("%.4f", v.LogLoss), fmt.Sprintf("%.4f", v.Brier),
			fmt.Sprintf("%.1f %%", v.FavoriteWon*100), than)
	}
	calibration := grid{head: []any{"model", "odds of the favorite", "won", "pairs of teams"}}
	for _, v := range verdicts {
		for _, d := range v.Calibration {
			calibration.add(v.Model, fmt.Sprintf("%.1f %%", d.Odds*100), fmt.Sprintf("%.1f %%", d.Won*100),
				format.Number(d.Pairs))
		}
	}
	if err := s.show(verdicts, table.withoutEmptyColumns(), calibration); err != nil {
		return err
	}
	if verdicts[0].Matches == 0 {
		s.note("none of %d results was judged: their players had fewer than %d matches before (--after)", results, c.After)
	}
	return nil
}

// replay gives the results in a text to all replays, and returns how many there are.
func replay(ctx context.Context, text []byte, all []*rating.Replay) (results int, err error) {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if err := ctx.Err(); err != nil {
			return results, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r rating.Result
		err := json.Unmarshal(line, &r)
		if err == nil {
			err = r.Check()
		}
		for i := 0; i < len(all) && err == nil; i++ {
			err = all[i].Add(&r)
		}
		if err != nil {
			return results, fmt.Errorf("%d: %w", n, err)
		}
		results++
	}
	return results, nil
}
