package rating_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/match/rating"
)

func number[T any](v T) *T { return &v }

// ladder plays two against two with players of a known skill, and returns the mean loss of odds from that skill, over
// the matches that a replay judges.
func ladder(t *testing.T, replays []*rating.Replay, players, matches, games int, spread float64) (trueLoss float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	skill, played := make([]float64, players), make([]int, players)
	for i := range skill {
		skill[i] = 25 + spread*r.NormFloat64()
	}
	noise := 2 * 25. / 6 // of four players
	at, judged := time.Unix(0, 0), 0
	for range matches {
		at = at.Add(time.Minute)
		four := r.Perm(players)[:4]
		ahead := skill[four[0]] + skill[four[1]] - skill[four[2]] - skill[four[3]]
		won := ahead+noise*r.NormFloat64() > 0
		known := true
		for _, p := range four {
			known = known && played[p] >= games
			played[p]++
		}
		if known {
			p := math.Erfc(-ahead/noise/math.Sqrt2) / 2
			if !won {
				p = 1 - p
			}
			trueLoss -= math.Log(max(p, 1e-12))
			judged++
		}
		first, second := 0, 1
		if !won {
			first, second = 1, 0
		}
		name := func(i int) string { return fmt.Sprint("p", four[i]) }
		result := &rating.Result{Time: at, Teams: []rating.ResultTeam{
			{Players: []string{name(0), name(1)}, Rank: &first}, {Players: []string{name(2), name(3)}, Rank: &second}}}
		for _, one := range replays {
			if err := one.Add(result); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, one := range replays {
		if v := one.Verdict(); v.Matches != judged {
			t.Errorf("%d matches are judged; want %d", v.Matches, judged)
		}
	}
	return trueLoss / float64(judged)
}

func newReplay(t *testing.T, s rating.Settings, games int) *rating.Replay {
	t.Helper()
	r, err := rating.NewReplay(s, games)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLadder: the odds of a model that knows results alone are about as good as odds from the skill itself, and far
// better than a guess.
func TestLadder(t *testing.T) {
	good := defaults(t, rating.TrueSkill)
	good.Draw, good.Tau = 0.01, 0.01
	deaf := good
	deaf.Deviation, deaf.Tau = 0.001, 0 // believes that all are equal, and learns nothing
	replays := []*rating.Replay{newReplay(t, good, 200), newReplay(t, deaf, 200)}
	loss := ladder(t, replays, 100, 10_000, 200, 6)
	v, guess := replays[0].Verdict(), replays[1].Verdict()
	if v.LogLoss > 1.02*loss {
		t.Errorf("log-loss %.4f; the skill itself gives %.4f", v.LogLoss, loss)
	}
	if math.Abs(guess.LogLoss-math.Ln2) > 1e-3 || math.Abs(guess.Brier-0.25) > 1e-3 {
		t.Errorf("a guess has log-loss %v and Brier score %v", guess.LogLoss, guess.Brier)
	}
	for _, d := range v.Calibration {
		if d.Pairs > 100 && math.Abs(d.Odds-d.Won) > 3*math.Sqrt(0.25/d.Pairs)+0.01 {
			t.Errorf("favorites of %.3f won %.3f of %.0f", d.Odds, d.Won, d.Pairs)
		}
	}
	for i, less := range replays[0].Less(replays[1])[:1] {
		if less == 0 {
			t.Errorf("match %d costs both the same", i)
		}
	}
}

// TestResultsAreChecked has results that are refused, and how the refusal begins.
func TestResultsAreChecked(t *testing.T) {
	side := func(players ...string) rating.ResultTeam {
		return rating.ResultTeam{Players: players, Rank: number(1)}
	}
	many := make([]string, rating.MostPlayers)
	for i := range many {
		many[i] = fmt.Sprint("p", i)
	}
	at := time.Unix(1, 0)
	scored := side("b")
	scored.Score = new(float64)
	onlyScored := scored
	onlyScored.Rank = nil
	for want, r := range map[string]rating.Result{
		"time: ":                           {Teams: []rating.ResultTeam{side("a"), side("b")}},
		"teams: there are 1":               {Time: at, Teams: []rating.ResultTeam{side("a")}},
		"teams: there are 101":             {Time: at, Teams: make([]rating.ResultTeam, 101)},
		"teams[0]: it has neither":         {Time: at, Teams: []rating.ResultTeam{{Players: []string{"a"}}, side("b")}},
		"teams[1].rank: ":                  {Time: at, Teams: []rating.ResultTeam{side("a"), onlyScored}},
		"teams[1].score: ":                 {Time: at, Teams: []rating.ResultTeam{side("a"), scored}},
		"teams[1].players: ":               {Time: at, Teams: []rating.ResultTeam{side("a"), side()}},
		"teams[1].players[0]: it is empty": {Time: at, Teams: []rating.ResultTeam{side("a"), side("")}},
		"teams[1].players[1]: this player": {Time: at, Teams: []rating.ResultTeam{side("a"), side("b", "a")}},
		"teams: they have more than 1000":  {Time: at, Teams: []rating.ResultTeam{side("a"), side(many...)}},
	} {
		if err := r.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	replay := newReplay(t, defaults(t, rating.Glicko2), 0)
	good := rating.Result{Time: at, Teams: []rating.ResultTeam{side("a"), side("b")}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	if err := replay.Add(&good); err != nil {
		t.Fatal(err)
	}
	good.Time = at.Add(-time.Second)
	if err := replay.Add(&good); err == nil || !strings.HasPrefix(err.Error(), "time: ") {
		t.Errorf("an older result: %v", err)
	}
}

// TestScoresAreRanks: the highest score is the best, and equal ones draw.
func TestScoresAreRanks(t *testing.T) {
	play := func(teams ...rating.ResultTeam) rating.Verdict {
		r := newReplay(t, defaults(t, rating.PlackettLuce), 1)
		for i := range 2 {
			for j := range teams {
				teams[j].Players = []string{fmt.Sprint("p", j)}
			}
			if err := r.Add(&rating.Result{Time: time.Unix(int64(i), 0), Teams: teams}); err != nil {
				t.Fatal(err)
			}
		}
		return r.Verdict()
	}
	score := func(v float64) rating.ResultTeam { return rating.ResultTeam{Score: &v} }
	rank := func(v int) rating.ResultTeam { return rating.ResultTeam{Rank: &v} }
	scored, ranked := play(score(3), score(7), score(3)), play(rank(2), rank(1), rank(2))
	if scored.LogLoss != ranked.LogLoss || scored.FavoriteWon != 2.5/3 {
		t.Errorf("%+v by scores, %+v by ranks", scored, ranked)
	}
}

// TestSettingsAreChecked has settings that are refused, and how the refusal begins.
func TestSettingsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*rating.Settings){
		"model: ":      func(s *rating.Settings) { s.Model = "elo" },
		"mean: ":       func(s *rating.Settings) { s.Mean = math.NaN() },
		"deviation: ":  func(s *rating.Settings) { s.Deviation = 0 },
		"beta: ":       func(s *rating.Settings) { s.Beta = -1 },
		"draw: ":       func(s *rating.Settings) { s.Draw = 0.1 },
		"volatility: ": func(s *rating.Settings) { s.Volatility = 0.06 },
		"margin: ":     func(s *rating.Settings) { s.Margin = number(math.Inf(1)) },
	} {
		s := defaults(t, rating.PlackettLuce)
		change(&s)
		if _, err := rating.New(s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// TestRest: a deviation grows while a player rests, and not above what a new player has.
func TestRest(t *testing.T) {
	for _, model := range rating.Models() {
		s := defaults(t, model)
		if model != rating.Glicko2 {
			s.Growth = 1
		}
		m, err := rating.New(s)
		if err != nil {
			t.Fatal(err)
		}
		r := rating.Rating{Mean: s.Mean, Deviation: s.Deviation / 4, Volatility: s.Volatility}
		short, long := m.Rest(r, 10), m.Rest(r, 1e9)
		if short.Deviation <= r.Deviation || short.Deviation >= s.Deviation || long.Deviation != s.Deviation {
			t.Errorf("%s: %v, after a while %v, after ages %v", model, r, short, long)
		}
	}
}
