package registry

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
)

// shadow answers POST /functions/{name}/actions/shadow: it lets a version that is kept run in the shadow of the one
// that runs, or none for the version 0. It gets the same runs, and its proposals are compared and not claimed.
func (r *registry) shadow(c echo.Context, name string) error {
	var of struct {
		Version *int64 `json:"version"`
	}
	if err := web.Decode(c, &of); err != nil {
		return err
	}
	if of.Version == nil || *of.Version < 0 {
		return problem.New(problem.Invalid, "version: missing or negative: name the version to run in the shadow, or 0 for "+
			"none")
	}
	ctx, project := c.Request().Context(), c.Param("project")
	if err := r.allowRestarts(ctx, project, 1); err != nil { // it starts an instance
		return err
	}
	return r.changeFunction(c, name, func(f *pb.Function) (string, error) {
		switch {
		case *of.Version == f.GetShadow():
			return "", errUnchanged
		case *of.Version == 0:
			f.Shadow = 0
			return unshadowedReason, nil
		case *of.Version == f.GetVersion():
			return "", problem.New(problem.Invalid, "version: %d runs: another one can be in its shadow", f.GetVersion())
		case *of.Version == f.GetCanary().GetUpload():
			return "", problem.New(problem.Invalid, "version: %d is a canary, which players are matched by: end that first",
				*of.Version)
		}
		if _, err := versionOf(f, *of.Version); err != nil {
			return "", err
		}
		f.Shadow = *of.Version
		return shadowReason, nil
	})
}

// promote answers POST /functions/{name}/actions/promote: the version in the shadow, or the canary, is the one that
// runs from now on. The request names it, so that no other one is promoted. As after an upload,
// the function goes back by itself if its runs fail.
func (r *registry) promote(c echo.Context, name string) error {
	return r.switchAsAsked(c, name, promotedReason, "that runs in the shadow or as a canary")
}

// isPromoted returns an error if a version is to be promoted that runs neither in the shadow nor as a canary.
func isPromoted(f *pb.Function, number int64, reason string) error {
	switch {
	case reason != promotedReason || f.GetShadow() == number || f.GetCanary().GetUpload() == number:
		return nil
	case f.GetShadow() == 0 && f.GetCanary() == nil:
		return problem.New(problem.Conflict, "version: no upload of function %q runs in the shadow, or as a canary",
			f.GetName())
	case f.GetShadow() == 0:
		return problem.New(problem.Conflict, "version: %d of function %q is no canary, but %d is", number, f.GetName(),
			f.GetCanary().GetUpload())
	}
	return problem.New(problem.Conflict, "version: %d of function %q does not run in the shadow, but %d does", number,
		f.GetName(), f.GetShadow())
}

// automaticReturn answers POST /functions/{name}/actions/return: whether the function goes back by itself to the last
// upload that worked, when a new one fails runs that the other one passes. It holds from the next upload on,
// and ends for the one that runs.
func (r *registry) automaticReturn(c echo.Context, name string) error {
	var wish struct {
		Automatic *bool `json:"automatic"`
	}
	if err := web.Decode(c, &wish); err != nil {
		return err
	}
	if wish.Automatic == nil {
		return problem.New(problem.Invalid, "automatic: required, true or false")
	}
	return r.changeFunction(c, name, func(f *pb.Function) (string, error) {
		if f.GetNoReturn() == !*wish.Automatic {
			return "", errUnchanged
		}
		if f.NoReturn = !*wish.Automatic; f.GetNoReturn() {
			f.TrialUntil = 0
		}
		return "", nil
	})
}

// changeFunction changes a stored function, adds an event if there is a reason, and answers with the changed function.
func (r *registry) changeFunction(
	c echo.Context, name string, change func(*pb.Function) (reason string, err error),
) error {
	ctx, project := c.Request().Context(), c.Param("project")
	var next *pb.Function
	err := r.Store.ChangeFunctionWith(ctx, project, name,
		func(current *pb.Function) (*pb.Function, *pb.Event, error) {
			if current == nil {
				return nil, nil, problem.New(problem.FunctionNotFound, "function %q was not found", name)
			}
			next = proto.CloneOf(current)
			reason, err := change(next)
			if err != nil || reason == "" {
				return next, nil, err
			}
			detail := ""
			switch reason {
			case canaryReason:
				detail = "for " + canaryText(next.GetCanary())
			case withdrawnReason:
				detail = next.GetCanaryEnded().GetReason()
			}
			return next, functionEvent(next, reason, detail, auth.From(c).Subject), nil
		})
	if err != nil && !errors.Is(err, errUnchanged) {
		return err
	}
	r.Log.InfoContext(ctx, "function changed", "project", project, "function", name, "shadow", next.GetShadow(),
		"canary", next.GetCanary().GetUpload(), "noReturn", next.GetNoReturn())
	r.tellChange(ctx, project)
	return c.JSON(http.StatusOK, r.describe(project, next))
}
