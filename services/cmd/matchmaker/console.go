package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"matchmaker.dev/services/console"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/app"
)

// consoleCmd runs the console. It is no service of the catalog: it is a client of the API, and reaches neither Redis
// nor NATS.
type consoleCmd struct {
	Process common           `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Own     console.Settings `embed:""`
}

func (consoleCmd) Help() string {
	return `It serves pages for people at /console. Its viewers sign in with tokens of the API. docs/console.md says more.

    matchmaker console --api-url https://matchmaking.example.com --environment staging`
}

// Validate is called by kong.
func (c *consoleCmd) Validate() error {
	return validate(append(c.Process.checked(), &c.Own))
}

func (c *consoleCmd) Run(ctx context.Context, s streams) error {
	return c.Process.serveOne(ctx, s, func(addr net.Addr) {
		if tcp, ok := addr.(*net.TCPAddr); ok {
			fmt.Fprintf(s.out, "Console: %s/console\n", localURL(tcp))
		}
	}, func(b *builder) (app.Part, error) {
		return console.New(console.Options{Settings: c.Own, Log: b.log, Now: time.Now, Meter: b.telemetry.Meter,
			API: func() string { return c.Own.URL }})
	})
}

// localConsole is the console of dev. This machine needs no login. listens is told where the API is.
func (c *devCmd) localConsole(
	tokens *issuer.Issuer, log *slog.Logger,
) (part app.Part, listens func(net.Addr), err error) {
	var at atomic.Pointer[string]
	at.Store(new(string))
	o := console.Options{Log: log, Now: time.Now, Project: "demo",
		Settings: console.Settings{Environment: "development", Session: time.Hour, Viewers: 64},
		API:      func() string { return *at.Load() },
		Mint: func(project string) (string, error) {
			return tokens.Mint(issuer.Claims{Kind: auth.Developer, Subject: "console", Project: project, Role: "Owner"})
		}}
	part, err = console.New(o)
	return part, func(addr net.Addr) {
		if tcp, ok := addr.(*net.TCPAddr); ok {
			at.Store(new(localURL(tcp)))
		}
	}, err
}
