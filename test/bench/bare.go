package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/labstack/echo/v4"
)

// bare is a hidden command: the server that the service is compared with. It does the least that a handler of the same
// framework can do with the same requests.
type bare struct{}

// Run serves until ctx ends.
func (bare) Run(ctx context.Context, out io.Writer) error {
	e := echo.New()
	e.POST("/:project/matchmaking/api/v1/tickets", func(c echo.Context) error {
		var in struct {
			Attributes map[string]float64 `json:"attributes"`
			Properties map[string][]byte  `json:"properties"`
		}
		if err := json.NewDecoder(c.Request().Body).Decode(&in); err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, struct {
			ID string `json:"id"`
		}{"00000000-0000-0000-0000-000000000000"})
	})
	var err error
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
