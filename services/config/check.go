package config

import (
	"net/http"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
)

// checked is the answer to a check of a config that would be stored.
type checked struct {
	// Creates: there is no such config yet.
	Creates  bool                    `json:"creates"`
	Warnings []definition.FieldError `json:"warnings"`
}

// check answers POST /configs/actions/check: what a PUT of the config would be answered, or a POST if no id is given.
// Nothing is stored. Services without it have no such path, so none of them takes it for a change.
func (s *service) check(c echo.Context) error {
	query, err := web.Query(c, "id")
	if err != nil {
		return err
	}
	id := query.Get("id")
	if !query.Has("id") {
		made, err := uuid.NewRandom()
		if err != nil {
			return err
		}
		id = made.String()
	}
	config, keys, err := s.read(c, id)
	if err != nil {
		return respondRefused(c, err)
	}
	asked, err := conditionOf(c.Request().Header)
	if err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	found, err := s.judge(ctx, project, config)
	if err != nil {
		return respondRefused(c, err)
	}
	answer := checked{Warnings: found.List()}
	err = s.change(ctx, project, id, asked, needsStored(keys), func(expected int64, there *pb.Config) (err error) {
		if err := s.seal(project, config, keys, there); err != nil {
			return err
		}
		answer.Creates, err = s.Store.CheckConfig(ctx, project, config, expected)
		return err
	})
	if err != nil {
		return respondRefused(c, err)
	}
	return c.JSON(http.StatusOK, answer)
}
