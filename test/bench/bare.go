package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/web"
)

// bare is a hidden command: a server that the service is compared with. It does the least that a handler of the same
// framework can do with the same requests; with the issuers of their tokens, behind the middleware and the checks that
// the service has.
type bare struct {
	Issuers string `help:"The file of trusted issuers."`
}

// Run serves until ctx ends.
func (b *bare) Run(ctx context.Context, out io.Writer) error {
	e, err := b.routes()
	if err != nil {
		return err
	}
	if e.Listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	e.HideBanner, e.HidePort = true, true
	fmt.Fprintf(out, "http://%s\n", e.Listener.Addr())
	defer context.AfterFunc(ctx, func() { _ = e.Close() })()
	if err := e.Start(""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (b *bare) routes() (*echo.Echo, error) {
	const path = web.Base + "/tickets"
	if b.Issuers == "" {
		e := echo.New()
		e.POST(path, bareCreate(func(c echo.Context, in any) error { return json.NewDecoder(c.Request().Body).Decode(in) }))
		return e, nil
	}
	issuers, err := (&auth.Settings{Issuers: b.Issuers}).Read()
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	verifier, err := auth.New(auth.Options{Issuers: issuers, Log: log})
	if err != nil {
		return nil, err
	}
	e := web.New(log, web.Options{})
	e.POST(path, bareCreate(web.Decode), verifier.Require(auth.Player))
	return e, nil
}

func bareCreate(decode func(echo.Context, any) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		var in struct {
			Attributes map[string]float64 `json:"attributes"`
			Properties map[string][]byte  `json:"properties"`
		}
		if err := decode(c, &in); err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, struct {
			ID string `json:"id"`
		}{"00000000-0000-0000-0000-000000000000"})
	}
}
