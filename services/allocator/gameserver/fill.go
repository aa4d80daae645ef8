package gameserver

import (
	"context"
	"log/slog"

	"matchmaker.dev/pkg/client"
)

// fill keeps the server's game filled until ctx ends. When all players have left, the server is over.
func (s *server) fill(ctx context.Context, backfill string, log *slog.Logger) {
	filler := s.api.Fill(client.FillOptions{
		Backfill: backfill,
		Join: func(tickets []client.Ticket) {
			ids := make([]string, len(tickets))
			for i, t := range tickets {
				ids[i] = t.ID
			}
			s.game.expect(ids)
		},
		State: func() client.BackfillRequest {
			if s.game.empty() {
				s.over()
			}
			// The service knows the connection from the allocation.
			return client.BackfillRequest{Attributes: map[string]float64{"open": float64(s.game.open())}}
		},
		Failed: func(err error) { log.Warn("filling a game", "match", s.match, "error", err) },
	})
	s.filler.Store(filler)
	if err := filler.Run(ctx); err != nil {
		log.Warn("deleting a backfill ticket", "match", s.match, "error", err)
	}
}
