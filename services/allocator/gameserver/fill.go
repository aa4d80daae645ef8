package gameserver

import (
	"context"
	"time"

	"matchmaker.dev/pkg/client"
)

// farewell is how long a process that ends waits until its games have deleted their backfill tickets.
const farewell = 2 * time.Second

// fill keeps the server's game filled until ctx ends or all players have left. over is true when they have.
func (s *server) fill(ctx context.Context, api *client.Client, backfill string, o Options) (over bool) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	filler := api.Fill(client.FillOptions{
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
				over = true
				end()
			}
			// The service knows the connection from the allocation.
			return client.BackfillRequest{Attributes: map[string]float64{"open": float64(s.game.open())}}
		},
		Failed: func(err error) { o.Log.Warn("filling a game", "match", s.match, "error", err) },
	})
	s.filler.Store(filler)
	if err := filler.Run(ctx); err != nil {
		o.Log.Warn("deleting a backfill ticket", "match", s.match, "error", err)
	}
	return over
}
