// Package app runs a process: it serves the routes of the process's parts, reports when they are ready, and stops them
// in order within a deadline. A single service and all of them in one process run through the same code.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/platform/wait"
)

// Part is one piece of the process: a service, or something services need. Any of its functions may be nil.
type Part struct {
	Name string
	// Routes registers the part's HTTP routes.
	Routes func(e *echo.Echo)
	// Run works until ctx ends and then returns soon. An error before that stops the process; nil means that there is
	// nothing left to do.
	Run func(ctx context.Context) error
	// Ready says whether the part can serve now. A *problem.Error's detail is answered, any other error is only logged.
	Ready func(ctx context.Context) error
	// Warns says what is wrong though the part can serve; "" or nil for nothing.
	Warns func() string
	// Leave hands over to other processes what they can do as well, before the process stops. All else goes on meanwhile.
	Leave func(ctx context.Context)
	// OnShutdown is called once, before the process waits for the requests under way: requests that wait for an event must
	// be answered now.
	OnShutdown func()
}

// Options are how a process is served. Either Listen or Listener is needed.
type Options struct {
	Settings Settings     // port 0 of Listen takes a free one
	Listener net.Listener // used instead of Listen, and closed at the end
	Log      *slog.Logger
	Web      web.Options
	// Shutdown is how the process stops. No Drain stands for the default.
	Shutdown Shutdown
	// Started is called with the address as soon as connections are accepted.
	Started func(addr net.Addr)
}

// Run serves the parts until ctx ends or a part fails. Then it says that it is not ready, waits for Grace and hands
// over what others can do (unless a part failed), finishes the requests under way, ends the parts' Runs, and returns
// when they have returned or Drain is over. The error has the first part's that failed, and what did not finish in
// time.
func Run(ctx context.Context, o Options, parts ...Part) error {
	o.Shutdown.Drain = cmp.Or(o.Shutdown.Drain, settings.Default[Shutdown]().Drain)
	listener, err := listen(ctx, o)
	if err != nil {
		return err
	}
	health := &health{log: o.Log, parts: parts}
	server := web.Server(health.closeConnections(routes(o, health, parts)), o.Log)

	// The parts live on while requests drain, hence not below ctx. A part may fail then, too.
	alive, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	failed, fail := context.WithCancelCause(context.WithoutCancel(ctx))
	defer fail(nil)

	running := &runGroup{allReturned: make(chan struct{})}
	running.start(alive, parts, fail)
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(web.Listener(listener)); !errors.Is(err, http.ErrServerClosed) {
			fail(fmt.Errorf("http: %w", err))
		}
	}()
	o.Log.Info("serving", "address", listener.Addr().String())
	if o.Started != nil {
		o.Started(listener.Addr())
	}

	select {
	case <-ctx.Done():
	case <-failed.Done():
	}
	health.stopping.Store(true)
	if err := context.Cause(failed); err != nil {
		o.Log.Error("stopping: a part failed", "error", err)
	} else {
		o.Log.Info("stopping")
		_ = wait.For(failed, o.Shutdown.Grace) // nothing is left that serves when a part fails
		leave(alive, parts)
	}

	for _, p := range parts {
		if p.OnShutdown != nil {
			p.OnShutdown()
		}
	}
	late := shutdown(alive, server, o.Shutdown.Drain/2)
	<-served
	kill()
	slow := running.wait(o.Shutdown.Drain / 2)
	return errors.Join(context.Cause(failed), slow, late)
}

func listen(ctx context.Context, o Options) (net.Listener, error) {
	if o.Listener != nil {
		return o.Listener, nil
	}
	if o.Settings.Listen == "" {
		return nil, errors.New("--listen: no address")
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", o.Settings.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return listener, nil
}

func routes(o Options, h *health, parts []Part) *echo.Echo {
	e := web.New(o.Log, o.Web)
	h.routes(e)
	for _, p := range parts {
		if p.Routes != nil {
			p.Routes(e)
		}
	}
	return e
}

// leave calls the parts' Leave.
func leave(ctx context.Context, parts []Part) {
	var leaving sync.WaitGroup
	for _, p := range parts {
		if p.Leave != nil {
			leaving.Go(func() { p.Leave(ctx) })
		}
	}
	leaving.Wait()
}

// shutdown stops accepting and waits for the requests under way.
func shutdown(ctx context.Context, server *http.Server, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close() // what it would say is what Shutdown said
		return errors.New("http: requests did not finish in time and were cut off")
	}
	return nil
}

// Logger returns a logger of a level (debug, info, warn, error) that writes in a format: text, for people, or json, for
// collectors. Lines have the trace and the correlation id of their context.
func Logger(w io.Writer, level, format string) (*slog.Logger, error) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
		"error": slog.LevelError}
	at, known := levels[level]
	if !known {
		return nil, fmt.Errorf("log level %q is none of debug, info, warn, error", level)
	}
	options := &slog.HandlerOptions{Level: at}
	switch format {
	case "text":
		return slog.New(telemetry.LogHandler(slog.NewTextHandler(w, options))), nil
	case "json":
		return slog.New(telemetry.LogHandler(slog.NewJSONHandler(w, options))), nil
	}
	return nil, fmt.Errorf("log format %q is none of text, json", format)
}
