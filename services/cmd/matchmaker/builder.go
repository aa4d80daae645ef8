package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/attribute"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/instant"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/backfill"
	"matchmaker.dev/services/config"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/insight"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/openapi"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/export"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/internal/platform/keyfile"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/party"
	"matchmaker.dev/services/registry"
	"matchmaker.dev/services/result"
	"matchmaker.dev/services/runner"
	"matchmaker.dev/services/ticket"
	"matchmaker.dev/services/ticket/seat"
	"matchmaker.dev/services/webhook"
)

// builder makes the parts of a process out of its settings and connections.
type builder struct {
	name      string
	settings  *settings
	log       *slog.Logger
	store     *state.Store
	bus       *bus.Bus
	telemetry *export.Telemetry
	verifier  *auth.Verifier      // nil without an API
	box       *sandbox.Supervisor // nil until one is needed
	regions   *receipt.Verifier   // nil without regions
	keys      *keyring.Ring       // nil where configs may have no hosting keys
	tokens    *token.Issuer       // nil where servers get no tokens
	parts     []app.Part
	// complete says that this process serves all APIs, address where.
	complete bool
	address  atomic.Value
	// directs says that the director is in this process.
	directs bool
	// closers are called in reverse order when all parts have ended.
	closers []func(context.Context) error
}

// ballastSize is memory that is never touched, and so takes none: it makes the garbage
// collector wait until as much again was allocated.
const ballastSize = 64 << 20

// setup is what a process is made of.
type setup struct {
	settings *settings
	services []service
	// account is the process's account in Redis and NATS; when empty, the one of all services.
	account string
	// issuers are the issuers whose tokens are believed, besides the servers' own.
	issuers []auth.Issuer
	// started is told where the API listens, and where the metrics are, if they are anywhere.
	started func(addr, metrics net.Addr)
}

// run connects, builds, and serves until ctx ends. more are parts besides the services.
func (c *common) run(ctx context.Context, log *slog.Logger, how setup, more ...app.Part) (err error) {
	set := how.settings
	// Without it, the collector runs a hundred times a second in a process that serves
	// thousands of requests a second and keeps next to nothing.
	ballast := make([]byte, ballastSize)
	defer runtime.KeepAlive(ballast)
	b := &builder{settings: set, log: log, parts: more, complete: len(how.services) == len(services()),
		directs: slices.ContainsFunc(how.services, func(s service) bool { return s.name == catalog.Director })}
	defer func() { err = errors.Join(err, b.close(context.WithoutCancel(ctx))) }()
	metrics, err := b.observe(ctx, c)
	if err != nil {
		return err
	}

	if b.store, err = state.Open(state.Options{
		Server: set.State.Server, Limits: set.State.Limits, Functions: set.Registry.Functions,
		History: set.Bus.Events.Backlog(), Log: log,
	}); err != nil {
		return err
	}
	b.closing(func(context.Context) error {
		_ = b.store.Close() // a server that has ended a connection before is no failure of this process
		return nil
	})
	if err := b.checkSchema(ctx); err != nil {
		return err
	}

	if b.bus, err = bus.Connect(ctx, bus.Options{
		Server: set.Bus.Server, Events: set.Bus.Events, Logs: set.Logs, Name: c.Name, Service: how.account,
		Propagator: b.telemetry.Propagator, Log: log,
	}); err != nil {
		return err
	}
	b.closing(b.bus.Close)
	b.add(app.Part{Name: "store", Run: b.reach})
	b.add(useProcessors())
	b.add(app.Part{Name: "clock", Run: b.store.KeepTime, Warns: b.store.ClockOff})
	b.add(app.Part{Name: "memory", Run: b.store.KeepMemory, Warns: b.store.MemoryWarning})
	b.add(app.Part{Name: "bus", Run: b.prepare, Ready: b.bus.Ready})
	b.dependencies()
	b.streams()

	issuers := how.issuers
	if set.Tokens.Keys != "" {
		keys, err := keyfile.Open(set.Tokens.Keys, b.store.Now, log)
		if err != nil {
			return fmt.Errorf("--server-keys: %w", err)
		}
		b.tokens = token.New(keys, b.store.Now, set.Tokens.Time)
		issuers = append(issuers, b.tokens.Trust())
		b.add(app.Part{Name: "server tokens", Routes: b.tokens.Routes})
	}
	if len(issuers) > 0 {
		if b.verifier, err = auth.New(auth.Options{Issuers: issuers, Now: b.store.Now,
			Known: b.store.ClockKnown, Log: log, Meter: b.telemetry.Meter}); err != nil {
			return err
		}
		b.add(app.Part{Name: "auth", Run: b.verifier.Run, Ready: b.verifier.Ready})
		description, err := openapi.New()
		if err != nil {
			return err
		}
		b.add(description)
	}
	if b.regions, err = receipt.Open(set.Regions, b.store.Now); err != nil {
		return err
	}
	if err := add(b, how.services); err != nil {
		return err
	}
	return b.serve(ctx, c, func(addr net.Addr) {
		b.address.Store(addr)
		if how.started != nil {
			how.started(addr, metrics)
		}
	})
}

