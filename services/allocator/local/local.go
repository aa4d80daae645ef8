// Package local is the provider for development: a fleet of real game servers on this machine. It starts processes of
// package gameserver when they are needed. Each hosts many servers, and ends with the allocator, however that ends. A
// studio's own servers are processes of package devserver instead.
//
// Only the memory of one allocator knows the fleet. After a restart it is empty, and a match that still waits for its
// server gets a new one.
package local

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"matchmaker.dev/services/allocator/devserver"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/settings"
)

// Options of a fleet.
type Options struct {
	// Binary and Args are a command that runs gameserver.Main, or devserver.Main where the settings have a command. Env is
	// its environment.
	Binary string
	Args   []string
	Env    []string
	// Settings of the fleet. No Max and no Lifetime stand for the defaults.
	Settings Settings
	// PerProcess is how many servers a process hosts; 64 when 0.
	PerProcess int
	// API says where servers that have a token reach the service, to keep their games filled; none does when it is nil or
	// says "".
	API func() string
	Log *slog.Logger
}

// Fleet is a provider.Provider.
type Fleet struct {
	options Options

	mu      sync.Mutex
	servers map[key]*server
	hosts   []*host
	started int // counts servers, for their IDs
	closed  bool
}

// key names a server by its match.
type key struct{ project, match string }

// server is the game server of one match, from the request for it to its end.
type server struct {
	key  key
	id   string
	host *host
	// ready is closed when connection or err is set. Read them only after that.
	ready      chan struct{}
	connection string
	err        error
	// ended is closed when the server has ended and its port is free.
	ended chan struct{}
	// releasing is set when its release began. Guarded by the fleet's mu.
	releasing bool
}

// New returns a fleet without servers. Close it.
func New(o Options) (*Fleet, error) {
	standard := settings.Default[Settings]()
	o.Settings.Max = cmp.Or(o.Settings.Max, standard.Max)
	o.Settings.Lifetime = cmp.Or(o.Settings.Lifetime, standard.Lifetime)
	if o.PerProcess == 0 {
		o.PerProcess = 64
	}
	switch {
	case o.Binary == "":
		return nil, problem.New(problem.Invalid, "local fleet: no binary to run game servers with")
	case o.Settings.Max < 0 || o.PerProcess < 0:
		return nil, problem.New(
			problem.Invalid, "local fleet: %d servers, %d in a process: must be positive", o.Settings.Max, o.PerProcess,
		)
	case o.Settings.Stay < 0:
		return nil, problem.New(
			problem.Invalid, "local fleet: players who stay for %s: must not be negative", o.Settings.Stay,
		)
	case o.Settings.Lifetime < time.Millisecond:
		return nil, problem.New(problem.Invalid, "local fleet: a lifetime of %s is too short", o.Settings.Lifetime)
	}
	return &Fleet{options: o, servers: map[key]*server{}}, nil
}

// Allocate starts a server for the match, or returns the one that it has.
func (f *Fleet) Allocate(ctx context.Context, r *provider.Request) (provider.Result, error) {
	s, err := f.server(r)
	if err != nil {
		return provider.Result{}, err
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		return provider.Result{}, fmt.Errorf("start a game server: %w", context.Cause(ctx))
	}
	if s.err != nil {
		return provider.Result{}, s.err
	}
	return provider.Result{Status: provider.Allocated, Connection: s.connection}, nil
}

// server returns the match's server, and starts it if the match has none.
func (f *Fleet) server(r *provider.Request) (*server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := key{r.Project, r.Match}
	s, ok := f.servers[k]
	switch {
	case f.closed:
		return nil, provider.Fail(provider.Contention, "the local fleet is shutting down")
	case ok && s.releasing:
		return nil, provider.Fail(provider.Contention, "the match's game server is being released")
	case ok:
		return s, nil
	case len(f.servers) >= f.options.Settings.Max:
		return nil, provider.Fail(
			provider.FleetEmpty, "the local fleet has no free server: %d of %d are in use (setting max-servers)", len(f.servers),
			f.options.Settings.Max,
		)
	}
	id := strconv.Itoa(f.started)
	start, err := f.startCommand(id, r)
	if err != nil {
		return nil, err
	}
	h, err := f.hostWithRoom()
	if err != nil {
		return nil, provider.Fail(provider.Contention, "no process for game servers could be started").Because(err)
	}
	f.started++
	s = &server{key: k, id: id, host: h, ready: make(chan struct{}), ended: make(chan struct{})}
	f.servers[k], h.servers[id] = s, s
	h.send(start)
	return s, nil
}

