package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRatingsReplay(t *testing.T) {
	shell := newShell(t)
	var lines strings.Builder
	for i := range 40 { // the first one always wins
		fmt.Fprintf(&lines, `{"match": "m%d", "time": "2026-11-01T10:%02d:00Z", "more": 1, "teams": [{"players": ["ada"], "score": 3},
			{"players": ["bea"], "score": 1}]}`, i, i)
		lines.WriteString("\n\n")
	}
	text := strings.ReplaceAll(lines.String(), "\n\t\t\t", "")
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "results.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("\ufeff" + text)
	shell.run("ratings", "replay", file, "--model", "glicko2,tau=0.3", "--model", "trueSkill,draw=0").expect(0,
		"glicko2,tau=0.3        30", "")
	r := shell.run("ratings", "replay", file, "--model", "glicko2", "--model", "glicko2,deviation=50", "--after", "5",
		"-o", "json")
	var got []struct {
		Model                       string
		Matches                     int
		LogLoss, Brier, FavoriteWon float64
		Better, Margin              *float64
		Calibration                 []struct{ Pairs, Odds, Won float64 }
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 0 {
		t.Fatal(r.code, err, r.out)
	}
	if len(got) != 2 || got[0].Matches != 35 || got[0].FavoriteWon != 1 || got[0].Better != nil ||
		got[1].Better == nil || *got[1].Better >= 0 || *got[1].Margin <= 0 || len(got[0].Calibration) == 0 {
		t.Errorf("%+v; want that the second, which learns more slowly, is worse", got)
	}
	shell.run("ratings", "replay", file, "--after", "99").expect(0, "plackettLuce", "none of 40 results was judged")
	first, rest, _ := strings.Cut(text, "\n")
	for text, want := range map[string]string{
		"":                                "empty",
		"\n" + first + "\n{":              ":3: ",
		rest + first:                      ":80: time: 2026-11-01T10:00:00Z is before that of the result before it",
		`{"time":"2026-11-01T10:00:00Z"}`: ":1: teams: there are 0",
	} {
		shell.run("ratings", "replay", write(text)).expect(1, "", want)
	}
	for model, want := range map[string]string{
		"elo": `"elo" is none of plackettLuce`, "glicko2,beta=1": "beta: glicko2 has none", "glicko2,tau": `tau: "" is not a number`,
		"glicko2,K=3": `"K" is no parameter`, "trueSkill,beta=NaN": "beta: NaN is not from",
	} {
		shell.run("ratings", "replay", file, "--model", model).expect(2, "", want)
	}
	shell.run("ratings", "replay", file, "--after=-1").expect(2, "", "--after: must be 0 or more")
}
