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

var models = []string{rating.PlackettLuce, rating.BradleyTerry, rating.ThurstoneMosteller, rating.Glicko2,
	rating.TrueSkill}

func newModel(t *testing.T, s rating.Settings) (rating.Model, rating.Settings) {
	t.Helper()
	s = s.Complete()
	m, err := rating.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// TestPublishedValues has values that the authors of the models, or their best-known implementations, publish.
func TestPublishedValues(t *testing.T) {
	one := func(r rating.Rating, rank int) rating.Team { return rating.Team{Players: []rating.Rating{r}, Rank: rank} }
	for _, c := range []struct {
		name     string
		settings rating.Settings
		teams    func(s rating.Rating) []rating.Team
		want     [][]rating.Rating
		precise  float64
	}{
		// Herbrich, Minka, Graepel; the calculator of TrueSkill's authors.
		{"TrueSkill, one beats one", rating.Settings{Model: rating.TrueSkill, Tau: 25. / 300}, func(s rating.Rating) []rating.Team {
			return []rating.Team{one(s, 0), one(s, 1)}
		}, [][]rating.Rating{{{Mean: 29.39583201999924, Deviation: 7.171475587326186}}, {{Mean: 20.60416798000076, Deviation: 7.171475587326186}}}, 1e-6},
		{"TrueSkill, a draw", rating.Settings{Model: rating.TrueSkill, Tau: 25. / 300}, func(s rating.Rating) []rating.Team {
			return []rating.Team{one(s, 0), one(s, 0)}
		}, [][]rating.Rating{{{Mean: 25, Deviation: 6.457515683245051}}, {{Mean: 25, Deviation: 6.457515683245051}}}, 1e-6},
		// openskill's README.
		{"Plackett-Luce", rating.Settings{Model: rating.PlackettLuce}, func(s rating.Rating) []rating.Team {
			return []rating.Team{one(s, 0), one(s, 1)}
		}, [][]rating.Rating{{{Mean: 27.63523138347365, Deviation: 8.065506316323548}},
			{{Mean: 22.36476861652635, Deviation: 8.065506316323548}}}, 1e-3},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, s := newModel(t, c.settings)
			got := m.Rate(c.teams(s.Start()))
			for i := range c.want {
				for j, want := range c.want[i] {
					if g := got[i][j]; !near(g.Mean, want.Mean, c.precise) || !near(g.Deviation, want.Deviation, c.precise) {
						t.Errorf("%v; want %v", got, c.want)
					}
				}
			}
		})
	}
}

type game struct {
	Model    string          `json:"model"`
	Settings rating.Settings `json:"settings"`
	Teams    []rating.Team   `json:"teams"`
}

// randomGame is a match of a model, with ratings as they are after many and after few matches.
func randomGame(t *testing.T, r *rand.Rand, model string) game {
	t.Helper()
	s := rating.Settings{Model: model}.Complete()
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

// TestOracles compares each model with another implementation, in random matches.
func TestOracles(t *testing.T) {
	if *oracle == "" {
		t.Skip("make check PART=oracles compares the models with others")
	}
	words := strings.Fields(*oracle)
	for _, model := range models {
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
