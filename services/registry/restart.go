package registry

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/state"
)

// nameList is the contract's FunctionNameList.
type nameList struct {
	Functions []string `json:"functions"`
}

// restartRate is how often the functions of a project are restarted, each counted for itself, by a request to restart,
// an upload or a rollback: every one starts its instances anew on all runners that host the project.
func restartRate() state.Rate { return state.Rate{PerSecond: 0.5, Burst: 60} }

// allowRestarts takes a number of restarts from the project's bucket, or all of them when it never holds so many.
func (r *registry) allowRestarts(ctx context.Context, project string, n int) error {
	return r.Store.AllowN(ctx, project, "restarts", restartRate(), n)
}

// restart answers POST /functions/actions/restart: it gives functions a new generation, which runners replace the
// instances of the old one for. Unknown functions are NotFound, and too many restarts are Limited: nothing is restarted
// then. A function that vanishes meanwhile, or that the store does not take, is Failed.
func (r *registry) restart(c echo.Context) error {
	var request nameList
	if err := web.Decode(c, &request); err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	names, err := r.existingNames(ctx, project, request.Functions)
	if err != nil {
		return err
	}
	if err := r.allowRestarts(ctx, project, len(names)); err != nil {
		return err
	}
	var answer response.RestartResult
	for _, name := range names {
		result := response.FunctionRestart{Name: name, State: statePending}
		err := r.Store.ChangeFunction(ctx, project, name, func(current *pb.Function) (*pb.Function, error) {
			if current == nil {
				return nil, problem.New(problem.FunctionNotFound, "function %q was not found", name)
			}
			current.Generation = nextGeneration(current, r.Store.Now())
			if c := current.GetCanary(); c != nil {
				c.Generation = current.GetGeneration()
			}
			return current, nil
		})
		if err != nil {
			result.State = stateFailed
			r.Log.WarnContext(ctx, "function not restarted", "project", project, "function", name, "error", err)
		}
		answer.Functions = append(answer.Functions, result)
	}
	r.Bus.Poke(ctx, project, &pb.Poke{Functions: true})
	return c.JSON(http.StatusOK, answer)
}

// existingNames is the names in lower case, each once, when there are such functions.
func (r *registry) existingNames(ctx context.Context, project string, given []string) ([]string, error) {
	if len(given) == 0 {
		return nil, problem.New(problem.Invalid, "functions: missing or empty: name the functions to restart")
	}
	functions, err := r.Store.Functions(ctx, project)
	if err != nil {
		return nil, err
	}
	var names, unknown []string
	for _, raw := range given {
		switch name := definition.LowerASCII(raw); {
		case functions[name] == nil:
			unknown = append(unknown, raw)
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	if len(unknown) > 0 {
		return nil, problem.New(problem.FunctionNotFound, "functions: not found: %s; nothing was restarted", list(unknown))
	}
	return names, nil
}
