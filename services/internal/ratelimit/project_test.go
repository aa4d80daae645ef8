package ratelimit_test

import (
	"errors"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/embedded/embeddedtest"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/ratelimit"
	"matchmaker.dev/services/internal/state"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

func TestProjectThatUsedUpItsBucketIsRefused(t *testing.T) {
	handle := ratelimit.PerProject(embeddedtest.Store(t, state.Options{}), "flood", state.Rate{PerSecond: 0.01, Burst: 5})(
		func(echo.Context) error { return nil })
	ask := func(project string) error {
		c := echo.New().NewContext(httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), httptest.NewRecorder())
		c.SetParamNames("project")
		c.SetParamValues(project)
		return handle(c)
	}
	for range 5 {
		if err := ask("flooded"); err != nil {
			t.Fatal(err)
		}
	}
	err := ask("flooded")
	limited, ok := errors.AsType[*problem.Error](err)
	if !ok || limited.Kind != problem.Limited || limited.RetryAfter <= 0 || limited.Limit.Name != "flood" {
		t.Errorf("refused with %v", err)
	}
	if err := ask("other"); err != nil {
		t.Errorf("another project: %v", err)
	}
}
