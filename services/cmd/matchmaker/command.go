package main

import (
	"context"
	"errors"

	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/backfill"
	"matchmaker.dev/services/internal/account"
	"matchmaker.dev/services/internal/app"
	"matchmaker.dev/services/internal/catalog"
)

// The commands of single services have the settings that their service knows, and build one part.

type ticketCmd struct {
	Process     process     `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Connections connections `embed:""`
	Trust       trust       `embed:""`
	Tickets     tickets     `embed:""`
}

// Validate is called by kong.
func (c *ticketCmd) Validate() error { return c.Tickets.check() }

func (c *ticketCmd) Run(ctx context.Context, s streams) error {
	return c.Process.serve(ctx, s, catalog.Ticket, c.Connections, c.Trust.Issuers, serverTokens{}, func(b *builder) error { return b.ticket(c.Tickets) })
}

type configCmd struct {
	Process     process     `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Connections connections `embed:""`
	Trust       trust       `embed:""`
	Secrets     secrets     `embed:""`
}

func (c *configCmd) Run(ctx context.Context, s streams) error {
	return c.Process.serve(ctx, s, catalog.Config, c.Connections, c.Trust.Issuers, serverTokens{}, func(b *builder) error { return b.config(c.Secrets) })
}

type registryCmd struct {
	Process     process     `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Connections connections `embed:""`
	Trust       trust       `embed:""`
	Functions   functions   `kong:"embed,set='sandbox=require'"`
}

// Validate is called by kong.
func (c *registryCmd) Validate() error { return c.Functions.check() }

func (c *registryCmd) Run(ctx context.Context, s streams) error {
	return c.Process.serve(ctx, s, catalog.Registry, c.Connections, c.Trust.Issuers, serverTokens{}, func(b *builder) error { return b.registry(c.Functions) })
}

type runnerCmd struct {
	Process     process     `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Connections connections `embed:""`
	Functions   functions   `kong:"embed,set='sandbox=require'"`
}

// Validate is called by kong.
func (c *runnerCmd) Validate() error { return c.Functions.check() }

func (c *runnerCmd) Run(ctx context.Context, s streams) error {
	return c.Process.serve(ctx, s, catalog.Runner, c.Connections, "", serverTokens{}, func(b *builder) error { return b.runner(c.Functions) })
}

type directorCmd struct {
	Process     process     `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Connections connections `embed:""`
	Cycle       cycle       `embed:""`
	Readable    readable    `embed:""`
}

// Validate is called by kong.
func (c *directorCmd) Validate() error { return c.Cycle.check() }

func (c *directorCmd) Run(ctx context.Context, s streams) error {
	return c.Process.serve(ctx, s, catalog.Director, c.Connections, "", serverTokens{}, func(b *builder) error { return b.director(c.Cycle, c.Readable) })
}

type allocatorCmd struct {
	Process     process     `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Connections connections `embed:""`
	Fleet       fleet       `embed:""`
	Secrets     secrets     `embed:""`
	Readable    readable    `embed:""`

	ServerTokens serverTokens `embed:""`
}

// Validate is called by kong.
func (c *allocatorCmd) Validate() error { return errors.Join(c.Fleet.check(), c.ServerTokens.check()) }

func (c *allocatorCmd) Run(ctx context.Context, s streams) error {
	return c.Process.serve(ctx, s, catalog.Allocator, c.Connections, "", c.ServerTokens, func(b *builder) error { return b.allocator(c.Fleet, c.Secrets, c.Readable, c.ServerTokens) })
}

type backfillCmd struct {
	Process     process           `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Connections connections       `embed:""`
	Trust       trust             `embed:""`
	Tickets     tickets           `embed:""`
	Filling     backfill.Settings `embed:""`
	Readable    readable          `embed:""`
}

// Validate is called by kong.
func (c *backfillCmd) Validate() error { return errors.Join(c.Tickets.check(), c.Filling.Validate()) }

func (c *backfillCmd) Run(ctx context.Context, s streams) error {
	return c.Process.serve(ctx, s, catalog.Backfill, c.Connections, c.Trust.Issuers, serverTokens{}, func(b *builder) error {
		return b.backfill(c.Tickets, c.Filling, c.Readable)
	})
}

// services are the settings of all seven.
type services struct {
	Tickets   tickets           `embed:""`
	Cycle     cycle             `embed:""`
	Functions functions         `embed:""`
	Fleet     fleet             `embed:""`
	Filling   backfill.Settings `embed:""`
	Secrets   secrets           `embed:""`
	Readable  readable          `embed:""`

	ServerTokens serverTokens `embed:""`
}

func (v *services) check() error {
	return errors.Join(v.Tickets.check(), v.Cycle.check(), v.Functions.check(), v.Fleet.check(), v.Filling.Validate())
}

// build makes all seven, those first that others wait for.
func (v *services) build(b *builder) error {
	b.complete = true
	return errors.Join(
		b.registry(v.Functions),
		b.runner(v.Functions),
		b.director(v.Cycle, v.Readable),
		b.allocator(v.Fleet, v.Secrets, v.Readable, v.ServerTokens),
		b.config(v.Secrets),
		b.backfill(v.Tickets, v.Filling, v.Readable),
		b.ticket(v.Tickets),
	)
}

type allCmd struct {
	Process     process     `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Connections connections `embed:""`
	Trust       trust       `embed:""`
	Services    services    `kong:"embed,set='sandbox=require'"`
}

// Validate is called by kong.
func (c *allCmd) Validate() error { return c.Services.check() }

func (c *allCmd) Run(ctx context.Context, s streams) error {
	return c.Process.serve(ctx, s, account.All, c.Connections, c.Trust.Issuers, c.Services.ServerTokens, c.Services.build)
}

// gameserverCmd is a process of the local provider's fleet; it is told what to do on standard input.
type gameserverCmd struct{}

func (c *gameserverCmd) Run(ctx context.Context, s streams) error {
	log, err := app.Logger(s.err, "info", "text")
	if err != nil {
		return err
	}
	return gameserver.Main(ctx, s.in, s.out, gameserver.Options{Log: log})
}
