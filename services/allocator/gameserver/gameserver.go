package gameserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/provider"
)

// MaxCommand is the most bytes of a line from the parent. Most of it are match properties, which are limited where
// proposals are read.
const MaxCommand = 4 << 20

// Options say how a process of servers runs.
type Options struct {
	// Host is the address to listen on, and the host of connections; 127.0.0.1 when empty.
	Host string
	Log  *slog.Logger
}

// Main hosts servers until in or ctx ends. It returns an error when reading in or writing out fails. When ctx ends
// first, a goroutine still reads in: the process is about to exit.
func Main(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	h := &host{
		options: o, events: NewEvents(out), servers: map[string]*server{}, http: &http.Client{Timeout: time.Minute},
	}
	defer h.close()
	return Obey(ctx, in, func(c Command) error { return h.run(ctx, c) })
}

// host is the servers of one process.
type host struct {
	options Options

	mu      sync.Mutex
	events  *Events
	servers map[string]*server
	closed  bool

	http  *http.Client
	fills sync.WaitGroup // the servers that keep their games filled
}

// Obey calls run with each command of in, until in ends, run fails, or ctx ends. Then a goroutine still reads in.
func Obey(ctx context.Context, in io.Reader, run func(Command) error) error {
	read := make(chan error, 1)
	go func() { read <- obey(in, run) }()
	select {
	case err := <-read:
		return err
	case <-ctx.Done():
		return nil
	}
}

func obey(in io.Reader, run func(Command) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, MaxCommand)
	for lines.Scan() {
		var c Command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("command: %w", err)
		}
		if err := run(c); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read commands: %w", err)
	}
	return nil
}

func (h *host) run(ctx context.Context, c Command) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
	case c.Start != nil:
		h.start(ctx, c.Start)
	case c.Stop != nil:
		h.end(c.Stop.ID, "stopped")
	}
	return h.events.Err()
}

func (h *host) start(ctx context.Context, c *Start) {
	s, ok := h.servers[c.ID]
	if !ok {
		var err error
		if s, err = h.open(ctx, c); err != nil {
			h.events.Send(Event{ID: c.ID, Error: err.Error()})
			return
		}
		h.options.Log.Debug("game server started", "match", s.match, "connection", s.connection)
	}
	h.events.Send(Event{ID: c.ID, Connection: s.connection})
}

func (h *host) open(ctx context.Context, c *Start) (*server, error) {
	var m provider.Payload
	if err := json.Unmarshal(c.Match, &m); err != nil {
		return nil, errors.New("the match is no JSON object") // the parser's error could quote the token in it
	}
	var api *client.Client
	if c.API != "" && m.Token != "" {
		o := client.Options{URL: c.API, Project: m.Project, HTTP: h.http}
		o.Token = client.ServerTokens(o, m.Token)
		var err error
		if api, err = client.New(o); err != nil {
			return nil, err
		}
	}
	fills := api != nil && m.Backfill != ""
	s, err := listen(h.options.Host, &m, fills, time.Duration(c.Stay)*time.Millisecond)
	if err != nil {
		return nil, err
	}
	s.api, s.over = api, func() { h.retire(c.ID, s, "over") }
	h.servers[c.ID] = s
	go s.serve(ctx)
	if c.Lifetime > 0 {
		s.expiry = time.AfterFunc(time.Duration(c.Lifetime)*time.Millisecond, func() { h.retire(c.ID, s, "lifetime") })
	}
	if fills {
		ctx, stop := context.WithCancel(ctx)
		s.stop = stop
		h.fills.Go(func() {
			if s.fill(ctx, api, m.Backfill, h.options) {
				h.retire(c.ID, s, "over")
			}
		})
	}
	return s, nil
}

// retire ends a server, unless it has ended already and another one has its ID.
func (h *host) retire(id string, s *server, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.servers[id] == s && !h.closed {
		h.end(id, reason)
	}
}

func (h *host) end(id, reason string) {
	if s, ok := h.servers[id]; ok {
		delete(h.servers, id)
		s.close()
		h.options.Log.Debug("game server ended", "match", s.match, "reason", reason)
	}
	h.events.Send(Event{ID: id, Ended: reason})
}

// Events tells the parent what becomes of servers.
type Events struct {
	out *json.Encoder
	err error
}

// NewEvents writes events to out.
func NewEvents(out io.Writer) *Events { return &Events{out: json.NewEncoder(out)} }

// Send writes an event. A parent that no longer reads has closed the input too, or is about to.
func (e *Events) Send(one Event) {
	if err := e.out.Encode(one); err != nil && e.err == nil {
		e.err = fmt.Errorf("write events: %w", err)
	}
}

// Err is the first failure to write an event.
func (e *Events) Err() error { return e.err }

// close ends all servers. Those that keep their games filled have a moment to delete their backfill tickets.
func (h *host) close() {
	h.mu.Lock()
	h.closed = true
	for _, s := range h.servers {
		s.close()
	}
	h.mu.Unlock()
	done := make(chan struct{})
	go func() { h.fills.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(farewell):
	}
}
