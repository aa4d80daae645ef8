package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/state"
)

// ladder is a project in which results change a rating. Each result is of another match.
type ladder struct {
	*testing.T
	*state.Store
	revision int64
	terms    state.ClaimOptions
	rule     *pb.RatingRule
	now      time.Time
	matches  int
	season   string // of what a match changes; "" for the rule's
}

func newLadder(t *testing.T, open func(state.Options) *state.Store) *ladder {
	t.Helper()
	l := &ladder{T: t, now: epoch0, rule: &pb.RatingRule{Name: "skill", Season: "s1", Keep: 1, Provisional: 4,
		Model: rating.PlackettLuce, Mean: 25, Deviation: 8, Beta: 4}}
	l.Store = open(state.Options{History: 1000, Clock: func() time.Time { return l.now }})
	l.revision, l.terms = setUp(t, l.Store)
	return l
}

// begin begins a match.
func (l *ladder) begin() string {
	l.Helper()
	l.matches++
	id, ticket := fmt.Sprint("m", l.matches), fmt.Sprint("ticket-of-m", l.matches)
	create(l.T, l.Store, ticket)
	mustClaim(l.T, l.Store, l.terms, awaiting(l.revision, id, ticket))
	return id
}

// put makes ratings of players what a result says, each a mean and a deviation.
func (l *ladder) put(match string, all map[string][2]float64) {
	l.Helper()
	var players []string
	for player := range all {
		players = append(players, player)
	}
	basis, err := l.ReadResult(l.Context(), project, match, players)
	must(l.T, err)
	basis.Settings = &pb.ProjectSettings{Ratings: []*pb.RatingRule{l.rule}}
	next, season := &pb.MatchResult{First: l.now.UnixMilli()}, l.season
	if season == "" {
		season = l.rule.GetSeason()
	}
	var rated []state.Rated
	for player, r := range all {
		stored := state.PlayerRating{Name: "skill", Season: l.rule.GetSeason(), Changed: l.now,
			Rating: rating.Rating{Mean: r[0], Deviation: r[1]}}
		next.Changes = append(next.Changes, &pb.RatingChange{Player: player, Rating: "skill", MeanBefore: 25,
			DeviationBefore: 8, Mean: r[0], Deviation: r[1], Season: season})
		rated = append(rated, state.Rated{Player: player, Read: basis.Ratings[player],
			Ratings: state.FormatRatings([]state.PlayerRating{stored})})
	}
	done, err := l.PutResult(l.Context(), project, basis, next, nil, rated)
	if err != nil || !done {
		l.Fatal(done, err)
	}
}

// board is the leaderboard of a season, as text.
func (l *ladder) board(season string, after, limit int) (text string, total int) {
	l.Helper()
	places, total, err := l.Leaderboard(l.Context(), project, state.BoardOf("skill", season), after, limit)
	must(l.T, err)
	var all []string
	for _, p := range places {
		all = append(all, fmt.Sprintf("%d %s %g", p.Rank, p.Player, p.Value))
	}
	return strings.Join(all, ", "), total
}

func (l *ladder) wantBoard(season, want string) {
	l.Helper()
	if got, _ := l.board(season, 0, 100); got != want {
		l.Errorf("the leaderboard of %s is %q, want %q", season, got, want)
	}
}

