package response

import (
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/state"
)

// NewRating is a rating as answers have it.
func NewRating(r state.PlayerRating) PlayerRating {
	return PlayerRating{Name: r.Name, Season: r.Season, Mean: r.Mean, Sigma: r.Deviation, Matches: r.Matches,
		Changed: r.Changed.Format(time.RFC3339Nano)}
}

// NewSteps are changes of ratings as answers have them, with the values that a project's rules give.
func NewSteps(all []state.RatingStep, rules []*pb.RatingRule) []RatingStep {
	shown := make([]RatingStep, len(all))
	for i, one := range all {
		var rule *pb.RatingRule
		if at := slices.IndexFunc(rules, func(r *pb.RatingRule) bool { return r.GetName() == one.Rating }); at >= 0 {
			rule = rules[at]
		}
		point := func(r rating.Rating) RatingPoint {
			return RatingPoint{Mean: r.Mean, Sigma: r.Deviation, Value: state.Shown(rule, r)}
		}
		shown[i] = RatingStep{Match: one.Match, Time: one.Time.Format(time.RFC3339Nano), Rating: one.Rating,
			Before: point(one.Before), After: point(one.After)}
	}
	return shown
}

// NewStanding is a standing as answers have it.
func NewStanding(s state.Standing) Standing {
	return Standing{Games: s.Games, Left: s.Left, Recent: append([]string{}, s.Recent...), Numbers: s.Numbers}
}

// NewResult is a result as answers have it.
func NewResult(r *pb.MatchResult) *MatchResult {
	shown := &MatchResult{Teams: []ReportedTeam{}, Corrections: int(r.GetCorrections()),
		Reported: time.UnixMilli(r.GetTime()).UTC().Format(time.RFC3339Nano)}
	for _, t := range r.GetTeams() {
		one := ReportedTeam{Name: t.GetName(), Rank: int(t.GetRank()), Score: t.Score,
			Numbers: shownNumbers(t.GetNumbers())}
		for _, p := range t.GetPlayers() {
			one.Players = append(one.Players, ReportedPlayer{ID: p.GetId(), Left: p.Left,
				Numbers: shownNumbers(p.GetNumbers())})
		}
		shown.Teams = append(shown.Teams, one)
	}
	for _, c := range r.GetChanges() {
		shown.Ratings = append(shown.Ratings, RatingChange{Player: c.GetPlayer(), Rating: c.GetRating(),
			Before: c.GetMeanBefore(), Mean: c.GetMean(), Sigma: c.GetDeviation()})
	}
	return shown
}

func shownNumbers(all []*pb.Number) map[string]float64 {
	if len(all) == 0 {
		return nil
	}
	numbers := make(map[string]float64, len(all))
	for _, n := range all {
		numbers[n.GetName()] = n.GetValue()
	}
	return numbers
}

// NewMeasures are distributions as answers have them: none is an empty list.
func NewMeasures(all []report.Distribution) []Measure {
	measures := make([]Measure, len(all))
	for i, d := range all {
		measures[i] = Measure{Kind: d.Kind, Name: d.Name, Count: d.Count, Mean: d.Mean, P10: d.P10, P50: d.P50, P90: d.P90}
	}
	return measures
}
