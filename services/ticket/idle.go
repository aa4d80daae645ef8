package ticket

import (
	"context"
	"time"
)

// endIdle ends the tickets of a project without a request during silence. It returns for how many others the last
// request is known.
func (s *service) endIdle(ctx context.Context, project string, silence, gap time.Duration) (int64, error) {
	for {
		found, err := s.Store.EndUnheard(ctx, project, silence, gap, s.Readable)
		if err != nil {
			return 0, err
		}
		if found.Ended > 0 {
			s.idle.Add(ctx, int64(found.Ended))
			s.Log.InfoContext(ctx, "idle tickets ended", "project", project, "tickets", found.Ended,
				"silent", silence)
			s.Bus.PokeTickets(ctx, project, found.Position)
			s.Bus.NotifyAssigned(ctx, project, found.Told) // requests that just came read the reason
		}
		if !found.More {
			return found.Known, nil
		}
	}
}
