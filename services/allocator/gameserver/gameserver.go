package gameserver

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/provider"
)

// MaxPayload is the most bytes of a match. Most of it are match properties, which are limited where proposals are read.
const MaxPayload = 4 << 20

// farewell is how long a server that ends waits until its backfill ticket is deleted.
const farewell = 2 * time.Second

// connections to the service, of all servers.
var connections = &http.Client{Timeout: time.Minute}

// Options of a server.
type Options struct {
	// Match is a provider.Payload.
	Match []byte
	// API is the URL of the service. A server with a token uses it to report results and, with a backfill ticket, to keep
	// its game filled. Without an API no server does.
	API string
	// Stay is how long players stay in a game that is kept filled, on average; 0 is for ever.
	Stay time.Duration
	Log  *slog.Logger
}

// Run runs a server until its game is over or ctx ends, and calls started with its address. The port is free when it
// returns. An error says why the server did not start.
func Run(ctx context.Context, o Options, started func(connection string)) error {
	m, err := provider.ReadPayload(o.Match)
	if err != nil {
		return err
	}
	ctx, over := context.WithCancel(ctx)
	defer over()
	var api *client.Client
	if o.API != "" && m.Token != "" {
		to := client.Options{URL: o.API, Project: m.Project, HTTP: connections}
		to.Token = client.ServerTokens(to, m.Token)
		if api, err = client.New(to); err != nil {
			return err
		}
	}
	fills := api != nil && m.Backfill != ""
	s, err := listen(&m, fills, o.Stay)
	if err != nil {
		return err
	}
	s.api, s.over = api, over
	filled := make(chan struct{})
	go func() {
		defer close(filled)
		if fills {
			s.fill(ctx, m.Backfill, o.Log)
		}
	}()
	go s.serve(ctx)
	started(s.connection)
	<-ctx.Done()
	s.game.end()
	_ = s.conn.Close()
	select {
	case <-filled:
	case <-time.After(farewell):
	}
	return nil
}