// serveOne serves a part that is no service of the catalog.
func (c *common) serveOne(
	ctx context.Context, s streams, started func(net.Addr), open func(*builder) (app.Part, error),
) (err error) {
	log, err := app.Logger(s.err, c.LogLevel, c.LogFormat)
	if err != nil {
		return err
	}
	b := &builder{log: log}
	defer func() { err = errors.Join(err, b.close(context.WithoutCancel(ctx))) }()
	if _, err := b.observe(ctx, c); err != nil {
		return err
	}
	part, err := open(b)
	if err != nil {
		return err
	}
	b.add(part)
	return b.serve(ctx, c, started)
}

// observe names the process, and opens its telemetry. It returns where the metrics are, nil for nowhere.
func (b *builder) observe(ctx context.Context, c *common) (metrics net.Addr, err error) {
	if c.Name == "" {
		host, _ := os.Hostname()
		c.Name = cmp.Or(host, "matchmaker") + "-" + uuid.NewString()[:8]
	}
	b.name = c.Name
	if b.telemetry, err = export.Open(ctx, export.Options{
		Service: "matchmaker", Instance: c.Name, Version: version, Settings: c.Telemetry, Log: b.log,
	}); err != nil {
		return nil, err
	}
	b.closing(func(ctx context.Context) error { b.telemetry.Close(ctx); return nil })
	return b.metrics(ctx)
}

// serve serves the parts until ctx ends.
func (b *builder) serve(ctx context.Context, c *common, started func(net.Addr)) error {
	return app.Run(ctx, app.Options{
		Settings: c.Settings, Shutdown: c.Shutdown, Log: b.log, Started: started,
		Web: web.Options{Tracer: b.telemetry.Tracer, Propagator: b.telemetry.Propagator, Meter: b.telemetry.Meter},
	}, b.parts...)
}

// prepare makes the streams once, and then has nothing more to do.
func (b *builder) prepare(ctx context.Context) error {
	if err := b.bus.Prepare(ctx); err != nil {
		return nil //nolint:nilerr // the process was stopped before the bus ever answered
	}
	<-ctx.Done()
	return nil
}

// checkSchema refuses the state of another version before anything is done with it. A Redis that does not answer now is
// asked again by reach.
func (b *builder) checkSchema(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if other, is := errors.AsType[*state.SchemaError](b.store.CheckSchema(ctx, b.directs)); is {
		return other
	}
	return nil
}

// reach waits until Redis answers once, and says why it does not, whenever that is another reason than before. It fails
// when another version wrote the state.
func (b *builder) reach(ctx context.Context) error {
	said := ""
	for range wait.Every(ctx, time.Second) {
		err := b.store.CheckSchema(ctx, b.directs)
		if err == nil || ctx.Err() != nil {
			<-ctx.Done()
			return nil
		}
		if other, is := errors.AsType[*state.SchemaError](err); is {
			return other
		}
		if why, ok := errors.AsType[*problem.Error](err); ok && why.Detail != said {
			said = why.Detail
			b.log.ErrorContext(ctx, "waiting for Redis: "+said, "error", err)
		}
	}
	return nil
}

