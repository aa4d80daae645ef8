package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/rating"
)

const (
	// MostPlaced is how many players a leaderboard has: the best.
	MostPlaced = 10_000
	// mostBoards is how many leaderboards a project has. A new one takes the place of the one that is unused for longest.
	mostBoards = 16
	// defaultBelow is how many deviations below the mean the value is that is shown.
	defaultBelow = 3
)

// Shown is the value of a rating that is shown to players: with too little known of a player, it is low.
func Shown(rule *pb.RatingRule, r rating.Rating) float64 {
	below := float64(defaultBelow)
	if rule != nil && rule.Below != nil {
		below = rule.GetBelow()
	}
	return r.Mean - below*r.Deviation
}

// TierOf is the tier of a value; "" below the first.
func TierOf(rule *pb.RatingRule, value float64) (name string) {
	for _, t := range rule.GetTiers() {
		if value >= t.GetFrom() {
			name = t.GetName()
		}
	}
	return name
}

// BoardOf is the leaderboard of a rating in a season, "" for none.
func BoardOf(name, season string) string {
	season = cmp.Or(season, noSeason)
	return name + ":" + season
}

// Boards are a project's leaderboards, the one first that is unused for longest.
func (s *Store) Boards(ctx context.Context, project string) ([]string, error) {
	names, err := s.redis.ZRange(ctx, keysOf(project).boards(), 0, -1).Result()
	return names, unavailable(err)
}

// Place is the place of a player in a leaderboard, counted from 1; 0 for none.
type Place struct {
	Rating, Season, Player string
	Rank                   int
	Value                  float64
}

func placeIn(board string) Place {
	name, season, _ := strings.Cut(board, ":")
	if season == noSeason {
		season = ""
	}
	return Place{Rating: name, Season: season}
}

// PlacesOf reads a player's places in leaderboards.
func (s *Store) PlacesOf(ctx context.Context, project, player string, boards []string) ([]Place, error) {
	if len(boards) == 0 {
		return nil, nil
	}
	k := keysOf(project)
	ranks, values := make([]*redis.IntCmd, len(boards)), make([]*redis.FloatCmd, len(boards))
	_, _ = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error { // each has its own error
		for i, board := range boards {
			ranks[i], values[i] = p.ZRevRank(ctx, k.board(board), player), p.ZScore(ctx, k.board(board), player)
		}
		return nil
	})
	all := make([]Place, len(boards))
	for i, board := range boards {
		all[i] = placeIn(board)
		switch err := cmp.Or(ranks[i].Err(), values[i].Err()); {
		case err != nil && !errors.Is(err, redis.Nil):
			return nil, unavailable(err)
		case err == nil:
			all[i].Player, all[i].Rank, all[i].Value = player, int(ranks[i].Val())+1, values[i].Val()
		}
	}
	return all, nil
}

// Leaderboard reads up to limit places behind a rank, and how many there are.
func (s *Store) Leaderboard(ctx context.Context, project, board string, after, limit int) ([]Place, int, error) {
	key := keysOf(project).board(board)
	var count *redis.IntCmd
	var page *redis.ZSliceCmd
	_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		count, page = p.ZCard(ctx, key), p.ZRevRangeWithScores(ctx, key, int64(after), int64(after+limit-1))
		return nil
	})
	if err != nil {
		return nil, 0, unavailable(err)
	}
	all := make([]Place, len(page.Val()))
	for i, z := range page.Val() {
		all[i] = placeIn(board)
		all[i].Player, all[i].Rank, all[i].Value = memberOf(z), after+i+1, z.Score
	}
	return all, int(count.Val()), nil
}

// RatingStep is what a match did to a rating.
type RatingStep struct {
	Match, Rating string
	Time          time.Time
	Before, After rating.Rating // without volatility
}

