package observe

import (
	"context"
	"errors"
	"log/slog"
	"sync"
)

// ErrorLog logs that something fails once, and once that it works again, however often it is tried in between.
type ErrorLog struct {
	log *slog.Logger

	mu      sync.Mutex
	failing map[string]bool
}

// NewErrorLog returns an ErrorLog that has seen no failure.
func NewErrorLog(log *slog.Logger) *ErrorLog { return &ErrorLog{log: log, failing: map[string]bool{}} }

// Check notes the result of doing something, and reports whether that worked.
func (l *ErrorLog) Check(ctx context.Context, doing string, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil && l.failing[doing]:
		delete(l.failing, doing)
		l.log.InfoContext(ctx, "works again", "what", doing)
	case err != nil && !l.failing[doing] && !errors.Is(ctx.Err(), context.Canceled): // otherwise the director stops
		l.failing[doing] = true
		l.log.WarnContext(ctx, "fails, and is tried again", "what", doing, "error", err)
	}
	return err == nil
}
