package director

import (
	"context"
	"errors"
	"log/slog"
	"sync"
)

// trouble says once that something fails, and once that it works again, however often it is tried in between.
type trouble struct {
	log *slog.Logger

	mu      sync.Mutex
	failing map[string]bool
}

func newTrouble(log *slog.Logger) *trouble { return &trouble{log: log, failing: map[string]bool{}} }

// note takes in how something went, and tells whether it went well.
func (t *trouble) note(ctx context.Context, what string, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && t.failing[what]:
		delete(t.failing, what)
		t.log.InfoContext(ctx, "works again", "what", what)
	case err != nil && !t.failing[what] && !errors.Is(ctx.Err(), context.Canceled): // else it is being stopped
		t.failing[what] = true
		t.log.WarnContext(ctx, "fails, and is tried again", "what", what, "error", err)
	}
	return err == nil
}
