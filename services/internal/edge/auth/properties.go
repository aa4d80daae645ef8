package auth

import (
	"context"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// SettingsReader reads the settings of projects: a *state.Store.
type SettingsReader interface {
	Settings(ctx context.Context, project string) (*pb.ProjectSettings, error)
}

// MaySeeProperties is Forbidden for the role Support, unless the settings of the project let it see properties.
func MaySeeProperties(c echo.Context, store SettingsReader) error {
	if From(c).SeesProperties() {
		return nil
	}
	settings, err := store.Settings(c.Request().Context(), c.Param("project"))
	if err == nil && !settings.GetSupportProperties() {
		err = problem.New(problem.Forbidden, "the role Support sees no properties of tickets, unless support.properties is "+
			"set in the settings of the project: the role Manager or Owner is needed")
	}
	return err
}
