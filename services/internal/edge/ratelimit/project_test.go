package ratelimit_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
)

// counted counts how often the state is asked.
type counted struct {
	*state.Store
	asked, allowed atomic.Int64
}

func (c *counted) Allow(ctx context.Context, project, name string, rate state.Rate) error {
	c.asked.Add(1)
	err := c.Store.Allow(ctx, project, name, rate)
	if err == nil {
		c.allowed.Add(1)
	}
	return err
}

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// A flood asks the state about as often as it is allowed something, and is allowed no less for that.
func TestFloodAsksTheStateSeldom(t *testing.T) {
	buckets := &counted{Store: embeddedtest.Store(t, state.Options{})}
	served := 0
	handle := ratelimit.PerProject(buckets, "flood", state.Rate{PerSecond: 20, Burst: 5})(func(echo.Context) error {
		served++
		return nil
	})
	ask := func(project string) error {
		c := echo.New().NewContext(httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), httptest.NewRecorder())
		c.SetParamNames("project")
		c.SetParamValues(project)
		return handle(c)
	}
	const most = 25
	refused := 0
	for began := time.Now(); served < most; {
		err := ask("flooded")
		if err == nil {
			continue
		}
		refused++
		limited, ok := errors.AsType[*problem.Error](err)
		if !ok || limited.Kind != problem.Limited || limited.RetryAfter <= 0 || limited.Limit.Name != "flood" {
			t.Fatalf("refused with %v", err)
		}
		if limited.RetryAfter > 50*time.Millisecond {
			t.Fatalf("come again in %v, though 20 a second are allowed", limited.RetryAfter)
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("only %d of %d were served", served, most)
		}
	}
	if refused < 10*most {
		t.Fatalf("%d requests were refused: too few show nothing", refused)
	}
	if asked := buckets.asked.Load(); asked > 5*most {
		t.Errorf("%d requests asked the state %d times, for %d that were allowed", refused+served, asked, served)
	}
	if err := ask("other"); err != nil {
		t.Errorf("another project: %v", err)
	}
}
