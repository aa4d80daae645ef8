package registry

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// function is the contract's Function.
type function struct {
	Name    string `json:"name"`
	MD5     string `json:"md5Hash"`
	Created string `json:"created"`
	Updated string `json:"updated"`
	Status  status `json:"status"`
}

// functionList is the contract's FunctionList.
type functionList struct {
	Functions []function `json:"functions"`
}

func (r *registry) describe(project string, f *pb.Function) function {
	return function{
		Name:    f.GetName(),
		MD5:     f.GetMd5(),
		Created: iso8601(f.GetCreated()),
		Updated: iso8601(f.GetUpdated()),
		Status:  r.board.status(project, f),
	}
}

func iso8601(millis int64) string {
	return time.UnixMilli(millis).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// list answers GET /functions, by name.
func (r *registry) list(c echo.Context) error {
	project := c.Param("project")
	functions, err := r.Store.Functions(c.Request().Context(), project)
	if err != nil {
		return err
	}
	var answer functionList
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		answer.Functions = append(answer.Functions, r.describe(project, functions[name]))
	}
	return c.JSON(http.StatusOK, answer)
}

// get answers GET /functions/{name}.
func (r *registry) get(c echo.Context) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	project := c.Param("project")
	f, err := r.Store.Function(c.Request().Context(), project, name)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, r.describe(project, f))
}

// remove answers DELETE /functions/{name}; there may be none.
func (r *registry) remove(c echo.Context) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	existed := false
	err = r.Store.ChangeFunction(ctx, project, name, func(current *pb.Function) (*pb.Function, error) {
		existed = current != nil
		return nil, nil //nolint:nilnil // no function: deleted
	})
	if err != nil {
		return err
	}
	if existed {
		r.Log.InfoContext(ctx, "function deleted", "project", project, "function", name)
		r.recount(ctx, project)
		r.Bus.Poke(ctx, project, &pb.Poke{Functions: true})
	}
	return c.NoContent(http.StatusNoContent)
}
