// Package local is the provider for development: a fleet of real game servers on this machine, which end with the
// allocator. They are servers of package gameserver, in this process; a studio's own servers are commands of package
// devserver instead.
//
// Only the memory of one allocator knows the fleet. After a restart it is empty, and a match that still waits for its
// server gets a new one.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"matchmaker.dev/services/allocator/devserver"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/settings"
)

// Options of a fleet.
type Options struct {
	// Settings of the fleet. No Max and no Lifetime stand for the defaults.
	Settings Settings
	// API says where servers that have a token reach the service, to keep their games filled; none does when it is nil or
	// says "".
	API func() string
	Log *slog.Logger
}

// Fleet is a provider.Provider.
type Fleet struct {
	options Options
	running sync.WaitGroup

	mu      sync.Mutex
	servers map[key]*server
	closed  bool
}

// key names a server by its match.
type key struct{ project, match string }

// server is the game server of one match, from the request for it to its end.
type server struct {
	match []byte // as it was told
	end   context.CancelFunc
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
	if err := settings.Check(&o.Settings); err != nil {
		return nil, err
	}
	return &Fleet{options: o, servers: map[key]*server{}}, nil
}

// Allocate starts a server for the match, or returns the one that it has.
func (f *Fleet) Allocate(ctx context.Context, r *provider.Request) (provider.Result, error) {
	s, err := f.server(ctx, r)
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
func (f *Fleet) server(ctx context.Context, r *provider.Request) (*server, error) {
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
	most := gameserver.MaxPayload
	if f.options.Settings.Command != "" {
		most = devserver.MaxPayload
	}
	match, err := r.PayloadWithin(most)
	if err != nil {
		return nil, err
	}
	if len(match) > most {
		return nil, provider.Fail(
			provider.Refused, "match properties and tickets take %d bytes, a game server accepts %d", len(match), most)
	}
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), f.options.Settings.Lifetime)
	s = &server{match: match, end: end, ready: make(chan struct{}), ended: make(chan struct{})}
	f.servers[k] = s
	f.running.Go(func() { f.run(ctx, k, s) })
	return s, nil
}

// run runs a server until it ends.
func (f *Fleet) run(ctx context.Context, k key, s *server) {
	defer s.end()
	api, o := "", f.options
	if o.API != nil {
		api = o.API()
	}
	isReady := false
	started := func(connection string) {
		isReady, s.connection = true, connection
		close(s.ready)
	}
	var err error
	if o.Settings.Command != "" {
		of := devserver.Options{Command: o.Settings.Command, Match: s.match, API: api, Log: o.Log}
		err = devserver.Run(ctx, of, started)
	} else {
		err = gameserver.Run(ctx, gameserver.Options{Match: s.match, API: api, Stay: o.Settings.Stay, Log: o.Log}, started)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.servers, k)
	if !isReady {
		s.err = provider.Fail(provider.Contention, "the game server did not start: %s", cmp.Or(err, errOver))
		close(s.ready)
	}
	close(s.ended)
}

var errOver = errors.New("it ended before it was ready")

// Poll tells which of the matches have a server. A match whose server ended has none.
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
	s := f.end(key{r.Project, r.Match})
	if s == nil {
		return nil
	}
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("end a game server: %w", context.Cause(ctx))
	}
}

// end tells the server of a match to end. It is nil when there is none.
func (f *Fleet) end(k key) *server {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.servers[k]
	if s != nil {
		s.releasing = true
		s.end()
	}
	return s
}

// Close ends all servers and returns when they have ended.
func (f *Fleet) Close() {
	f.mu.Lock()
	f.closed = true
	for _, s := range f.servers {
		s.end()
	}
	f.mu.Unlock()
	f.running.Wait()
}
