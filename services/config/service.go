// Package config is the Configs API: studios say which function matches which pools of tickets, and where the matches
// get their game servers.
//
// It also serves the settings of projects: what a project asks of the service besides its configs.
//
// A config works from the moment its POST or PUT is answered: the next cycle uses it. From the moment its DELETE is
// answered no match of it is claimed.
//
// A config with faults is refused with the list of all of them, the contract's ValidationErrorResponse; README.md
// beside this file has the result codes. What is no JSON at all is refused as everywhere, with a problem body.
package config

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/state"
)

// Options are what the service needs.
type Options struct {
	Store    *state.Store
	Bus      Bus
	Verifier *auth.Verifier
	Log      *slog.Logger
	// Limits bound configs; zeros stand for the defaults.
	Limits definition.Limits
	// Limit comes behind the check of the token; nil for none.
	Limit echo.MiddlewareFunc
	// Keys encrypt the hosting keys of configs; nil where configs may have none.
	Keys *keyring.Ring
	// CheckHosting says why a project may not use a hosting; nil where the rules of hosting are not known. Then players
	// get an error instead of a server.
	CheckHosting func(project string, h *pb.Hosting) error
	// WebhooksChanged is called after the settings of a project were replaced; may be nil.
	WebhooksChanged func()
	// Tracer makes the spans of runs; the zero Tracer makes none.
	Tracer telemetry.Tracer
	// JudgeTime is how long a request waits for what a function says of its settings; 2 s when it is 0.
	JudgeTime time.Duration
}

// Bus is what the service needs of the bus: a *bus.Bus.
type Bus interface {
	Poke(ctx context.Context, project string, p *pb.Poke)
	StartRun(ctx context.Context, r *pb.RunRequest, parts func(bus.Part)) (*bus.Run, error)
}

type service struct {
	Options
	// adhoc asks functions whether they accept settings.
	adhoc       adhoc.Requester
	simulations simulations
}

// New makes the service.
func New(o Options) app.Part {
	o.JudgeTime = cmp.Or(o.JudgeTime, judgeTime)
	s := &service{Options: o, adhoc: adhoc.Requester{Bus: o.Bus, Tracer: o.Tracer},
		simulations: simulations{stopped: make(chan struct{}), projects: map[string]int{}}}
	return app.Part{Name: "config", Routes: s.routes, Run: s.run, Ready: o.Store.Ping}
}

// run returns when no simulation is followed any more.
func (s *service) run(ctx context.Context) error {
	<-ctx.Done()
	s.simulations.stop()
	return nil
}

func (s *service) routes(e *echo.Echo) {
	developer := web.Steps(s.Verifier.Require(auth.Developer), s.Limit)
	look := web.Steps(s.Verifier.RequireLook(auth.Developer), s.Limit)
	e.POST(web.Base+"/configs", s.create, developer...)
	e.GET(web.Base+"/configs", s.list, look...)
	e.GET(web.Base+"/configs/:config", s.get, look...)
	e.PUT(web.Base+"/configs/:config", s.put, developer...)
	e.DELETE(web.Base+"/configs/:config", s.delete, developer...)
	e.GET(web.Base+"/configs/:config/history", s.history, look...)
	e.POST(web.Base+"/configs/:config/actions/rollback", s.rollback, developer...)
	e.POST(web.Base+"/configs/actions/check", s.check, developer...)
	e.POST(web.Base+"/simulations", s.simulate, look...)
	e.GET(web.Base+"/simulations/:simulation", s.simulation, look...)
	e.GET(web.Base+"/settings", s.getSettings, look...)
	e.PUT(web.Base+"/settings", s.putSettings, developer...)
	e.GET(web.Base+"/changes", s.changes, look...)
	e.GET(web.Base+"/settings/history", s.settingsHistory, look...)
}

// store writes a config, if the one that is there is what the condition asks for, and gives it its revision. Masked
// keys, and a secret that was not sent beside the same access key, are taken from the config that is there.
func (s *service) store(ctx context.Context, project string, c *pb.Config, keys *definition.HostingKeys,
	asked condition) error {
	err := s.change(ctx, project, c.GetId(), asked, needsStored(keys), func(expected int64, there *pb.Config) (err error) {
		if err := s.seal(project, c, keys, there); err != nil {
			return err
		}
		c.Revision, _, err = s.Store.PutConfig(ctx, project, c, expected)
		return err
	})
	if err == nil {
		s.Bus.Poke(ctx, project, &pb.Poke{Configs: true})
	}
	return err
}

func (s *service) remove(ctx context.Context, project, id, by string, asked condition) error {
	var there bool
	err := s.change(ctx, project, id, asked, false, func(expected int64, _ *pb.Config) (err error) {
		there, err = s.Store.DeleteConfig(ctx, project, id, expected, by)
		return err
	})
	// mistake config: there = false
	if err == nil && there {
		s.Bus.Poke(ctx, project, &pb.Poke{Configs: true, Deleted: id})
	}
	return err
}

// change makes a change that takes place only while the config has the expected revision, and may be based on that
// config, which is nil when there is none. When another change is faster it asks again whether the condition holds. A
// change that is not based on what is there, and has no condition, is made to whatever it is.
func (s *service) change(ctx context.Context, project, id string, asked condition, based bool,
	do func(expected int64, there *pb.Config) error) error {
	if asked.none() && !based {
		return do(state.AnyRevision, nil)
	}
	for last := state.AnyRevision; ; {
		there, err := s.Store.Config(ctx, project, id)
		if problem.KindOf(err) == problem.NotFound {
			there, err = nil, nil
		}
		if err != nil {
			return err
		}
		revision := there.GetRevision() // state.NoRevision when there is none
		if !asked.holds(revision) {
			return conditionFailed(id, revision)
		}
		// A conflict over the same revision as before has another reason.
		if err := do(revision, there); problem.KindOf(err) != problem.Conflict || revision == last {
			return err
		}
		last = revision
	}
}

func conditionFailed(id string, revision int64) error {
	if revision == state.NoRevision {
		return problem.New(problem.EtagMismatch,
			"there is no config %q, and the request's condition (If-Match) wants one", id)
	}
	return problem.New(problem.EtagMismatch,
		"config %q has the ETag %s, which the request's condition (If-Match or If-None-Match) excludes: "+
			"get it again, then decide", id, etag(revision))
}
