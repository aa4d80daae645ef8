package insight

import (
	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// MaySeeProperties is Forbidden for the role Support, unless the settings of the project let it see properties.
func MaySeeProperties(c echo.Context, store *state.Store) error {
	if auth.From(c).SeesProperties() {
		return nil
	}
	settings, err := store.Settings(c.Request().Context(), c.Param("project"))
	if err == nil && !settings.GetSupportProperties() {
		err = problem.New(problem.Forbidden, "the role Support sees no properties of tickets, unless support.properties is "+
			"set in the settings of the project: the role Manager or Owner is needed")
	}
	return err
}
