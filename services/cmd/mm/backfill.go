package main

import (
	"context"
	"fmt"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/textfile"
)

type backfillCommands struct {
	List    backfillList    `cmd:"" help:"List the games that fill up, as the studio sees them: the latest call of a server first."`
	Create  backfillCreate  `cmd:"" help:"Create a backfill ticket for a running game."`
	Approve backfillApprove `cmd:"" help:"Let the proposed players join the game."`
	Update  backfillUpdate  `cmd:"" help:"Replace the contents of a backfill ticket."`
	Delete  backfillDelete  `cmd:"" help:"Delete a backfill ticket."`
}

// game are the contents of a backfill ticket.
type game struct {
	Connection string `placeholder:"IP:PORT" help:"The game server's address."`
	fieldFlags
	Queue string `placeholder:"NAME" completion-predictor:"queue" help:"Queue whose tickets may join; default: tickets without queues, and for an update the queue as it is."`
	// Players replace the game's players in an update, too: without them they stay.
	Players string `placeholder:"FILE" type:"existingfile" completion-predictor:"file" help:"JSON file with the players in the game: a list of objects with id, team, role and attributes. Default for an update: as they are."`
}

// ProvideContents is called by the parser.
func (g *game) ProvideContents() (r client.BackfillRequest, err error) {
	r.Connection, r.Queue = g.Connection, g.Queue
	if r.Attributes, r.Properties, err = g.read(); err != nil || g.Players == "" {
		return r, err
	}
	text, err := textfile.Read(g.Players)
	if err == nil {
		r.Players, err = readList[client.GamePlayer](text)
	}
	if err != nil {
		return r, fmt.Errorf("--players: %w", err)
	}
	return r, nil
}

type backfillCreate struct{ game }

// Run creates the backfill ticket.
func (backfillCreate) Run(ctx context.Context, s *session, r client.BackfillRequest, api serverAPI) error {
	id, err := api.CreateBackfill(ctx, r)
	if err != nil {
		return err
	}
	return s.showID("backfill", "id", id)
}

type backfillApprove struct {
	ID string `arg:"" name:"id" completion-predictor:"backfill" help:"The backfill ticket."`
}

// Run approves, and prints the backfill ticket.
func (c backfillApprove) Run(ctx context.Context, s *session, api serverAPI) error {
	b, err := api.ApproveBackfill(ctx, c.ID)
	if err != nil {
		return err
	}
	var g grid
	g.addMembers(b, "backfill=Id, created=Created:ms, version=RecordVersion, connection=Connection")
	g.addFields(b.Attributes, b.Properties)
	g.add("queue", b.Queue)
	for _, p := range b.Players {
		line := p.ID
		for _, of := range []struct{ name, value string }{{"team", p.Team}, {"role", p.Role}} {
			if of.value != "" {
				line += " " + of.name + "=" + of.value
			}
		}
		g.add("player", playerLine(client.Player{ID: line, Attributes: p.Attributes}))
	}
	for _, t := range b.AssignedTickets {
		line := t.ID
		for _, p := range t.Players {
			line += " " + p.ID
		}
		g.add("joined", line)
	}
	return s.show(b, g)
}

type backfillUpdate struct {
	ID string `arg:"" name:"id" completion-predictor:"backfill" help:"The backfill ticket."`
	game
}

// Run replaces the backfill ticket's contents.
func (c backfillUpdate) Run(ctx context.Context, s *session, r client.BackfillRequest, api serverAPI) error {
	if err := api.UpdateBackfill(ctx, client.BackfillTicket{ID: c.ID, Connection: r.Connection, Attributes: r.Attributes,
		Properties: r.Properties, Queue: r.Queue, Players: r.Players}); err != nil {
		return err
	}
	return s.showID("backfill", "id", c.ID)
}

type backfillDelete struct {
	ID string `arg:"" name:"id" completion-predictor:"backfill" help:"The backfill ticket."`
}

// Run deletes the backfill ticket. It succeeds when there is none.
func (c backfillDelete) Run(ctx context.Context, s *session, api serverAPI) error {
	switch was, err := api.RemoveBackfill(ctx, c.ID); {
	case err != nil:
		return err
	case !was:
		return s.showNothingDeleted("backfill ticket", c.ID)
	}
	return s.showDeleted(c.ID)
}
