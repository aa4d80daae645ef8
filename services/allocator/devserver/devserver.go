// Package devserver runs a studio's own game servers for development: for each match a command of the studio, which
// learns its match from environment variables. A process of this package obeys its parent, the fleet of the local
// provider, as package gameserver does.
//
// A command gets, beside what the parent's own environment has:
//
//	SERVER_ADDRESS, SERVER_HOST, SERVER_PORT    where players connect to: a port that is free for UDP and TCP
//	SERVER_MATCH                                the match's id
//	SERVER_PAYLOAD                              the match, a provider.Payload
//	SERVER_BACKFILL                             the backfill ticket that was made with the match, if there is one
//	MM_URL, MM_PROJECT, MM_TOKEN                where the service is, and the server's token, if it has one
//
// It is asked to end with SIGTERM, and killed with all that it started if it still runs after five seconds. Its
// standard input ends with the parent.
package devserver

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"matchmaker.dev/services/allocator/gameserver"
)

// MaxPayload is the most bytes of a match that a command can be given: an environment variable has a limit.
const MaxPayload = 96 << 10

// grace is how long a command may take to end, and farewell is the same when the parent ends.
const (
	grace    = 5 * time.Second
	farewell = 2 * time.Second
)

// settled is how long a command must run to count as started.
const settled = 250 * time.Millisecond

// Options say how commands run.
type Options struct {
	// Command is for the shell.
	Command string
	// Host is the address that servers are to listen on; 127.0.0.1 when empty.
	Host string
	// Env is the environment of commands, beside what they are told.
	Env []string
	// Log gets what they print.
	Log *slog.Logger
}

// Main runs commands until in or ctx ends. It returns an error when reading in or writing out fails. When ctx ends
// first, a goroutine still reads in: the process is about to exit.
func Main(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	h := &host{options: o, events: gameserver.NewEvents(out), servers: map[string]*server{}}
	defer h.close()
	return gameserver.Obey(ctx, in, func(c gameserver.Command) error { return h.run(ctx, c) })
}

// host is the commands of one process.
type host struct {
	options Options

	mu      sync.Mutex
	events  *gameserver.Events
	servers map[string]*server
	closed  bool

	watches sync.WaitGroup
}

func (h *host) run(ctx context.Context, c gameserver.Command) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
	case c.Start != nil:
		h.start(ctx, c.Start)
	case c.Stop != nil:
		if s, ok := h.servers[c.Stop.ID]; ok {
			s.end(grace)
		} else {
			h.events.Send(gameserver.Event{ID: c.Stop.ID, Ended: "stopped"})
		}
	}
	return h.events.Err()
}

func (h *host) start(ctx context.Context, c *gameserver.Start) {
	s, ok := h.servers[c.ID]
	if ok {
		if s.started {
			h.events.Send(gameserver.Event{ID: c.ID, Connection: s.address})
		}
		return // or it follows
	}
	s, err := open(ctx, h.options, c)
	if err != nil {
		h.events.Send(gameserver.Event{ID: c.ID, Error: err.Error()})
		return
	}
	h.servers[c.ID] = s
	h.watches.Go(func() { h.watch(c.ID, s, time.Duration(c.Lifetime)*time.Millisecond) })
}

// watch tells the parent that a server runs, and that it has ended.
func (h *host) watch(id string, s *server, lifetime time.Duration) {
	runs := time.NewTimer(settled)
	defer runs.Stop()
	var over <-chan time.Time
	if lifetime > 0 {
		timer := time.NewTimer(lifetime)
		defer timer.Stop()
		over = timer.C
	}
	reason := "over"
	for ended := false; !ended; {
		select {
		case <-runs.C:
			h.announce(id, s)
		case <-over:
			reason = "lifetime"
			s.end(grace)
			over = nil
		case within := <-s.ending:
			if reason == "over" {
				reason = "stopped"
			}
			s.finish(within)
			ended = true
		case <-s.process.Done():
			ended = true
		}
	}
	s.sweep()
	h.remove(id, s, reason)
}

func (h *host) announce(id string, s *server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.started = true
	h.events.Send(gameserver.Event{ID: id, Connection: s.address})
}

func (h *host) remove(id string, s *server, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.servers, id)
	e := gameserver.Event{ID: id, Ended: reason}
	if !s.started && reason == "over" {
		e = gameserver.Event{ID: id, Error: s.process.Err().Error()}
	}
	h.events.Send(e)
}

// close ends all servers and returns when they have ended.
func (h *host) close() {
	h.mu.Lock()
	h.closed = true
	for _, s := range h.servers {
		s.end(farewell)
	}
	h.mu.Unlock()
	h.watches.Wait()
}