// A leaderboard has the players of a season by the value that is shown, but no provisional ones. A correction moves
// players. Players that were erased, or did not play for long, are not in it.
func TestLeaderboards(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		l := newLadder(t, open)
		m1 := l.begin()
		l.put(m1, map[string][2]float64{"ada": {31, 2}, "bob": {29, 1}, "cy": {40, 4.5}})
		l.wantBoard("s1", "1 bob 26, 2 ada 25")
		l.put(m1, map[string][2]float64{"ada": {33, 2}, "bob": {29, 4.1}, "cy": {31, 1}})
		l.wantBoard("s1", "1 cy 28, 2 ada 27")
		if page, total := l.board("s1", 1, 1); page != "2 ada 27" || total != 2 {
			t.Errorf("the second page is %q of %d", page, total)
		}
		l.now = l.now.Add(1000 * time.Hour)
		l.rule.Season, l.rule.Below = "s2", new(0.5)
		l.put(l.begin(), map[string][2]float64{"ada": {30, 2}})
		l.wantBoard("s1", "1 cy 28, 2 ada 27")
		l.wantBoard("s2", "1 ada 29")
		boards, err := l.Boards(t.Context(), project)
		must(t, err)
		places, err := l.PlacesOf(t.Context(), project, "ada", boards)
		must(t, err)
		if diff := cmp.Diff([]state.Place{{"skill", "s1", "ada", 2, 27}, {"skill", "s2", "ada", 1, 29}}, places); diff != "" {
			t.Error(diff)
		}
		for _, key := range []string{"board:skill:s1", "boards"} {
			if ends, err := l.Ends(t.Context(), "mm:{"+project+"}:"+key); err != nil || ends < 9_599*3_600_000 ||
				ends > 9_700*3_600_000 {
				t.Errorf("%s ends after %d ms, %v", key, ends, err)
			}
		}
		// cy has not played for longer than --rating-age, and ada has.
		l.now = l.now.Add(9_000 * time.Hour)
		_, _, err = l.SweepResults(t.Context(), project, 10)
		must(t, err)
		l.wantBoard("s1", "1 ada 27")
		if had, err := l.ForgetRatings(t.Context(), project, "ada"); err != nil || !had {
			t.Error(had, err)
		}
		l.wantBoard("s1", "")
		l.wantBoard("s2", "")
		if steps, err := l.RatingSteps(t.Context(), project, "ada"); err != nil || len(steps) > 0 {
			t.Errorf("an erased player has %v, %v", steps, err)
		}
	})
}

// A correction changes the leaderboard of the season in which its match was, of players that are in it.
func TestCorrectionOfEarlierSeason(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		l := newLadder(t, open)
		m1 := l.begin()
		l.put(m1, map[string][2]float64{"ada": {31, 2}, "bob": {29, 1}, "cy": {31, 5}})
		l.rule.Season = "s2"
		l.put(l.begin(), map[string][2]float64{"ada": {30, 2}})
		l.season = "s1"
		l.put(m1, map[string][2]float64{"ada": {33.5, 2.5}, "bob": {28.5, 1}, "cy": {40, 1}, "di": {50, 1}})
		l.wantBoard("s1", "1 ada 26, 2 bob 25.5")
	})
}

// A leaderboard has the best 10,000 players, and a project the 16 leaderboards that changed last.
func TestLeaderboardsAreBounded(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		l := newLadder(t, open)
		m := l.begin()
		for batch := range 11 {
			all := map[string][2]float64{}
			for i := range 1000 {
				all[fmt.Sprint("p", batch*1000+i)] = [2]float64{float64(batch*1000 + i), 0}
			}
			l.put(m, all)
		}
		page, total := l.board("s1", 9_998, 10)
		if total != state.MostPlaced || page != "9999 p1001 1001, 10000 p1000 1000" {
			t.Errorf("%d players, the last are %q", total, page)
		}
		for i := range 20 {
			l.now = l.now.Add(time.Minute)
			l.rule.Season = fmt.Sprint("n", i)
			l.put(l.begin(), map[string][2]float64{"ada": {30, 1}})
		}
		boards, err := l.Boards(t.Context(), project)
		must(t, err)
		if len(boards) != 16 || boards[0] != "skill:n4" || boards[15] != "skill:n19" {
			t.Errorf("the leaderboards are %v", boards)
		}
		l.wantBoard("s1", "")
		l.wantBoard("n4", "1 ada 27")
	})
}

// The changes of a player's last 32 matches are kept. A correction takes the place of what it corrects.
func TestRatingSteps(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		l := newLadder(t, open)
		var matches []string
		for i := range 34 {
			l.now = l.now.Add(time.Minute)
			matches = append(matches, l.begin())
			l.put(matches[i], map[string][2]float64{"ada": {25 + float64(i), 2}})
		}
		l.put(matches[30], map[string][2]float64{"ada": {99, 1.5}})
		l.put(matches[30], map[string][2]float64{"ada": {77, 1.25}})
		l.put(matches[0], map[string][2]float64{"ada": {55, 1}}) // is not kept any more
		steps, err := l.RatingSteps(t.Context(), project, "ada")
		must(t, err)
		var got []string
		for _, one := range steps {
			got = append(got, one.Match)
		}
		want := slices.Clone(matches[2:])
		slices.Reverse(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if s := steps[3]; s.Rating != "skill" || s.Before != (rating.Rating{Mean: 25, Deviation: 8}) ||
			s.After != (rating.Rating{Mean: 77, Deviation: 1.25}) {
			t.Errorf("the corrected match: %+v", s)
		}
	})
}
