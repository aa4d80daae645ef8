package result

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
)

func (s *service) standing(c echo.Context) error {
	player, err := s.player(c)
	if err != nil {
		return err
	}
	standing, err := s.Store.StandingOf(c.Request().Context(), c.Param("project"), player)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, response.NewStanding(standing))
}

func (s *service) setStanding(c echo.Context) error {
	project := c.Param("project")
	if err := auth.MustAct(auth.From(c)); err != nil {
		return err
	}
	player, err := s.player(c)
	if err != nil {
		return err
	}
	var in struct {
		Numbers map[string]float64 `json:"numbers"`
	}
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	settings, err := s.Store.Settings(c.Request().Context(), project)
	if err != nil {
		return err
	}
	if err := checkStanding(settings.GetStanding(), in.Numbers); err != nil {
		return err
	}
	for range changes {
		standing, done, err := s.Store.SetStanding(c.Request().Context(), project, player, settings.GetStanding(), in.Numbers)
		if err != nil {
			return err
		}
		if done {
			return c.JSON(http.StatusOK, response.NewStanding(standing))
		}
	}
	return problem.New(problem.Unavailable, "ratings of this player change too fast, try again").After(time.Second)
}

// checkStanding refuses numbers that a project's settings do not name, or that are too large.
func checkStanding(rules *pb.StandingRules, numbers map[string]float64) error {
	if len(numbers) == 0 {
		return invalid("numbers", "required: the numbers to set, by their names")
	}
	var known []string
	for _, n := range rules.GetNumbers() {
		known = append(known, n.GetName())
	}
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if !slices.Contains(known, name) {
			return invalid("numbers", "the project's settings do not name one of them in standing.numbers, which has: %s",
				strings.Join(known, ", "))
		}
		if !within(numbers[name], -definition.MaxStanding, definition.MaxStanding) {
			return invalid("numbers."+name, "-%g to %[1]g are allowed", float64(definition.MaxStanding))
		}
	}
	return nil
}
