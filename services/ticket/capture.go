package ticket

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// capture answers GET /tickets/{id}/explanation/capture: a run of a config's function as a file, with all that the
// function gets of the tickets that wait. So the role Support gets it only where the project says so.
func (s *service) capture(c echo.Context) error {
	ctx, project, id := c.Request().Context(), c.Param("project"), c.Param("ticket")
	values, err := web.Query(c, "config")
	if err != nil {
		return err
	}
	name := values.Get("config")
	if name == "" {
		return problem.New(problem.Invalid, "query parameter config: the identifier of a config is expected")
	}
	if err := auth.MaySeeProperties(c, s.Store); err != nil {
		return err
	}
	t, configs, look, err := s.lookAt(ctx, project, id)
	if err != nil {
		return err
	}
	config := configs[name]
	if config == nil {
		return problem.New(problem.ConfigNotFound, "config %q was not found", name)
	}
	segments := look.segments(look.config(config))
	if len(segments) == 0 || stateOf(t) != stateWaiting {
		return problem.New(problem.Conflict, "the function of config %q does not get the ticket: the explanation of the "+
			"ticket says why", name)
	}
	budget, position, err := s.mayAsk(ctx, project)
	if err != nil {
		return err
	}
	request := s.explainRequest(project, position, id, config, segments[0])
	request.Capture = true
	answer := s.askOnce(ctx, request)
	budget.Charge(ctx, project, answer.Cost)
	switch {
	case len(answer.Capture) > 0:
	case answer.Failure == bus.NoRunner || answer.Failure == "":
		return problem.New(problem.Unavailable,
			"no runner made a capture: the function does not run").After(time.Second)
	default:
		return problem.New(problem.Unavailable, "no runner made a capture: %s", answer.Failure).After(time.Second)
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="run.capture"`)
	return c.Blob(http.StatusOK, echo.MIMEOctetStream, answer.Capture)
}

// mayAsk is Limited when the runs of a project took more than they may. It returns the position for runs, too.
func (s *service) mayAsk(ctx context.Context, project string) (budget adhoc.Budget, position uint64, err error) {
	budget = adhoc.Budget{Name: explainWork, Budget: state.Budget{Amount: 6 * time.Second, Window: time.Minute},
		Most: time.Minute, Store: s.Store, Log: s.Log}
	e := problem.New(problem.ProjectLimited, "the runs for explanations of this project took more processor time than "+
		"they may: try again later").Exceeds(explainWork)
	if err = budget.Allow(ctx, project, e); err == nil {
		position, err = s.Store.Position(ctx, project)
	}
	return budget, position, err
}
