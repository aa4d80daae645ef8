package result

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/state"
)

// ratings answers GET /players/{id}/ratings.
func (s *service) ratings(c echo.Context) error {
	player, err := s.player(c)
	if err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	settings, err := s.Store.Settings(ctx, project)
	if err != nil {
		return err
	}
	stored, err := s.Store.RatingsOf(ctx, project, player)
	if err != nil {
		return err
	}
	rules := settings.GetRatings()
	boards := make([]string, len(rules))
	for i, rule := range rules {
		boards[i] = state.BoardOf(rule.GetName(), rule.GetSeason())
	}
	places, err := s.Store.PlacesOf(ctx, project, player, boards)
	if err != nil {
		return err
	}
	shown := response.PlayerRatings{Ratings: []response.PlayerRating{}}
	for i, rule := range rules {
		for _, r := range stored {
			if r.Name != rule.GetName() {
				continue
			}
			one, err := shownRating(rule, r, s.Store.Now())
			if err != nil {
				return err
			}
			if !one.Provisional {
				one.Rank = places[i].Rank
			}
			shown.Ratings = append(shown.Ratings, one)
		}
	}
	return c.JSON(http.StatusOK, shown)
}

// shownRating is what a stored rating is worth now.
func shownRating(rule *pb.RatingRule, r state.PlayerRating, at time.Time) (response.PlayerRating, error) {
	model, err := rating.New(state.RatingModel(rule))
	if err != nil {
		return response.PlayerRating{}, err
	}
	now := state.Current(rule, model, r, at)
	one := response.NewRating(now)
	one.Changed = r.Changed.Format(time.RFC3339Nano)
	one.Value = new(state.Shown(rule, now.Rating))
	if one.Provisional = state.IsProvisional(rule, now.Rating); !one.Provisional {
		one.Tier = state.TierOf(rule, *one.Value)
	}
	return one, nil
}

// history answers GET /players/{id}/ratings/history.
func (s *service) history(c echo.Context) error {
	player, err := s.player(c)
	if err != nil {
		return err
	}
	settings, err := s.Store.Settings(c.Request().Context(), c.Param("project"))
	if err != nil {
		return err
	}
	steps, err := s.Store.RatingSteps(c.Request().Context(), c.Param("project"), player)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, response.RatingHistory{Changes: response.NewSteps(steps, settings.GetRatings())})
}

// leaderboard answers GET /ratings/{name}/leaderboard.
func (s *service) leaderboard(c echo.Context) error {
	values, err := web.Query(c, "season", "limit", "after")
	if err != nil {
		return err
	}
	limit, err := web.Limit(values)
	if err != nil {
		return err
	}
	after, err := web.Number(values, "after", 0, 0, state.MostPlaced)
	if err != nil {
		return err
	}
	ctx, project, p := c.Request().Context(), c.Param("project"), auth.From(c)
	if p.Kind != auth.Developer {
		if _, _, err := auth.TicketReader(p); err != nil {
			return err
		}
		if err := s.reads.Allow(project, p.Subject); err != nil {
			return err
		}
	}
	rule, err := s.rule(c)
	if err != nil {
		return err
	}
	if p.Kind == auth.Player && !rule.GetPublic() {
		return problem.New(problem.Forbidden, "the leaderboard names players, and is not public")
	}
	season := rule.GetSeason()
	if values.Has("season") {
		if season = values.Get("season"); !definition.IsRatingName(season) {
			return problem.New(problem.Invalid, "query parameter season: the name of a season is expected")
		}
	}
	places, total, err := s.Store.Leaderboard(ctx, project, state.BoardOf(rule.GetName(), season), after, limit)
	if err != nil {
		return err
	}
	shown := response.Leaderboard{Rating: rule.GetName(), Season: season, Total: total,
		Players: make([]response.LeaderboardEntry, len(places))}
	for i, one := range places {
		shown.Players[i] = response.LeaderboardEntry{Rank: one.Rank, Player: one.Player, Value: one.Value,
			Tier: state.TierOf(rule, one.Value)}
	}
	if end := after + len(places); end < total && len(places) > 0 {
		shown.Next = end
	}
	return c.JSON(http.StatusOK, shown)
}

// rule is the rule of the rating in the path.
func (s *service) rule(c echo.Context) (*pb.RatingRule, error) {
	settings, err := s.Store.Settings(c.Request().Context(), c.Param("project"))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(settings.GetRatings(),
		func(r *pb.RatingRule) bool { return r.GetName() == c.Param("rating") })
	if at < 0 {
		return nil, problem.New(problem.NotFound, "the settings have no rating %.64q", c.Param("rating"))
	}
	return settings.GetRatings()[at], nil
}