// api is where this process serves all APIs, for programs on this machine; "" before it does, and where it does not.
func (b *builder) api() string {
	addr, ok := b.address.Load().(*net.TCPAddr)
	if !b.complete || !ok {
		return ""
	}
	return localURL(addr)
}

// localURL is where processes on this machine reach the one that listens there.
func localURL(addr *net.TCPAddr) string {
	host := addr.IP
	if host.IsUnspecified() {
		host = net.IPv4(127, 0, 0, 1)
	}
	return "http://" + net.JoinHostPort(host.String(), strconv.Itoa(addr.Port))
}

func (b *builder) tracer(service string) telemetry.Tracer {
	return telemetry.NewTracer(b.telemetry.Tracer, service)
}

func (b *builder) add(p app.Part) { b.parts = append(b.parts, p) }

func (b *builder) closing(f func(context.Context) error) { b.closers = append(b.closers, f) }

// lastWords is how long connections may take to close.
const lastWords = 5 * time.Second

func (b *builder) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	var errs []error
	for i := len(b.closers) - 1; i >= 0; i-- {
		errs = append(errs, b.closers[i](ctx))
	}
	return errors.Join(errs...)
}

func (b *builder) ticket() error {
	var seats *seat.Passes
	if b.settings.Seats.Keys != "" {
		keys, err := keyfile.Open(b.settings.Seats.Keys, b.store.Now, b.log)
		if err != nil {
			return fmt.Errorf("--seat-keys: %w", err)
		}
		seats = seat.New(keys, b.store.Now, b.settings.Seats.Time)
		b.add(app.Part{Name: "seat passes", Routes: seats.Routes})
	}
	insights := insight.New(insight.Options{
		Store: b.store, Bus: b.bus, Verifier: b.verifier, Log: b.log, Now: time.Now, Settings: b.settings.Insight,
		Streams: b.settings.Ticket.Streams, Limit: b.limit("events"), Meter: b.telemetry.Meter,
		Definitions: b.settings.Definitions,
	})
	b.add(ticket.New(ticket.Options{
		Store: b.store, Bus: b.bus, Verifier: b.verifier, Log: b.log, Now: time.Now,
		Settings: b.settings.Ticket, Readable: b.settings.Results.Readable, Fields: b.settings.fields(),
		Reads: b.settings.Rates.Reads(), Bodies: b.settings.Rates.Bodies(), Seats: seats,
		Regions: b.regions,
		Meter:   b.telemetry.Meter, Tracer: b.tracer("ticket"), History: insights.History,
	}))
	b.add(insights.Part())
	b.add(result.New(result.Options{Store: b.store, Verifier: b.verifier, Passes: seats, Reads: b.settings.Rates.Reads(),
		Now: time.Now, Origins: b.settings.Ticket.Origins}))
	return nil
}

func (b *builder) party() error {
	b.add(party.New(party.Options{
		Store: b.store, Bus: b.bus, Verifier: b.verifier, Log: b.log, Now: time.Now,
		Settings: b.settings.Party, Regions: b.regions, Wait: b.settings.Ticket.Wait, Readable: b.settings.Results.Readable,
		Bodies: b.settings.Rates.Bodies(), Fields: b.settings.fields(), Meter: b.telemetry.Meter,
		Origins: b.settings.Ticket.Origins, Streams: b.settings.Ticket.Streams,
	}))
	return nil
}

