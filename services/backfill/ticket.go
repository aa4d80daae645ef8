package backfill

import (
	"net/http"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/fault"
	"matchmaker.dev/services/internal/web"
)

func (s *service) create(c echo.Context) error {
	project, err := projectOf(c)
	if err != nil {
		return err
	}
	var in struct{ contents }
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	b, err := in.record(s.Limits)
	if err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	now := s.Now()
	b.Id, b.Created = id.String(), now.UnixMilli()
	if err := s.Store.CreateBackfill(c.Request().Context(), project, b, now); err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, map[string]string{"Id": b.GetId()})
}

func (s *service) replace(c echo.Context) error {
	project, err := projectOf(c)
	if err != nil {
		return err
	}
	var in replacement
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	id := web.Param(c, "backfill")
	if in.ID != nil && *in.ID != "" && *in.ID != id {
		return fault.New(fault.Invalid, "Id: %.80q is not the backfill ticket in the path", *in.ID)
	}
	b, err := in.record(s.Limits)
	if err != nil {
		return err
	}
	b.Id = id
	if err := s.Store.ReplaceBackfill(c.Request().Context(), project, b, s.Now()); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, bodyOf(b))
}

func (s *service) approve(c echo.Context) error {
	project, err := projectOf(c)
	if err != nil {
		return err
	}
	b, err := s.Store.TouchBackfill(c.Request().Context(), project, web.Param(c, "backfill"), s.Now())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, bodyOf(b))
}

func (s *service) delete(c echo.Context) error {
	project, err := projectOf(c)
	if err != nil {
		return err
	}
	if _, err := s.Store.DeleteBackfill(c.Request().Context(), project, web.Param(c, "backfill")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// projectOf is the project in the path, or the one that the token names where the path has none.
func projectOf(c echo.Context) (string, error) {
	if project := c.Param("project"); project != "" {
		return project, nil
	}
	project, ok := auth.From(c).Project()
	if !ok {
		return "", fault.New(fault.Invalid, "the token names no single project: use /<project>/matchmaking/api/v2/backfill")
	}
	return project, nil
}
