package config

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// changes answers GET /changes.
func (s *service) changes(c echo.Context) error {
	values, err := web.Query(c, "kind", "name", "by", "limit", "after")
	if err != nil {
		return err
	}
	kinds := []string{"config", "settings", "function", "player", "key"}
	if values.Has("kind") && !slices.Contains(kinds, values.Get("kind")) {
		return problem.New(problem.Invalid, "query parameter kind: one of %v is expected", kinds)
	}
	limit, err := web.Limit(values)
	if err != nil {
		return err
	}
	answer := response.ChangePage{Changes: []response.Change{}}
	answer.Next, err = s.Store.Changes(c.Request().Context(), c.Param("project"), values.Get("after"),
		func(one state.AuditEntry) bool {
			for name, value := range map[string]string{"kind": one.GetKind(), "name": one.GetName(), "by": one.GetBy()} {
				if values.Has(name) && values.Get(name) != value {
					return true
				}
			}
			answer.Changes = append(answer.Changes, changeBody(one))
			return len(answer.Changes) < limit
		})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, answer)
}

func changeBody(c state.AuditEntry) response.Change {
	one := response.Change{ID: c.ID, Time: response.Time(c.Time), Kind: c.GetKind(), Name: c.GetName(),
		Action: c.GetAction(), By: c.GetBy(), Upload: c.GetUpload(), Detail: c.GetDetail()}
	if c.Revision > 0 {
		one.ETag = etag(c.Revision)
	}
	return one
}