func (b *builder) config() error {
	if err := b.ring(); err != nil {
		return err
	}
	var check func(project string, h *pb.Hosting) error
	if b.settings.Rules.File != "" {
		_, rules, err := readHosting(b.settings.Rules.File)
		if err != nil {
			return err
		}
		check = func(project string, h *pb.Hosting) error {
			return rules.Check(project, provider.Hosting{Profile: h.GetProfile(), Fleet: h.GetFleet()})
		}
	}
	webhooks, err := webhook.New(webhook.Options{
		Store: b.store, Bus: b.bus, Verifier: b.verifier, Log: b.log, Name: b.name, Settings: b.settings.Webhooks,
		Keys: b.keys, Limit: b.limit("configs"), Encode: insight.EncodeEvent, Meter: b.telemetry.Meter,
	})
	if err != nil {
		return err
	}
	b.add(webhooks.Part())
	b.add(config.New(config.Options{
		Store: b.store, Bus: b.bus, Verifier: b.verifier, Log: b.log, Limit: b.limit("configs"),
		Limits: b.settings.Definitions, Keys: b.keys, CheckHosting: check, WebhooksChanged: webhooks.Changed,
		Tracer: b.tracer("config"),
	}))
	return nil
}

func (b *builder) backfill() error {
	b.add(backfill.New(backfill.Options{
		Store: b.store, Bus: b.bus, Verifier: b.verifier, Log: b.log, Fields: b.settings.fields(),
		Bodies:      b.settings.Rates.Bodies(),
		Definitions: b.settings.Definitions, Settings: b.settings.Backfill, Readable: b.settings.Results.Readable,
		Meter: b.telemetry.Meter, Tracer: b.tracer("backfill"),
	}))
	return nil
}

// limit limits how often a project calls an API.
func (b *builder) limit(api string) echo.MiddlewareFunc {
	return ratelimit.PerProject(b.store, api, b.settings.Rates.API())
}

// registry shares its sandbox with a runner of the same process, if there is one.
func (b *builder) registry() error {
	if err := b.sandbox(); err != nil {
		return err
	}
	part, err := registry.New(registry.Options{
		Store: b.store, Bus: b.bus, Sandbox: b.box, Verifier: b.verifier, Log: b.log, Now: time.Now,
		Settings: b.settings.Registry, LogAge: b.settings.Logs.Age,
		Limit: b.limit("functions"), Meter: b.telemetry.Meter, Tracer: b.tracer("registry"),
	})
	b.add(part)
	return err
}

func (b *builder) runner() error {
	if err := b.sandbox(); err != nil {
		return err
	}
	o := runner.Options{
		Store: b.store, Bus: b.bus, Engine: runner.Processes(b.box), Name: b.name, Log: b.log, Now: time.Now,
		Settings: b.settings.Runner,
		Meter:    b.telemetry.Meter, Tracer: b.tracer("runner"),
	}
	r, err := runner.New(o)
	if err != nil {
		return err
	}
	b.add(app.Part{Name: "runner", Run: r.Run, Ready: r.Ready, Leave: r.HandOver})
	return nil
}

// sandbox makes the process's one sandbox, once.
func (b *builder) sandbox() error {
	if b.box != nil {
		return nil
	}
	o := b.settings.Sandbox.Options(b.settings.Instances)
	if o.Log = b.log; o.Dir == "" {
		made, err := os.MkdirTemp("", "matchmaker-modules-")
		if err != nil {
			return err
		}
		b.closing(func(context.Context) error { return os.RemoveAll(made) })
		o.Dir = made
	}
	var err error
	b.box, err = sandbox.New(o)
	if holes, ok := errors.AsType[*sandbox.HolesError](err); ok {
		return fmt.Errorf("%w; --sandbox=prefer starts all the same", holes)
	}
	if err != nil {
		return err
	}
	b.closing(func(context.Context) error { b.box.Close(); return nil })
	b.observeSandbox(b.box)
	return nil
}

