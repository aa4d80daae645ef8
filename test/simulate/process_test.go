package simulate

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/backfill"
	"matchmaker.dev/services/config"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/party"
	"matchmaker.dev/services/registry"
	"matchmaker.dev/services/result"
	"matchmaker.dev/services/runner"
	"matchmaker.dev/services/ticket"
	"matchmaker.dev/services/ticket/seat"
)

// Settings of the services.
const (
	leaseTime    = 2 * time.Second
	claimTime    = 4 * time.Second
	hostTime     = 6 * time.Second
	callTime     = 3 * time.Second
	approvalTime = 3 * time.Second
	silenceTime  = 10 * time.Second
	unservedTime = time.Second
	readable     = 10 * time.Minute
)

// process is one life of a replica of a service.
type process struct {
	// name tells the replica and its life, as in director-1.3.
	name string
	// killed ends when the process is dead, life when it is to stop.
	killed, life context.Context
	kill, stop   context.CancelFunc
	// stopped is closed when all of it has ended.
	stopped chan struct{}
	edge    *echo.Echo
	// frozen: the process stands still. It belongs to the goroutine of the gate.
	frozen bool
	// ahead is by how much the clock of its host is wrong.
	ahead time.Duration
}

// now is the clock of the process's host.
func (p *process) now() time.Time { return time.Now().Add(p.ahead) }

// clockErrors are how wrong the clocks of hosts are, each for a life of a replica.
var clockErrors = []time.Duration{
	0, 0, 0, 6 * time.Second, -11 * time.Second, time.Minute, -61 * time.Minute, 61 * time.Minute, 24 * time.Hour,
	-24 * time.Hour,
}

// clockError draws how wrong the clock of a life is.
func (w *world) clockError(name string) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return clockErrors[rand.New(rand.NewPCG(w.Seed, h.Sum64())).IntN(len(clockErrors))]
}

func newProcess(ctx context.Context, name string) *process {
	p := &process{name: name, stopped: make(chan struct{})}
	p.killed, p.kill = context.WithCancel(ctx)
	p.life, p.stop = context.WithCancel(p.killed)
	return p
}

func (p *process) dead() bool { return p.killed.Err() != nil }

// open opens the state as the process sees it.
func (w *world) open(p *process) (*state.Store, error) {
	return state.Open(state.Options{
		Server: state.Server{URL: "redis://127.0.0.1:6379"}, Limits: limits(), Log: w.log, History: 1 << 20, Host: p.now,
		Clock: time.Now,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			if p.dead() {
				return nil, errLost
			}
			return newLink(w.store, p)
		},
	})
}

func limits() state.Limits {
	l := settings.Default[state.Limits]()
	l.PlayerRate, l.ProjectRate = 0, 0
	return l
}

// start starts a new life of a replica, which is named as in director-1.
func (w *world) start(ctx context.Context, replica string) error {
	w.lives[replica]++
	p := newProcess(ctx, fmt.Sprintf("%s.%d", replica, w.lives[replica]))
	hosts := p.name // each life is on another one
	if strings.HasPrefix(replica, "runner") {
		hosts = replica // whose files a runner finds again
	}
	if p.ahead = w.clockError(hosts); p.ahead != 0 {
		w.noteFault("clock "+p.ahead.String(), p.name)
	}
	store, err := w.open(p)
	if err != nil {
		return err
	}
	part, err := w.part(replica, p, store)
	if err != nil {
		return err
	}
	if part.Routes != nil {
		p.edge = web.New(w.log, web.Options{})
		part.Routes(p.edge)
	}
	w.setProcess(replica, p)
	w.running.Go(func() { _ = store.KeepTime(p.life) })
	w.running.Go(func() {
		defer close(p.stopped)
		if part.Run != nil {
			if err := part.Run(p.life); err != nil && !p.dead() {
				w.fail("%s ended: %v", p.name, err)
			}
		} else {
			<-p.life.Done()
		}
		if part.OnShutdown != nil {
			part.OnShutdown()
		}
		p.kill()
		_ = store.Close()
	})
	return nil
}

// part makes the service of a replica.
func (w *world) part(replica string, p *process, store *state.Store) (app.Part, error) {
	role, _, _ := strings.Cut(replica, "-")
	b, log, now := port{w.hub, p}, w.log.With("process", p.name), p.now
	bounds := settings.Default[fields.Limits]()
	bounds.Name = 128
	switch role {
	case "director":
		s := settings.Default[director.Settings]()
		s.Lease, s.Claim, s.Approval, s.Unserved = leaseTime, claimTime, approvalTime, unservedTime
		s.Cores = 8 // a run without an answer counts as if it had worked all the time: with one core, its config rests long
		return director.New(director.Options{
			Store: store, Bus: b, Log: log, Now: now, Name: p.name, Settings: s, Readable: readable, Events: true,
		}), nil
	case "runner":
		s := settings.Default[runner.Settings]()
		s.MaxInstances, s.Hosts, s.KeepFrom = 2, 1+int(w.Seed%2), 2
		r, err := runner.New(runner.Options{
			Store: store, Bus: b, Engine: newBox(), Name: p.name, Log: log, Now: now, Settings: s,
		})
		if err != nil {
			return app.Part{}, err
		}
		return app.Part{Run: r.Run}, nil
	case "registry":
		s := settings.Default[registry.Settings]()
		s.Versions, s.ModuleGrace = 3, 20*time.Second
		return registry.New(registry.Options{
			Store: store, Bus: b, Sandbox: newBox(), Verifier: w.verifier, Log: log, Now: now, Settings: s,
		})
	case "allocator":
		s := settings.Default[allocator.Settings]()
		s.Deadline, s.Call, s.Hold, s.Retry = hostTime, callTime, ackWait, 2*time.Second
		return allocator.New(allocator.Options{
			Store: store, Bus: b, Provider: hosting{w.fleet, p}, Name: "fleet", Log: log, Settings: s,
			Readable: readable, Renewable: time.Hour,
		}), nil
	case "ticket":
		part := ticket.New(ticket.Options{
			Store: store, Bus: b, Verifier: w.verifier, Log: log, Now: now, Settings: settings.Default[ticket.Settings](),
			Fields: bounds, Readable: readable, Seats: seat.New(w.seats, store.Now, time.Hour),
		})
		tickets, results := part.Routes, result.New(result.Options{Store: store, Verifier: w.verifier, Now: now}).Routes
		part.Routes = func(e *echo.Echo) { tickets(e); results(e) }
		return part, nil
	case "party":
		s := settings.Default[party.Settings]()
		s.Silence, s.JoinRate, s.Rate = silenceTime, 0, 0
		return party.New(party.Options{
			Store: store, Bus: b, Verifier: w.verifier, Log: log, Now: now, Settings: s, Wait: 20 * time.Second,
			Fields: bounds, Readable: readable,
		}), nil
	case "backfill":
		return backfill.New(backfill.Options{
			Store: store, Bus: b, Verifier: w.verifier, Log: log, Fields: bounds,
			Settings: settings.Default[backfill.Settings](), Readable: readable,
		}), nil
	default:
		return config.New(config.Options{
			Store: store, Bus: b, Verifier: w.verifier, Log: log, Limits: settings.Default[definition.Limits](),
		}), nil
	}
}

// discard drops what services log.
func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
