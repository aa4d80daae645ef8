package registry

import (
	"context"
	"time"

	"matchmaker.dev/services/internal/platform/wait"
)

// shareEvery is how often the room for logs is shared. A project adds about 5 MiB in this time, on each
// runner that hosts it.
const shareEvery = 5 * time.Second

// shareLogs makes the projects with the most lines give way when the room for logs is short, until ctx ends. Every
// replica does it.
func (r *registry) shareLogs(ctx context.Context) {
	for range wait.Every(ctx, shareEvery) {
		look, cancel := context.WithTimeout(ctx, shareEvery)
		removed, err := r.Bus.ShareLogs(look)
		cancel()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			r.Log.DebugContext(ctx, "the room for logs was not shared", "error", err)
		case removed > 0:
			r.Log.InfoContext(ctx, "the room for logs is short: the projects with the most lines lost their oldest ones",
				"messages", removed)
		}
	}
}
