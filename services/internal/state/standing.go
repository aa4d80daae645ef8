package state

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/wait"
)

// Standing is what a project keeps of a player besides ratings. It is stored with them.
type Standing struct {
	// Games is how many results the player is in, and Left how many of these matches the player left early.
	Games, Left int
	// Recent are the last opponents, the latest first.
	Recent []string
	// Numbers are those that were set.
	Numbers map[string]float64
}

// standingMark begins the lines of a standing: "!name number", and the opponents with tabs between.
const standingMark = "!"

// recentBytes is the most bytes of the opponents that are kept of a player, and that a ticket has of all its players.
const (
	recentBytes       = 2 << 10
	ticketRecentBytes = 16 << 10
)

// ParseStanding reads the standing of a player, which is stored with the ratings.
func ParseStanding(stored string) (s Standing, err error) {
	s.Numbers = map[string]float64{}
	for line := range strings.SplitSeq(stored, "\n") {
		line, is := strings.CutPrefix(line, standingMark)
		if !is {
			continue
		}
		if ids, is := strings.CutPrefix(line, definition.Recent+"\t"); is {
			s.Recent = strings.Split(ids, "\t")
			continue
		}
		name, text, _ := strings.Cut(line, " ")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return s, corrupt("standing", err)
		}
		switch name {
		case definition.Games:
			s.Games = int(value)
		case definition.Left:
			s.Left = int(value)
		default:
			s.Numbers[name] = value
		}
	}
	return s, nil
}

// FormatRated is how the ratings and the standing of a player are stored.
func FormatRated(ratings []PlayerRating, s Standing) string {
	lines := []string{}
	if len(ratings) > 0 {
		lines = append(lines, FormatRatings(ratings))
	}
	if s.Games > 0 {
		lines = append(lines, fmt.Sprintf("%s%s %d", standingMark, definition.Games, s.Games))
	}
	if s.Left > 0 {
		lines = append(lines, fmt.Sprintf("%s%s %d", standingMark, definition.Left, s.Left))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Numbers)) {
		lines = append(lines, fmt.Sprintf("%s%s %.17g", standingMark, name, s.Numbers[name]))
	}
	if len(s.Recent) > 0 {
		lines = append(lines, standingMark+strings.Join(append([]string{definition.Recent}, s.Recent...), "\t"))
	}
	return strings.Join(lines, "\n")
}

// Meet notes opponents, the latest ones, and keeps so many.
func (s *Standing) Meet(opponents []string, most int) {
	all, size := make([]string, 0, most), 0
	for _, id := range slices.Concat(opponents, s.Recent) {
		if size += len(id) + 1; len(all) < most && size <= recentBytes && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	s.Recent = all
}

// StandingOf reads a player's standing.
func (s *Store) StandingOf(ctx context.Context, project, player string) (Standing, error) {
	_, standing, err := s.ratedOf(ctx, project, player)
	return standing, err
}

// ratedOf reads what is stored with a player's ratings.
func (s *Store) ratedOf(ctx context.Context, project, player string) (stored string, standing Standing, err error) {
	if stored, err = s.textIn(ctx, project, keysOf(project).ratings(), player); err != nil {
		return "", standing, err
	}
	standing, err = ParseStanding(stored)
	return stored, standing, err
}

// SetStanding sets numbers of a player's standing. Those that the settings do not name any more go. It is false when
// the player's ratings or standing changed meanwhile. Errors: Limited when too many players have some.
func (s *Store) SetStanding(
	ctx context.Context, project, player string, rules *pb.StandingRules, numbers map[string]float64,
) (standing Standing, done bool, err error) {
	stored, standing, err := s.ratedOf(ctx, project, player)
	if err != nil {
		return standing, false, err
	}
	ratings, err := ParseRatings(stored)
	if err != nil {
		return standing, false, err
	}
	maps.Copy(standing.Numbers, numbers)
	maps.DeleteFunc(standing.Numbers, func(name string, _ float64) bool {
		return !slices.ContainsFunc(rules.GetNumbers(), func(n *pb.StandingNumber) bool { return n.GetName() == name })
	})
	var verdict int
	err = s.eval(ctx, s.call("standing_put", keysOf(project), ids{},
		"player", player,
		"read", stored,
		"body", FormatRated(ratings, standing),
		"rated_limit", cmp.Or(s.limits.Rated, math.MaxInt32)), &verdict)
	if verdict < 0 {
		return standing, false, problem.New(problem.Limited, "too many players of this project have ratings or a standing").
			Exceeds("max-rated")
	}
	return standing, verdict == 1, err
}

// ForgetOpponent takes a player out of the opponents of others.
func (s *Store) ForgetOpponent(ctx context.Context, project, player string) error {
	for cursor := "0"; ; {
		err := s.eval(ctx, s.call("standing_forget", keysOf(project), ids{},
			"player", player,
			"cursor", cursor,
			"recent", standingMark+definition.Recent+"\t"), &cursor)
		if err != nil || cursor == "0" {
			return err
		}
		if err := wait.For(ctx, scanPause); err != nil {
			return err
		}
	}
}
