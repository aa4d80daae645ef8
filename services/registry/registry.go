// Package registry is the Functions API: it takes uploaded match functions, says which there are, whether they run and
// what they logged, restarts and removes them.
//
// An upload is a .zip, a .tar.gz or a bare .wasm. Its module is checked as the runners will start it, kept in the bus's
// object store under its hash, and then written as the function's desired state, which every runner reconciles. The
// last few uploads are kept, to go back to; a module that none of them has is removed.
//
// A function goes back to its last good upload by itself when a new one fails on runs that the good one passes
// (rollback.go). A new upload may first run in the shadow of the one that serves (shadow.go), or as a canary, for a
// part of the runs (canary.go).
//
// The registry knows what runs from the runners' heartbeats alone. Every replica keeps them in memory, and is not ready
// before all runners have had the time to send one.
package registry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/quota"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/state"
)

// Options are what the service needs. Of the members from Archive on a zero means the default.
type Options struct {
	Store    *state.Store
	Bus      Bus
	Sandbox  Sandbox
	Verifier *auth.Verifier
	Log      *slog.Logger
	Now      func() time.Time
	// Limit comes behind the check of the token; nil for none.
	Limit echo.MiddlewareFunc

	// Settings.Functions spares a hopeless upload the work. The Store must have the same limit, and enforces it.
	Settings Settings
	// LogAge is how long the bus keeps logs. The time span of a request for logs may be as long, and always up to a day.
	LogAge time.Duration

	// Archive is the most bytes an uploaded file may have: 32 MiB.
	Archive int
	// Module is the most bytes a module may have: 8 MiB. The sandbox must have the same limit.
	Module int
	// Heartbeat is the interval of runners' heartbeats: 500 ms. A runner that is silent for three times as long is gone,
	// with all its instances.
	Heartbeat time.Duration
	// Grace is how long after an upload or a restart a function that no runner reports is Pending, before it is Not
	// Running: 10 s.
	Grace time.Duration
	// LogAnswer is about how many bytes of lines an answer has: 4 MiB.
	LogAnswer int
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
	// Tracer makes the spans; the zero Tracer makes none.
	Tracer telemetry.Tracer
}

// Bus is what the service needs of the bus: a *bus.Bus.
type Bus interface {
	Ready(ctx context.Context) error
	Connected() bool
	Poke(ctx context.Context, project string, p *pb.Poke)
	OnHeartbeat(handle func(*pb.RunnerStatus)) (bus.Subscription, error)
	PutModule(ctx context.Context, name string, module []byte) error
	Module(ctx context.Context, name string) ([]byte, error)
	DeleteModule(ctx context.Context, name string) error
	Modules(ctx context.Context) ([]string, error)
	ModuleBytes(ctx context.Context) (int64, error)
	ReadLog(ctx context.Context, project, function string, from bus.LogStart, take func(*pb.LogLines) bool) (uint64, error)
	ShareLogs(ctx context.Context) (removed uint64, err error)
}

// Sandbox checks modules: a *sandbox.Supervisor.
type Sandbox interface {
	Load(ctx context.Context, owner string, wasm []byte) (*sandbox.Module, sandbox.Cost, error)
	Release(m *sandbox.Module)
}

func (o *Options) complete() error {
	if o.Store == nil || o.Bus == nil || o.Sandbox == nil || o.Verifier == nil || o.Log == nil || o.Now == nil {
		return errors.New("registry: Store, Bus, Sandbox, Verifier, Log and Now are needed")
	}
	o.Archive, o.Module = cmp.Or(o.Archive, 32<<20), cmp.Or(o.Module, sandbox.DefaultLimits().Module)
	o.Heartbeat, o.Grace = cmp.Or(o.Heartbeat, 500*time.Millisecond), cmp.Or(o.Grace, 10*time.Second)
	o.LogAnswer = cmp.Or(o.LogAnswer, 4<<20)
	return nil
}

// registry is the service.
type registry struct {
	Options
	runners   *runnerView
	admission *admission
	logReads  *quota.Queue
	pace      *ratelimit.Local // of them, in microseconds of a processor
	inventory inventory
	metrics   *metrics
}

// New makes the service. It does no I/O before it is run.
func New(o Options) (app.Part, error) {
	r, err := newRegistry(o)
	if err != nil {
		return app.Part{}, err
	}
	return r.part(), nil
}

func newRegistry(o Options) (*registry, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	r := &registry{
		Options:   o,
		runners:   newRunnerView(o.Heartbeat, o.Grace, o.Now, o.Store.Now),
		admission: newAdmission(),
		logReads:  newLogReads(),
		pace:      ratelimit.NewLocal("log", state.Rate{PerSecond: readPace, Burst: readPace}, o.Now),
	}
	r.metrics = newMetrics(o.Meter, r)
	return r, nil
}

func (r *registry) part() app.Part {
	return app.Part{Name: "registry", Routes: r.routes, Run: r.run, Ready: r.ready}
}

func (r *registry) routes(e *echo.Echo) {
	const functions = web.Base + "/functions"
	developer := web.Steps(r.Verifier.Require(auth.Developer), r.Limit)
	look := web.Steps(r.Verifier.RequireLook(auth.Developer), r.Limit)
	// The upload measures its file itself and answers 400, as the contract says; this limit is for the rest of a form.
	upload := web.LimitBody(int64(r.Archive) + 2*formOverhead)

	e.GET(functions, r.list, look...)
	for _, name := range []string{"/:name", "/"} { // an empty name is one that is invalid
		e.PUT(functions+name, named(r.put), append(developer, upload)...)
		e.GET(functions+name, named(r.get), look...)
		e.DELETE(functions+name, named(r.remove), developer...)
	}
	e.GET(functions+"/:name/log", named(r.logs), look...)
	e.GET(functions+"/:name/versions", named(r.versions), look...)
	e.POST(functions+"/:name/actions/rollback", named(r.rollback), developer...)
	e.POST(functions+"/:name/actions/shadow", named(r.shadow), developer...)
	e.POST(functions+"/:name/actions/canary", named(r.canary), developer...)
	e.POST(functions+"/:name/actions/promote", named(r.promote), developer...)
	e.POST(functions+"/:name/actions/return", named(r.automaticReturn), developer...)
	e.POST(functions+"/actions/restart", r.restart, developer...)
}

// run follows the runners' heartbeats, and removes unused modules, until ctx ends.
func (r *registry) run(ctx context.Context) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { r.sweepLoop(ctx) })
	parts.Go(func() { r.shareLogs(ctx) })
	parts.Go(func() { r.followRuns(ctx) })
	heartbeats, err := r.Bus.OnHeartbeat(r.runners.receive)
	if err != nil {
		return err
	}
	defer heartbeats.Stop()
	for range wait.Every(ctx, r.Heartbeat/2) {
		r.runners.setConnected(r.Bus.Connected())
	}
	return nil
}

func (r *registry) ready(ctx context.Context) error {
	return errors.Join(r.Store.Ping(ctx), r.Bus.Ready(ctx), r.runners.ready())
}
