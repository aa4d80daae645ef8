package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// fleetID is the fleet of a fleet manager; all others have a server for each match.
const fleetID = "few"

// gameTime is how long a server has a game.
const gameTime = time.Second

// fleet is a fleet manager with few servers.
type fleet struct {
	server *http.Server
	dir    string // of its files

	mu      sync.Mutex
	servers int
	games   map[string]bool // by allocation
}

// openFleet starts a fleet manager. It checks no signatures.
func openFleet(ctx context.Context) (*fleet, error) {
	f := &fleet{games: map[string]bool{}}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /allocations", f.allocate)
	mux.HandleFunc("POST /allocations/status", f.status)
	mux.HandleFunc("DELETE /allocations/{id}", f.release)
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

// resize sets how many servers there are.
func (f *fleet) resize(servers int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers = servers
}

// allocation is how the manager tells of one.
type allocation struct {
	Allocation string `json:"allocation"`
	Status     string `json:"status"`
	Connection string `json:"connection"`
}

func allocated(id string) allocation { return allocation{id, "allocated", "127.0.0.1:7777"} }

func (f *fleet) allocate(w http.ResponseWriter, r *http.Request) {
	var q struct{ Allocation string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.games[q.Allocation]:
	case len(f.games) >= f.servers:
		answer(w, http.StatusConflict, map[string]string{"reason": "fleet-empty", "detail": "all servers are in use"})
		return
	default:
		f.games[q.Allocation] = true
		time.AfterFunc(gameTime, func() { f.over(q.Allocation) })
	}
	answer(w, http.StatusOK, allocated(q.Allocation))
}

func (f *fleet) status(w http.ResponseWriter, r *http.Request) {
	var q struct{ Allocations []string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := []allocation{}
	for _, id := range q.Allocations {
		if f.games[id] {
			known = append(known, allocated(id))
		}
	}
	answer(w, http.StatusOK, map[string]any{"allocations": known})
}

func (f *fleet) release(w http.ResponseWriter, r *http.Request) {
	f.over(r.PathValue("id"))
	w.WriteHeader(http.StatusNoContent)
}

// over ends the game of an allocation.
func (f *fleet) over(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.games, id)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
