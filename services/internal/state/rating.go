package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/rating"
)

// PlayerRating is a stored rating of a player.
type PlayerRating struct {
	Name string
	// Season in which it is; "" for none.
	Season string
	rating.Rating
	// Matches is how many matches it is made of, in all seasons.
	Matches int
	// Changed is when it changed last.
	Changed time.Time
}

// ratingFields is how many fields a stored rating has.
const ratingFields = 7

// noSeason is how a rating without a season is stored.
const noSeason = "-"

// ParseRatings reads the stored ratings of a player.
func ParseRatings(stored string) (all []PlayerRating, err error) {
	for line := range strings.Lines(stored) {
		if strings.HasPrefix(line, standingMark) {
			continue
		}
		f := strings.Fields(line)
		if len(f) != ratingFields {
			return nil, corrupt("rating", fmt.Errorf("%d fields", len(f)))
		}
		r := PlayerRating{Name: f[0], Season: f[1]}
		if r.Season == noSeason {
			r.Season = ""
		}
		var errs [5]error
		r.Mean, errs[0] = strconv.ParseFloat(f[2], 64)
		r.Deviation, errs[1] = strconv.ParseFloat(f[3], 64)
		r.Volatility, errs[2] = strconv.ParseFloat(f[4], 64)
		r.Matches, errs[3] = strconv.Atoi(f[5])
		changed, err := strconv.ParseInt(f[6], 10, 64)
		r.Changed, errs[4] = time.UnixMilli(changed).UTC(), err
		if err := errors.Join(errs[:]...); err != nil {
			return nil, corrupt("rating", err)
		}
		all = append(all, r)
	}
	return all, nil
}

// FormatRatings is how ratings are stored.
func FormatRatings(all []PlayerRating) string {
	var text []byte
	for i, r := range all {
		if i > 0 {
			text = append(text, '\n')
		}
		text = append(text, r.Name+" "+cmp.Or(r.Season, noSeason)...)
		text = appendNumbers(text, -1, r.Mean, r.Deviation, r.Volatility)
		text = strconv.AppendInt(append(text, ' '), int64(r.Matches), 10)
		text = strconv.AppendInt(append(text, ' '), millis(r.Changed), 10)
	}
	return string(text)
}

// appendNumbers appends numbers with so many digits, -1 for all, each after a space.
func appendNumbers(to []byte, digits int, numbers ...float64) []byte {
	for _, n := range numbers {
		to = strconv.AppendFloat(append(to, ' '), n, 'g', digits, 64)
	}
	return to
}

// RatingModel is the model of a rating, with its parameters.
func RatingModel(r *pb.RatingRule) rating.Settings {
	return rating.Settings{Model: r.GetModel(), Mean: r.GetMean(), Deviation: r.GetDeviation(), Beta: r.GetBeta(),
		Tau: r.GetTau(), Growth: r.GetGrowth(), Draw: r.GetDraw(), Volatility: r.GetVolatility(), Margin: r.Margin}
}

// Current is what a stored rating is worth now: after the time since then, and in the season that the rule names.
func Current(rule *pb.RatingRule, model rating.Model, r PlayerRating, now time.Time) PlayerRating {
	const day = float64(24 * time.Hour)
	r.Rating = model.Rest(r.Rating, float64(now.Sub(r.Changed))/day)
	if season := rule.GetSeason(); r.Season != season && season != "" {
		r.Season = season
		r.Mean = rule.GetMean() + rule.GetKeep()*(r.Mean-rule.GetMean())
		r.Deviation = rule.GetDeviation() + rule.GetKeep()*(r.Deviation-rule.GetDeviation())
	}
	r.Changed = now
	return r
}

// IsProvisional reports whether a rating says too little to be shown.
func IsProvisional(rule *pb.RatingRule, r rating.Rating) bool {
	return rule.GetProvisional() > 0 && r.Deviation > rule.GetProvisional()
}

// RatingsOf reads a player's ratings.
func (s *Store) RatingsOf(ctx context.Context, project, player string) ([]PlayerRating, error) {
	stored, err := textOf(s.redis.HGet(ctx, keysOf(project).ratings(), player))
	if err != nil {
		return nil, err
	}
	return ParseRatings(stored)
}

// ForgetRatings erases a player's ratings, and what came of them. It reports whether there were any.
func (s *Store) ForgetRatings(ctx context.Context, project, player string) (bool, error) {
	k := keysOf(project)
	boards, err := s.Boards(ctx, project)
	if err != nil {
		return false, err
	}
	n, err := s.redis.HDel(ctx, k.ratings(), player).Result()
	if err != nil {
		return false, unavailable(err)
	}
	_, err = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.HDel(ctx, k.steps(), player)
		for _, board := range boards {
			p.ZRem(ctx, k.board(board), player)
		}
		p.ZRem(ctx, k.rated(), player) // last: what is left ends with it
		return nil
	})
	return n > 0, unavailable(err)
}

// counts reports whether a rating is of matches of these queues.
func counts(rule *pb.RatingRule, queues []string) bool {
	return len(rule.GetQueues()) == 0 ||
		slices.ContainsFunc(rule.GetQueues(), func(q string) bool { return slices.Contains(queues, q) })
}

// RatingsFor are the ratings of a project that matches of these queues change.
func RatingsFor(settings *pb.ProjectSettings, queues ...string) (rules []*pb.RatingRule) {
	for _, rule := range settings.GetRatings() {
		if counts(rule, queues) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// growthOf is the variance that a rating gains in a day without matches: for a model whose volatility says that, by the
// square of the volatility.
func growthOf(rule *pb.RatingRule) (fixed, byVolatility float64) {
	if rule.GetModel() == rating.Glicko2 {
		return 0, rating.GlickoScale * rating.GlickoScale
	}
	return math.Pow(rule.GetGrowth(), 2), 0
}
