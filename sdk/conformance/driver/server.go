package main

import (
	"context"
	"errors"
	"time"

	"matchmaker.dev/pkg/client"
)

// fill begins to fill a game, or says how many players it takes now.
func (d *driver) fill(ctx context.Context, c command) {
	d.mu.Lock()
	d.open = c.Open
	d.mu.Unlock()
	if d.filler != nil {
		d.filler.Changed()
		return
	}
	d.filler = d.client.Fill(client.FillOptions{
		Backfill: d.start.Backfill,
		Every:    time.Duration(float64(time.Second) * d.start.Scale),
		Join: func(tickets []client.Ticket) {
			var ids []string
			for _, t := range tickets {
				ids = append(ids, t.ID)
			}
			d.emit(event{"event": "joined", "tickets": ids})
		},
		State: func() client.BackfillRequest {
			d.mu.Lock()
			defer d.mu.Unlock()
			return client.BackfillRequest{Connection: c.Connection, Attributes: map[string]float64{"open": d.open}}
		},
	})
	ctx, d.endFill = context.WithCancel(ctx)
	go func() {
		if err := d.filler.Run(ctx); err != nil {
			d.fail(err)
		}
	}()
}

func (d *driver) checkPass(ctx context.Context, c command) error {
	keys, err := client.SeatKeysAt(d.start.URL+client.SeatKeysPath, nil)
	if err != nil {
		return err
	}
	server, err := client.NewSeats(client.SeatsOptions{Keys: keys, Now: d.now, SeatServer: client.SeatServer{
		Project: d.start.Project, Match: d.start.Match, Backfill: d.start.Backfill, Connection: d.start.Connection}})
	if err != nil {
		return err
	}
	player, ticket, err := server.Check(ctx, c.Pass)
	if err != nil && !errors.Is(err, client.ErrSeat) {
		return err
	}
	d.emit(event{"event": "seat", "ok": err == nil, "player": player, "ticket": ticket})
	return nil
}
