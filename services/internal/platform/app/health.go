package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
)

// readyTimeout bounds how long a part may take to say that it is ready; probes commonly give up after more.
const readyTimeout = 2 * time.Second

// health answers the probes: /healthz while the process lives, /readyz while every part can serve.
type health struct {
	log      *slog.Logger
	parts    []Part
	stopping atomic.Bool
	// lastLogged is what was missing in the last log line.
	lastLogged atomic.Value
}

func (h *health) routes(e *echo.Echo) {
	e.GET("/healthz", func(c echo.Context) error {
		web.LogAtDebug(c)
		return c.JSON(http.StatusOK, map[string]string{"status": "alive"})
	})
	e.GET("/readyz", func(c echo.Context) error {
		web.LogAtDebug(c)
		if h.stopping.Load() {
			return problem.New(problem.Unavailable, "not ready: stopping")
		}
		missing := strings.Join(h.missing(c.Request().Context()), "; ")
		h.logChange(c.Request().Context(), missing)
		if missing != "" {
			return problem.New(problem.Unavailable, "not ready: %s", missing)
		}
		answer := map[string]string{"status": "ready"}
		if warnings := h.warnings(); warnings != "" {
			answer["warning"] = warnings
		}
		return c.JSON(http.StatusOK, answer)
	})
}

// closeConnections closes each connection with its next answer once the process stops. If it were closed while idle, a
// request could be on its way, and its sender could not know whether it was handled.
func (h *health) closeConnections(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// logChange logs what is missing when it changes: probes come every second.
func (h *health) logChange(ctx context.Context, missing string) {
	before, _ := h.lastLogged.Swap(missing).(string)
	switch missing {
	case before:
	case "":
		h.log.InfoContext(ctx, "ready")
	default:
		h.log.WarnContext(ctx, "not ready", "missing", missing)
	}
}

// warnings are the warnings of all parts.
func (h *health) warnings() string {
	var all []string
	for _, p := range h.parts {
		if p.Warns != nil && p.Warns() != "" {
			all = append(all, p.Warns())
		}
	}
	return strings.Join(all, "; ")
}

// missing asks all parts at once, and names those that are not ready.
func (h *health) missing(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	var (
		mu      sync.Mutex
		missing []string
		asked   sync.WaitGroup
	)
	for _, p := range h.parts {
		if p.Ready == nil {
			continue
		}
		asked.Go(func() {
			err := p.Ready(ctx)
			if err == nil {
				return
			}
			h.log.DebugContext(ctx, "not ready", "part", p.Name, "error", err)
			reason := p.Name
			if f, ok := errors.AsType[*problem.Error](err); ok {
				reason += ": " + f.Detail
			}
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, reason)
		})
	}
	asked.Wait()
	slices.Sort(missing)
	return missing
}