// observeSandbox shows what the sandbox has on disk, and what waits to be compiled.
func (b *builder) observeSandbox(box *sandbox.Supervisor) {
	m := b.telemetry.Meter
	m.ObservableGauge("matchmaker.sandbox.disk", "By",
		"Modules and their machine code on disk, by state: held (they run, and are not removed) or cached.",
		func(_ context.Context, observe telemetry.Observe) {
			use := box.DiskUse()
			observe(float64(use.Held), attribute.String("state", "held"))
			observe(float64(use.Cached-use.Held), attribute.String("state", "cached"))
		})
	m.ObservableGauge("matchmaker.sandbox.disk.limit", "By",
		"The most that modules may take on disk: held (--max-module-disk), and all together (--module-cache) as long as "+
			"those that are held leave room.",
		func(_ context.Context, observe telemetry.Observe) {
			limits := box.DiskUse().Limits
			observe(float64(limits.Held), attribute.String("state", "held"))
			observe(float64(limits.Bytes), attribute.String("state", "all"))
		})
	for _, g := range []struct {
		name, unit, text string
		of               func(sandbox.Use) int64
	}{
		{"matchmaker.instance.threads", "{thread}", "Threads of an instance.",
			func(u sandbox.Use) int64 { return u.Threads }},
		{"matchmaker.instance.addresses", "By", "Address space of an instance.",
			func(u sandbox.Use) int64 { return u.Addresses }},
		{"matchmaker.instance.page_tables", "By", "Page tables of an instance.",
			func(u sandbox.Use) int64 { return u.PageTables }},
		{"matchmaker.instance.errors", "By", "Bytes that an instance wrote to its standard error.",
			func(u sandbox.Use) int64 { return u.Errors }},
	} {
		m.ObservableGauge(g.name, g.unit, g.text+" The most that any has now in this process.",
			func(_ context.Context, observe telemetry.Observe) { observe(float64(g.of(box.MostUsed()))) })
	}
	m.ObservableGauge("matchmaker.container.processes", "{process}",
		"Processes and threads of this container or unit, and the most that it may have, where there is a limit.",
		func(_ context.Context, observe telemetry.Observe) {
			used, limit := sandbox.Processes()
			observe(float64(used), attribute.String("kind", "used"))
			if limit > 0 {
				observe(float64(limit), attribute.String("kind", "limit"))
			}
		})
	m.ObservableGauge("matchmaker.sandbox.queue", "{module}",
		"Modules that wait for their turn to be compiled, by lane: quick or slow.",
		func(_ context.Context, observe telemetry.Observe) {
			quick, slow := box.Queued()
			observe(float64(quick), attribute.String("lane", "quick"))
			observe(float64(slow), attribute.String("lane", "slow"))
		})
}

func (b *builder) director() error {
	b.add(director.New(director.Options{
		Store: b.store, Bus: b.bus, Log: b.log, Now: time.Now, Name: b.name, Settings: b.settings.Director,
		Readable: b.settings.Results.Readable, Events: b.settings.Bus.Events.Age > 0, Meter: b.telemetry.Meter,
		Tracer: b.tracer("director"), Segments: b.settings.State.Limits.Configs.Segments,
	}))
	return nil
}

func (b *builder) allocator() error {
	if err := b.ring(); err != nil {
		return err
	}
	servers, err := b.servers()
	if err != nil {
		return err
	}
	b.add(allocator.New(allocator.Options{
		Store: b.store, Bus: b.bus, Provider: servers, Keys: b.keys, Tokens: b.tokens, Verifier: b.verifier,
		Log:      b.log,
		Settings: b.settings.Allocator, Readable: b.settings.Results.Readable, Renewable: b.settings.Tokens.Limit,
		Name: b.settings.Hosting.Provider, Meter: b.telemetry.Meter, Tracer: b.tracer("allocator"),
	}))
	return nil
}

// servers is where game servers come from.
func (b *builder) servers() (provider.Provider, error) {
	switch h := b.settings.Hosting; {
	case b.settings.Rules.File != "":
		return b.hosting(b.settings.Rules.File)
	case h.Provider == "local":
		return b.localFleet(h.Local)
	default:
		return instant.New(h.Instant.Connection), nil
	}
}

// ring opens the keys that hosting keys are encrypted with, once for all parts of a process.
func (b *builder) ring() (err error) {
	if b.keys != nil || b.settings.Keys.HostingKeys == "" {
		return nil
	}
	if b.keys, err = keyring.Open(b.settings.Keys.HostingKeys, b.store.Now); err != nil {
		return fmt.Errorf("--hosting-keys: %w", err)
	}
	return nil
}
