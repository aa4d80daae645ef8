package main

import (
	"context"
	"time"

	"matchmaker.dev/pkg/client"
)

type backfillCommands struct {
	Create  backfillCreate  `cmd:"" help:"Begin backfill for a running game."`
	Approve backfillApprove `cmd:"" help:"Let the players that were proposed for the game join it."`
	Update  backfillUpdate  `cmd:"" help:"Replace what a backfill ticket says of its game."`
	Delete  backfillDelete  `cmd:"" help:"End backfill for a game."`
}

// game is what a server says of its game.
type game struct {
	Connection string `placeholder:"IP:PORT" help:"Where the game is played."`
	payload
}

type backfillCreate struct{ game }

func (backfillCreate) Help() string {
	return `The backfill ticket's id is printed.

Example: mm backfill create --connection 127.0.0.1:7777 --attribute open=2 --property roster=@roster.bin`
}

// Run creates the backfill ticket.
func (c backfillCreate) Run(ctx context.Context, s *session) error {
	attributes, properties, err := c.read()
	if err != nil {
		return err
	}
	api, err := s.connect(asServer())
	if err != nil {
		return err
	}
	id, err := api.CreateBackfill(ctx, client.BackfillRequest{Connection: c.Connection, Attributes: attributes, Properties: properties})
	if err != nil {
		return err
	}
	return s.showBackfillID(id)
}

type backfillApprove struct {
	ID string `arg:"" name:"id" help:"The backfill ticket."`
}

func (backfillApprove) Help() string {
	return `A server approves about once a second while it has room: players that are not approved in time are proposed elsewhere. The backfill ticket is printed, with the tickets that joined by this approval and by those of the 20 seconds before it.

Example: mm backfill approve BACKFILL`
}

// Run approves, and prints the backfill ticket.
func (c backfillApprove) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asServer())
	if err != nil {
		return err
	}
	b, err := api.ApproveBackfill(ctx, c.ID)
	if err != nil {
		return err
	}
	var g grid
	g.add("backfill", b.ID)
	if b.Created != 0 {
		g.add("created", moment(time.UnixMilli(b.Created)))
	}
	g.add("version", b.RecordVersion)
	g.add("connection", b.Connection)
	g.addPayload(b.Attributes, b.Properties)
	for _, t := range b.Assigned {
		g.add("joined", t.ID)
	}
	return s.show(b, g)
}

type backfillUpdate struct {
	ID string `arg:"" name:"id" help:"The backfill ticket."`
	game
}

func (backfillUpdate) Help() string {
	return `The backfill ticket says afterwards what is given here, and nothing else. Players that were proposed for the game go back to waiting.

Example: mm backfill update BACKFILL --connection 127.0.0.1:7777 --attribute open=1`
}

// Run replaces the backfill ticket's contents.
func (c backfillUpdate) Run(ctx context.Context, s *session) error {
	attributes, properties, err := c.read()
	if err != nil {
		return err
	}
	api, err := s.connect(asServer())
	if err != nil {
		return err
	}
	b := client.BackfillTicket{ID: c.ID, Connection: c.Connection, Attributes: attributes, Properties: properties}
	if err := api.UpdateBackfill(ctx, b); err != nil {
		return err
	}
	return s.showBackfillID(c.ID)
}

type backfillDelete struct {
	ID string `arg:"" name:"id" help:"The backfill ticket."`
}

func (backfillDelete) Help() string {
	return `Players that were proposed for the game go back to waiting.

Example: mm backfill delete BACKFILL`
}

// Run deletes the backfill ticket. That there is none is no failure.
func (c backfillDelete) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asServer())
	if err != nil {
		return err
	}
	if err := api.DeleteBackfill(ctx, c.ID); err != nil {
		return err
	}
	return s.showDeleted(c.ID)
}

func (s *session) showBackfillID(id string) error {
	var g grid
	g.add("backfill", id)
	return s.show(map[string]string{"id": id}, g)
}
