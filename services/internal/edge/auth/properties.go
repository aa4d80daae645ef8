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

// SeesProperties reports whether a developer may see properties of tickets of a project with these settings: the role
// Support only if they let it.
func (p *Principal) SeesProperties(settings *pb.ProjectSettings) bool {
	return p.hasRole("manager", "owner") || settings.GetSupportProperties()
}

// MaySeeProperties is Forbidden for a developer who sees no properties.
func MaySeeProperties(c echo.Context, store SettingsReader) error {
	if From(c).SeesProperties(nil) { // whatever the settings are
		return nil
	}
	settings, err := store.Settings(c.Request().Context(), c.Param("project"))
	if err == nil && !From(c).SeesProperties(settings) {
		err = problem.New(problem.Forbidden, "the role Support sees no properties of tickets, unless support.properties is "+
			"set in the settings of the project: the role Manager or Owner is needed")
	}
	return err
}
