package rating_test

import (
	"math"
	"slices"
	"testing"

	"matchmaker.dev/services/internal/match/rating"
)

// A pair of teams counts for its favorite, whichever team is named first. Equal teams have none: a win says nothing of
// the odds.
func TestJudge(t *testing.T) {
	s, err := rating.Defaults(rating.PlackettLuce)
	if err != nil {
		t.Fatal(err)
	}
	model, err := rating.New(s)
	if err != nil {
		t.Fatal(err)
	}
	team := func(mean float64, rank int) rating.Team {
		return rating.Team{Players: []rating.Rating{{Mean: mean, Deviation: 1}}, Rank: rank}
	}
	strong, weak := team(30, 1), team(25, 2)
	odds := model.Odds([]rating.Team{strong, weak})[0]
	bucket := int((odds - 0.5) * 20)
	for _, c := range []struct {
		name      string
		strong    int // its rank; the other one's is 2
		won, loss float64
	}{{"won", 1, 1, -math.Log(odds)}, {"lost", 3, 0, -math.Log(1 - odds)}, {"drew", 2, 0.5,
		-(math.Log(odds) + math.Log(1-odds)) / 2}} {
		strong.Rank = c.strong
		teams := []rating.Team{strong, weak}
		for range 2 {
			got := rating.Judge(model, teams)
			want := rating.Bucket{Pairs: 1, Odds: odds, Won: c.won}
			if got.Buckets[bucket] != want || got.Sum() != want || math.Abs(got.Loss-c.loss) > 1e-12 ||
				math.Abs(got.Squares-(odds-c.won)*(odds-c.won)) > 1e-12 {
				t.Errorf("%s: %+v, want %+v and %v", c.name, got, want, c.loss)
			}
			slices.Reverse(teams)
		}
	}
	even := rating.Judge(model, []rating.Team{team(25, 1), team(25, 2), team(25, 3)})
	if even.Buckets[0] != (rating.Bucket{Pairs: 3, Odds: 1.5, Won: 1.5}) || math.Abs(even.Loss-3*math.Ln2) > 1e-12 {
		t.Errorf("equal teams: %+v", even)
	}
	even.Add(&even)
	sure := rating.Judge(model, []rating.Team{team(1e6, 2), team(-1e6, 1)})
	if sure.Buckets[rating.Buckets-1].Pairs != 1 || math.IsInf(sure.Loss, 0) || even.Sum().Pairs != 6 {
		t.Errorf("a certain loss: %+v, %+v", sure, even)
	}
}
