package registry

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/response"
	uploads "matchmaker.dev/services/internal/edge/upload"
)

func (r *registry) describe(project string, f *pb.Function) response.Function {
	answer := response.Function{
		Name:           f.GetName(),
		MD5:            f.GetMd5(),
		Created:        iso8601(f.GetCreated()),
		Updated:        iso8601(f.GetUpdated()),
		Status:         r.runners.status(project, f),
		Upload:         f.GetVersion(),
		LastGoodUpload: uploads.LastGood(f).GetVersion(),
		Health:         healthOf(r.runners.uploadOf(project, f.GetName(), f.GetVersion())),
		NoReturn:       f.GetNoReturn(),
		Shadow:         r.shadowOf(project, f),
		Canary:         r.canaryOf(project, f),
	}
	if uploads.TrialTarget(f, r.Store.Now()) != nil {
		answer.ReturnsUntil = iso8601(f.GetTrialUntil())
	}
	if b := f.GetReturned(); b != nil {
		answer.Returned = &response.FunctionReturn{
			Time: iso8601(b.GetTime()), From: b.GetFrom(), To: b.GetTo(), Failed: b.GetFailed(), Runs: b.GetRuns(),
			Repeated: b.GetRepeated(), Passed: b.GetPassed(), Error: b.GetError(),
		}
	}
	if e := f.GetCanaryEnded(); e != nil {
		answer.CanaryEnded = &response.FunctionCanaryEnd{Version: e.GetUpload(), Time: iso8601(e.GetTime()),
			Promoted: e.GetPromoted(), Reason: e.GetReason()}
	}
	return answer
}

func iso8601(millis int64) string {
	return response.Time(time.UnixMilli(millis))
}

// list answers GET /functions, by name.
func (r *registry) list(c echo.Context) error {
	project := c.Param("project")
	functions, err := r.Store.Functions(c.Request().Context(), project)
	if err != nil {
		return err
	}
	var answer response.FunctionList
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		answer.Functions = append(answer.Functions, r.describe(project, functions[name]))
	}
	return c.JSON(http.StatusOK, answer)
}

// get answers GET /functions/{name}.
func (r *registry) get(c echo.Context, name string) error {
	project := c.Param("project")
	f, err := r.Store.Function(c.Request().Context(), project, name)
	if err != nil {
		return err
	}
	answer := r.describe(project, f)
	if answer.Canary != nil {
		if answer.Canary.Report, err = r.compare(c.Request().Context(), project, f); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, answer)
}

// remove answers DELETE /functions/{name}; there may be none.
func (r *registry) remove(c echo.Context, name string) error {
	ctx, project := c.Request().Context(), c.Param("project")
	existed := false
	err := r.Store.ChangeFunctionWith(ctx, project, name,
		func(current *pb.Function) (*pb.Function, *pb.Event, error) {
			if existed = current != nil; !existed {
				return nil, nil, nil
			}
			return nil, functionEvent(current, deletedReason, "", auth.From(c).Subject), nil
		})
	if err != nil {
		return err
	}
	if existed {
		r.Log.InfoContext(ctx, "function deleted", "project", project, "function", name)
		r.tellChange(ctx, project)
	}
	return c.NoContent(http.StatusNoContent)
}