// stepsOf is what a result did to the ratings of a player, as it is stored: the match and the time, and a line for each
// rating; "" for nothing. The same result gives the same text.
func stepsOf(match string, result *pb.MatchResult, player string) string {
	var lines []byte
	for _, c := range result.GetChanges() {
		if c.GetPlayer() == player {
			lines = appendNumbers(append(lines, "\n"+c.GetRating()...), 10, c.GetMeanBefore(), c.GetDeviationBefore(),
				c.GetMean(), c.GetDeviation())
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return match + " " + strconv.FormatInt(result.GetFirst(), 10) + string(lines)
}

// RatingSteps reads what matches did to a player's ratings, the last one first.
func (s *Store) RatingSteps(ctx context.Context, project, player string) (all []RatingStep, err error) {
	stored, err := textOf(s.redis.HGet(ctx, keysOf(project).steps(), player))
	if err != nil || stored == "" {
		return nil, err
	}
	for text := range strings.SplitSeq(stored, "\n\n") {
		head, lines, _ := strings.Cut(text, "\n")
		match, at, _ := strings.Cut(head, " ")
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, corrupt("changes of ratings", err)
		}
		for line := range strings.Lines(lines) {
			one := RatingStep{Match: match, Time: time.UnixMilli(ms).UTC()}
			if _, err := fmt.Sscan(line, &one.Rating, &one.Before.Mean, &one.Before.Deviation, &one.After.Mean,
				&one.After.Deviation); err != nil {
				return nil, corrupt("changes of ratings", err)
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// ranking are the leaderboards of a result: of each rule, and, if it is a correction, of an earlier season in which its
// match counted; and those that go for them.
type ranking struct {
	rules  []*pb.RatingRule
	boards []string
	gone   []string
}

// ranking is of the rules by which a result counts.
func (b *ResultBasis) ranking() ranking {
	r := ranking{rules: RatingsFor(b.Settings, b.GetQueue())}
	used := map[string]bool{}
	for _, rule := range b.Settings.GetRatings() {
		used[BoardOf(rule.GetName(), rule.GetSeason())] = true
	}
	count := len(b.Boards)
	for _, rule := range r.rules {
		board := BoardOf(rule.GetName(), rule.GetSeason())
		if r.boards = append(r.boards, board); !slices.Contains(b.Boards, board) {
			count++
		}
	}
	for _, board := range b.Boards {
		if count > mostBoards && !used[board] {
			r.gone = append(r.gone, board)
			count--
		}
	}
	for _, c := range b.Result.GetChanges() {
		if board := boardOf(c); slices.Contains(b.Boards, board) && !slices.Contains(slices.Concat(r.boards, r.gone), board) {
			r.boards = append(r.boards, board)
		}
	}
	return r
}

func boardOf(c *pb.RatingChange) string { return BoardOf(c.GetRating(), c.GetSeason()) }

// names are the leaderboards as the script gets them.
func (r *ranking) names() string {
	names := strings.Join(r.boards, " ")
	for _, board := range r.gone {
		names += " !" + board
	}
	return names
}

// values are the values of a player in the leaderboards, and by how much the values of earlier seasons change.
func (b *ResultBasis) values(r ranking, of Rated, next *pb.MatchResult) (string, error) {
	all, err := ParseRatings(of.Ratings)
	values := make([]string, len(r.boards))
	for i, board := range r.boards {
		if i >= len(r.rules) {
			values[i] = "i" + strconv.FormatFloat(b.moved(board, of.Player, next), 'g', -1, 64)
			continue
		}
		rule := r.rules[i]
		values[i] = "-"
		for _, one := range all {
			if one.Name == rule.GetName() && one.Season == rule.GetSeason() && !IsProvisional(rule, one.Rating) {
				values[i] = strconv.FormatFloat(Shown(rule, one.Rating), 'g', -1, 64)
			}
		}
	}
	return strings.Join(values, " "), err
}

// moved is by how much a correction changes the value of a player in the leaderboard of an earlier season.
func (b *ResultBasis) moved(board, player string, next *pb.MatchResult) float64 {
	find := func(result *pb.MatchResult) *pb.RatingChange {
		for _, c := range result.GetChanges() {
			if c.GetPlayer() == player && boardOf(c) == board {
				return c
			}
		}
		return nil
	}
	did, does := find(b.Result), find(next)
	if did == nil {
		return 0
	}
	if does == nil { // the player was not in the match
		does = &pb.RatingChange{Mean: did.GetMeanBefore(), Deviation: did.GetDeviationBefore()}
	}
	at := slices.IndexFunc(b.Settings.GetRatings(), func(r *pb.RatingRule) bool { return r.GetName() == did.GetRating() })
	if at < 0 {
		return 0
	}
	shown := func(c *pb.RatingChange) float64 {
		return Shown(b.Settings.GetRatings()[at], rating.Rating{Mean: c.GetMean(), Deviation: c.GetDeviation()})
	}
	return shown(does) - shown(did)
}
