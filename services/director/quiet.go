package director

import (
	"context"
	"time"

	"matchmaker.dev/services/internal/platform/wait"
)

// quietLook is how often a leader looks at a quiet project by itself: one in which no ticket, match, result or backfill
// ticket is stored, so that time brings nothing. Thousands of them would cost more than the matches of the other
// projects.
const quietLook = 30 * time.Second

// watchQuiet looks at all quiet projects together, once a second, until ctx ends: a poke may be lost.
func (s *service) watchQuiet(ctx context.Context) {
	for range wait.Every(ctx, s.Timing.Look) {
		s.errorLog.Check(ctx, "looking at quiet projects", s.rouse(ctx))
	}
}

// rouse wakes the leaders of quiet projects whose tickets changed.
func (s *service) rouse(ctx context.Context) error {
	var projects []string
	var leaders []*leader
	s.mu.Lock()
	for project, l := range s.leaders {
		if l.maintenance.quiet.Load() > 0 {
			projects, leaders = append(projects, project), append(leaders, l)
		}
	}
	s.mu.Unlock()
	positions, err := s.Store.Positions(ctx, projects)
	for i, position := range positions {
		if at := leaders[i].maintenance.quiet.Load(); at > 0 && position+1 != at {
			leaders[i].inbox.rouse()
		}
	}
	return err
}
