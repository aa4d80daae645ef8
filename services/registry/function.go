package registry

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/auth"
	uploads "matchmaker.dev/services/internal/upload"
)

// function is the contract's Function.
type function struct {
	Name    string `json:"name"`
	MD5     string `json:"md5Hash"`
	Created string `json:"created"`
	Updated string `json:"updated"`
	Status  status `json:"status"`

	// The contract does not have the rest. Upload is the one that is to run.
	Upload   int64   `json:"upload,omitzero"`
	LastGood int64   `json:"lastGoodUpload,omitzero"` // of the others, the one that worked last
	Health   *health `json:"health,omitzero"`
	// ReturnsUntil is until when the function goes back to LastGood by itself. NoReturn is set if the studio does not
	// want that, and Returned is the last time that it did.
	ReturnsUntil string    `json:"returnsUntil,omitzero"`
	NoReturn     bool      `json:"noReturn,omitzero"`
	Returned     *returned `json:"returned,omitzero"`
	Shadow       *shadow   `json:"shadow,omitzero"`
	// Canary is the upload that a part of the runs get, and CanaryEnded how the last one ended.
	Canary      *canary      `json:"canary,omitzero"`
	CanaryEnded *canaryEnded `json:"canaryEnded,omitzero"`
}

// returned is a return of a function to an earlier upload.
type returned struct {
	Time string `json:"time"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
	// Failed is how many runs of From failed, of Runs.
	Failed int64 `json:"failed"`
	Runs   int64 `json:"runs"`
	// Repeated is how many of these were repeated on To, and Passed how many of those succeeded.
	Repeated int64  `json:"repeated"`
	Passed   int64  `json:"passed"`
	Error    string `json:"error,omitzero"`
}

// functionList is the contract's FunctionList.
type functionList struct {
	Functions []function `json:"functions"`
}

func (r *registry) describe(project string, f *pb.Function) function {
	answer := function{
		Name:     f.GetName(),
		MD5:      f.GetMd5(),
		Created:  iso8601(f.GetCreated()),
		Updated:  iso8601(f.GetUpdated()),
		Status:   r.runners.status(project, f),
		Upload:   f.GetVersion(),
		LastGood: uploads.LastGood(f).GetVersion(),
		Health:   healthOf(r.runners.uploadOf(project, f.GetName(), f.GetVersion())),
		NoReturn: f.GetNoReturn(),
		Shadow:   r.shadowOf(project, f),
		Canary:   r.canaryOf(project, f),
	}
	if uploads.TrialTarget(f, r.Store.Now()) != nil {
		answer.ReturnsUntil = iso8601(f.GetTrialUntil())
	}
	if b := f.GetReturned(); b != nil {
		answer.Returned = &returned{
			Time: iso8601(b.GetTime()), From: b.GetFrom(), To: b.GetTo(), Failed: b.GetFailed(), Runs: b.GetRuns(),
			Repeated: b.GetRepeated(), Passed: b.GetPassed(), Error: b.GetError(),
		}
	}
	if e := f.GetCanaryEnded(); e != nil {
		answer.CanaryEnded = &canaryEnded{e.GetUpload(), iso8601(e.GetTime()), e.GetPromoted(), e.GetReason()}
	}
	return answer
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
	answer := r.describe(project, f)
	if answer.Canary != nil {
		if answer.Canary.Report, err = r.compare(c.Request().Context(), project, f); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, answer)
}

// remove answers DELETE /functions/{name}; there may be none.
func (r *registry) remove(c echo.Context) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	existed := false
	err = r.Store.ChangeFunctionWith(ctx, project, name,
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