// startCommand is the command that starts the match's server. A process that gets an invalid command ends with all its
// servers, so input from outside is checked here.
func (f *Fleet) startCommand(id string, r *provider.Request) ([]byte, error) {
	most := gameserver.MaxCommand - 4<<10 // the rest is for the other members
	if f.options.Settings.Command != "" {
		most = devserver.MaxPayload
	}
	payload, err := r.PayloadWithin(most)
	if err != nil {
		return nil, err
	}
	if len(payload) > most {
		return nil, provider.Fail(
			provider.Refused, "match properties and tickets take %d bytes, a game server accepts %d", len(payload), most)
	}
	start := &gameserver.Start{
		ID:       id,
		Match:    payload,
		Lifetime: f.options.Settings.Lifetime.Milliseconds(),
		Stay:     f.options.Settings.Stay.Milliseconds(),
	}
	if f.options.API != nil {
		start.API = f.options.API()
	}
	line, err := json.Marshal(gameserver.Command{Start: start})
	if err != nil {
		return nil, err
	}
	if len(line) >= gameserver.MaxCommand {
		return nil, provider.Fail(
			provider.Refused, "match properties and tickets take %d bytes, a game server accepts %d", len(line),
			gameserver.MaxCommand,
		)
	}
	return line, nil
}

// hostWithRoom returns a process with room for one more server.
func (f *Fleet) hostWithRoom() (*host, error) {
	for _, h := range f.hosts {
		if len(h.servers) < f.options.PerProcess {
			return h, nil
		}
	}
	h, err := spawn(f)
	if err != nil {
		return nil, err
	}
	f.hosts = append(f.hosts, h)
	return h, nil
}

// Poll tells which of the matches have a server. A match whose process ended has none.
func (f *Fleet) Poll(_ context.Context, refs []provider.Ref) ([]provider.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	results := make([]provider.Result, len(refs))
	for i, r := range refs {
		s, ok := f.servers[key{r.Project, r.Match}]
		if !ok || s.releasing {
			results[i] = provider.Result{Status: provider.Gone}
			continue
		}
		select {
		case <-s.ready:
			results[i] = provider.Result{Status: provider.Allocated, Connection: s.connection}
		default:
			results[i] = provider.Result{Status: provider.Pending}
		}
	}
	return results, nil
}

// Release ends the match's server and returns when its port is free.
func (f *Fleet) Release(ctx context.Context, r provider.Ref) error {
	if r.Used != "" {
		return nil // a match has one server
	}
	s, err := f.stop(key{r.Project, r.Match})
	if s == nil || err != nil {
		return err
	}
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("end a game server: %w", context.Cause(ctx))
	}
}

// stop tells the server of a match to end. The server is nil when there is none.
func (f *Fleet) stop(k key) (*server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.servers[k]
	if !ok || s.releasing {
		return s, nil
	}
	line, err := json.Marshal(gameserver.Command{Stop: &gameserver.Stop{ID: s.id}})
	if err != nil {
		return nil, err
	}
	s.releasing = true
	s.host.send(line)
	return s, nil
}

// InUse counts the servers that run, start or end.
func (f *Fleet) InUse() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.servers)
}

// Close ends all servers and returns when their processes have ended.
func (f *Fleet) Close() error {
	f.mu.Lock()
	f.closed = true
	hosts := append([]*host(nil), f.hosts...)
	f.mu.Unlock()
	for _, h := range hosts {
		h.quit()
	}
	for _, h := range hosts {
		h.wait()
	}
	return nil
}
