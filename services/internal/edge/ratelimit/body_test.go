package ratelimit_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("a body was read that was refused")
	return 0, io.EOF
}

// during is an empty reader that does something when it is read.
type during func()

func (d during) Read([]byte) (int, error) {
	d()
	return 0, io.EOF
}

func TestBodiesAreLimitedByProjectBeforeTheyAreRead(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	limited := ratelimit.Bodies(state.Rate{PerSecond: 1 << 10, Burst: 2 << 16}, func() time.Time { return now })
	read := limited(func(c echo.Context) error {
		_, err := io.Copy(io.Discard, c.Request().Body)
		return err
	})
	send := func(project string, body io.Reader, declared int64) error {
		req := httptest.NewRequest(http.MethodPost, "/", body)
		req.ContentLength = declared
		c := echo.New().NewContext(req, httptest.NewRecorder())
		c.SetParamNames("project")
		c.SetParamValues(project)
		return read(c)
	}
	taken := func(project string, size int) {
		t.Helper()
		if err := send(project, strings.NewReader(strings.Repeat("x", size)), int64(size)); err != nil {
			t.Fatalf("%d bytes of %s: %v", size, project, err)
		}
	}
	refused := func(declared int64, again time.Duration) {
		t.Helper()
		err := send("demo", unread{t}, declared)
		f, ok := errors.AsType[*problem.Error](err)
		if !ok || f.Kind != problem.Limited || f.Limit == nil || f.Limit.Name != "bodies" || f.RetryAfter != again {
			t.Fatalf("%d bytes: %v, want to come again after %v", declared, err, again)
		}
	}
	taken("demo", 1<<16)
	taken("demo", 60<<10)
	refused(5<<10, time.Second)
	taken("demo", 4<<10) // a refused one costs nothing
	refused(1, 977*time.Microsecond)
	refused(-1, web.BodyLimit/(1<<10)*time.Second) // no length is declared
	taken("other", 1<<16)
	now = now.Add(web.BodyLimit / (1 << 10) * time.Second)
	if err := send("demo", strings.NewReader("x"), -1); err != nil {
		t.Errorf("without a declared length: %v", err)
	}
	refused(-1, 977*time.Microsecond) // what came has been taken
	// What is declared and does not come takes nothing.
	now = now.Add(time.Second)
	for range 10 {
		if err := send("demo", iotest.ErrReader(io.ErrUnexpectedEOF), 1<<16-1); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("a body that does not come: %v", err)
		}
	}
	taken("demo", 1<<16-1)
	// Bodies that are on their way together are bounded by what the bucket has when they come.
	now = now.Add(2 * web.BodyLimit / (1 << 10) * time.Second)
	others := func() {
		taken("demo", 1<<16)
		taken("demo", 1<<16)
	}
	err := send("demo", io.MultiReader(during(others), strings.NewReader("x")), 2)
	if f, ok := errors.AsType[*problem.Error](err); !ok || f.Kind != problem.Limited {
		t.Errorf("a body that came when the bucket was empty: %v", err)
	}
}

func TestSettingsOfBodies(t *testing.T) {
	for _, tt := range []struct {
		flag        string
		rate, burst float64
	}{
		{"--body-rate", -1, 32}, {"--body-rate", 1e9, 32}, {"--body-burst", 8, 0},
		{"--body-burst", 8, 0.01}, // no largest body fits into it
		{"", 0, 32}, {"", 0, 0}, {"", 0, 0.01}, {"--body-burst", 0, -1}, {"", 0.5, 0.0625}, {"", 8, 32},
	} {
		s := settings.Default[ratelimit.Settings]()
		s.BodyRate, s.BodyBurst = tt.rate, tt.burst
		err := settings.Check(&s)
		if (err == nil) != (tt.flag == "") || err != nil && !strings.Contains(err.Error(), tt.flag) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
