package rating_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/match/rating"
)

var (
	oracle  = flag.String("oracle", "", "program that TestOracles compares with: node and the path of oracle/oracle.js")
	matches = flag.Int("matches", 10_000, "how many matches of each model TestOracles plays")
)

func defaults(t *testing.T, model string) rating.Settings {
	t.Helper()
	s, err := rating.Defaults(model)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// TestPublishedValues has values that the authors of the models, or their best-known implementations, publish: players
// without a match yet, and Glickman's example.
func TestPublishedValues(t *testing.T) {
	for _, c := range []struct {
		name, model string
		ranks       [2]int
		want        [2]rating.Rating
	}{
		{"a win", rating.TrueSkill, [2]int{0, 1}, [2]rating.Rating{{Mean: 29.395832, Deviation: 7.171475},
			{Mean: 20.604168, Deviation: 7.171475}}},
		{"a draw", rating.TrueSkill, [2]int{0, 0}, [2]rating.Rating{{Mean: 25, Deviation: 6.457516},
			{Mean: 25, Deviation: 6.457516}}},
		{"a loss", rating.PlackettLuce, [2]int{1, 0}, [2]rating.Rating{{Mean: 22.364769, Deviation: 8.065506},
			{Mean: 27.635231, Deviation: 8.065506}}},
	} {
		t.Run(c.model+", "+c.name, func(t *testing.T) {
			s := defaults(t, c.model)
			if c.model == rating.PlackettLuce {
				s.Tau = 0
			}
			m, err := rating.New(s)
			if err != nil {
				t.Fatal(err)
			}
			teams := make([]rating.Team, 2)
			for i := range teams {
				teams[i] = rating.Team{Players: []rating.Rating{s.Start()}, Rank: c.ranks[i]}
			}
			for i, got := range m.Rate(teams) {
				if want := c.want[i]; !near(got[0].Mean, want.Mean, 1e-6) || !near(got[0].Deviation, want.Deviation, 1e-6) {
					t.Errorf("%v; want %v", got, want)
				}
			}
		})
	}
	t.Run("Glicko-2", func(t *testing.T) {
		m, err := rating.New(defaults(t, rating.Glicko2))
		if err != nil {
			t.Fatal(err)
		}
		one := func(mean, deviation float64, rank int) rating.Team {
			return rating.Team{Rank: rank, Players: []rating.Rating{{Mean: mean, Deviation: deviation, Volatility: 0.06}}}
		}
		got := m.Rate([]rating.Team{one(1500, 200, 1), one(1400, 30, 2), one(1550, 100, 0), one(1700, 300, 0)})[0][0]
		if !near(got.Mean, 1464.06, 1e-5) || !near(got.Deviation, 151.52, 1e-4) || !near(got.Volatility, 0.05999, 1e-4) {
			t.Errorf("%v; want 1464.06, 151.52 and 0.05999", got)
		}
	})
}

type game struct {
	Model    string          `json:"model"`
	Settings rating.Settings `json:"settings"`
	Teams    []rating.Team   `json:"teams"`
}

// randomGame is a match of a model, with ratings as they are after many and after few matches.
func randomGame(t *testing.T, r *rand.Rand, model string) game {
	t.Helper()
	s := defaults(t, model)
	g := game{Model: model, Settings: s}
	size := 1
	if model != rating.Glicko2 {
		size += r.IntN(5)
	}
	for range 2 + r.IntN(4)*r.IntN(2) {
		team := rating.Team{Rank: r.IntN(5)}
		for range size {
			team.Players = append(team.Players, rating.Rating{
				Mean:       s.Mean + s.Deviation*(r.Float64()-0.5),
				Deviation:  s.Deviation * (0.2 + 0.8*r.Float64()),
				Volatility: s.Volatility * (0.5 + r.Float64()),
			})
		}
		g.Teams = append(g.Teams, team)
	}
	if model != rating.Glicko2 && model != rating.TrueSkill && r.IntN(3) == 0 {
		margin := 2 * r.Float64()
		g.Settings.Margin = &margin
		for i := range g.Teams {
			g.Teams[i].Score = float64(r.IntN(6))
		}
		for i := range g.Teams { // the higher score is the better rank
			g.Teams[i].Rank = 0
			for _, other := range g.Teams {
				if other.Score > g.Teams[i].Score {
					g.Teams[i].Rank++
				}
			}
		}
	}
	return g
}

// TestRanksOfAnySize: the team with the lesser rank wins, however far apart the ranks of a file are.
func TestRanksOfAnySize(t *testing.T) {
	for _, model := range rating.Models() {
		s := defaults(t, model)
		m, err := rating.New(s)
		if err != nil {
			t.Fatal(err)
		}
		one := []rating.Rating{s.Start()}
		got := m.Rate([]rating.Team{{Players: one, Rank: 1}, {Players: one, Rank: math.MinInt}})
		if lost, won := got[0][0].Mean, got[1][0].Mean; lost >= s.Mean || won <= s.Mean {
			t.Errorf("%s: the winner has %v, the loser %v", model, won, lost)
		}
	}
}

// TestOracles compares each model with another implementation, in random matches.
func TestOracles(t *testing.T) {
	if *oracle == "" {
		t.Skip("make check PART=oracles compares the models with others")
	}
	words := strings.Fields(*oracle)
	for _, model := range rating.Models() {
		t.Run(model, func(t *testing.T) {
			seed := rand.Uint64()
			r := rand.New(rand.NewPCG(seed, 0))
			games := make([]game, *matches)
			command := exec.CommandContext(t.Context(), words[0], words[1:]...)
			command.Stderr = os.Stderr
			var in strings.Builder
			for i := range games {
				games[i] = randomGame(t, r, model)
				line, err := json.Marshal(games[i])
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&in, "%s\n", line)
			}
			command.Stdin = strings.NewReader(in.String())
			out, err := command.Output()
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(strings.NewReader(string(out)))
			lines.Buffer(nil, 1<<20)
			for i, g := range games {
				if !lines.Scan() {
					t.Fatalf("seed %d: %d answers for %d matches", seed, i, len(games))
				}
				var want struct {
					Ratings [][]rating.Rating
					Odds    []float64
				}
				if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
					t.Fatal(err)
				}
				m, err := rating.New(g.Settings)
				if err != nil {
					t.Fatal(err)
				}
				got, odds := m.Rate(g.Teams), m.Odds(g.Teams)
				equal := slices.EqualFunc(got, want.Ratings, func(a, b []rating.Rating) bool {
					return slices.EqualFunc(a, b, func(a, b rating.Rating) bool {
						return near(a.Mean, b.Mean, 1e-9) && near(a.Deviation, b.Deviation, 1e-9) &&
							near(a.Volatility, b.Volatility, 1e-9)
					})
				})
				if want.Odds != nil {
					equal = equal && slices.EqualFunc(odds, want.Odds, func(a, b float64) bool { return near(a, b, 1e-9) })
				}
				if !equal {
					t.Fatalf("seed %d, match %d: %+v\ngot  %v %v\nwant %v %v", seed, i, g, got, odds, want.Ratings, want.Odds)
				}
			}
		})
	}
}
