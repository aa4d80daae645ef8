package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"matchmaker.dev/services/test/workload"
)

// fleetID is the fleet of a fleet manager; all others have a server for each match.
const fleetID = "few"

// gameTime is how long a server has a game.
const gameTime = time.Second

// fleet is a fleet manager with few servers.
type fleet struct {
	workload.Fleet
	server  *http.Server
	dir     string // of its files
	servers atomic.Int64
}

// openFleet starts a fleet manager without servers.
func openFleet(ctx context.Context) (*fleet, error) {
	f := new(fleet)
	f.Give = f.give
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	f.Serve(mux, "")
	f.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = f.server.Serve(listener) }()
	if f.dir, err = os.MkdirTemp("", "bench-fleet-"); err == nil {
		key := filepath.Join(f.dir, "key")
		err = errors.Join(os.WriteFile(key, []byte("signatures are not checked"), 0o600),
			os.WriteFile(f.hosting(), fmt.Appendf(nil, "default: instant\nproviders:\n"+
				"  instant: {kind: instant, connection: 127.0.0.1:7777}\n  few: {kind: http, url: 'http://%s', key-file: %s}\n"+
				"rules: [{fleet: %s, provider: few}]\n", listener.Addr(), key, fleetID), 0o600))
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *fleet) close() {
	_ = f.server.Close()
	_ = os.RemoveAll(f.dir)
}

// hosting is a file for --hosting.
func (f *fleet) hosting() string { return filepath.Join(f.dir, "hosting.yaml") }

// give gives an allocation a server, until its game is over.
func (f *fleet) give(allocation, _ string, held int) (connection string) {
	if int64(held) >= f.servers.Load() {
		return ""
	}
	time.AfterFunc(gameTime, func() { f.Release(allocation) })
	return "127.0.0.1:7777"
}
