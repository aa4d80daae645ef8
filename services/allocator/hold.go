package allocator

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// errLost means that the match is in another one's hands, or over.
var errLost = errors.New("the match is not in these hands any more")

// grip is an attempt at a match: while it holds, nobody else asks for the match's server.
type grip struct {
	holder string
	until  time.Time
}

func (s *service) newGrip(now time.Time) *grip {
	return &grip{holder: uuid.NewString(), until: now.Add(s.Settings.Hold)}
}

// keep holds a match for as long as ctx lives. The context that it returns ends, with the cause errLost, when the match is lost: when it ended,
// or was taken over, or the state did not answer in time. Release returns when nothing of it is left.
func (s *service) keep(ctx context.Context, project, match string, g *grip) (held context.Context, release func()) {
	held, lose := context.WithCancelCause(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if sleep(held, s.Settings.Hold/3) != nil {
				return
			}
			until := s.Now().Add(s.Settings.Hold)
			mine, err := s.Store.RenewMatchLease(held, project, match, g.holder, until)
			switch {
			case err == nil && mine:
				g.until = until
			case err == nil, s.Now().After(g.until):
				lose(errLost)
				return
			}
		}
	}()
	return held, func() {
		lose(context.Canceled)
		<-gone
	}
}

// yield lets another allocator go on at once.
func (s *service) yield(ctx context.Context, project, match string, g *grip) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := s.Store.ReleaseMatchLease(ctx, project, match, g.holder); err != nil {
		s.Log.WarnContext(ctx, "another allocator has to wait for a match", "project", project, "match", match, "error", err)
	}
}
