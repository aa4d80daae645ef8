package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry/telemetrytest"
)

// TestRefusalsAreCountedByLimit: also those that have no rate, and those whose answer is written already. Other errors
// count nothing.
func TestRefusalsAreCountedByLimit(t *testing.T) {
	meter, measured := telemetrytest.New()
	e := web.New(slog.New(slog.DiscardHandler), web.Options{Meter: meter})
	tooMany := problem.New(problem.Invalid, "65 pools, at most 64 are allowed").Exceeds("max-pools")
	e.POST("/many", func(echo.Context) error { return tooMany })
	e.POST("/written", func(c echo.Context) error {
		if err := c.JSON(http.StatusBadRequest, []string{"65 pools"}); err != nil {
			return err
		}
		return tooMany
	})
	e.POST("/wrong", func(echo.Context) error { return problem.New(problem.Invalid, "no number") })
	e.POST("/busy", func(echo.Context) error { return problem.New(problem.Limited, "too many uploads") })
	e.POST("/body", func(c echo.Context) error { return web.Decode(c, new(struct{})) })
	ask := func(path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, r)
		return answer
	}
	for _, path := range []string{"/many", "/written", "/wrong"} {
		if a := ask(path, ""); a.Code != http.StatusBadRequest || a.Header().Get("RateLimit-Policy") != "" {
			t.Errorf("%s: %d %v", path, a.Code, a.Header())
		}
	}
	if a := ask("/busy", ""); a.Code != http.StatusTooManyRequests {
		t.Errorf("busy: %d", a.Code)
	}
	if a := ask("/body", strings.Repeat(" ", 64<<10)); a.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("body: %d", a.Code)
	}
	for rule, want := range map[string]float64{"max-pools": 2, "uploads": 1, "body": 1, "max-filters": 0} {
		if got := measured.Value(t, "matchmaker.limited", "rule", rule); got != want {
			t.Errorf("%v were counted of %s, want %v", got, rule, want)
		}
	}
	if all := measured.Value(t, "matchmaker.limited"); all != 4 {
		t.Errorf("%v were counted in all", all)
	}
}
