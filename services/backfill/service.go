// Package backfill is the Backfill API: running game servers describe their game and ask for players.
//
// In the second version a server keeps a backfill ticket: it creates the ticket, replaces it whenever its state
// changes, approves proposals periodically, and deletes it when it needs no more players. Match functions propose
// tickets to it in the director's cycles; an approval assigns those that are proposed at that moment. Every change by
// the server increments the ticket's record version, and rejects earlier proposals.
//
// The first version, one request for players at a time, is deprecated. Such a request runs one function for one server
// at once.
package backfill

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
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/state"
)

// Options are what the service needs.
type Options struct {
	Store    *state.Store
	Bus      Bus
	Verifier *auth.Verifier
	Log      *slog.Logger
	// Bodies is how many bytes a project may send in bodies to this process.
	Bodies state.Rate
	// Fields bound what a backfill ticket carries, Definitions the requests of the first generation.
	Fields      fields.Limits
	Definitions definition.Limits
	Settings    Settings
	// Readable is how long the result of a ticket can be read.
	Readable time.Duration
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
	// Tracer makes the spans; the zero Tracer makes none.
	Tracer telemetry.Tracer
}

// Bus is what the service needs of the bus: a *bus.Bus.
type Bus interface {
	StartRun(ctx context.Context, r *pb.RunRequest, parts func(bus.Part)) (*bus.Run, error)
	PokeTickets(ctx context.Context, project string, position uint64, queues ...string)
	NotifyResults(ctx context.Context, project string, tickets []string, results []*pb.Assignment)
}

type service struct {
	Options
	metrics *metrics
	adhoc   adhoc.Requester
	// own and changes count creates, replacements and deletes of a server and of a project, here and not in Redis: that
	// would cost as much as the request.
	own, changes *ratelimit.Local
}

// New makes the service.
func New(o Options) app.Part {
	s := &service{o, newMetrics(o.Meter), adhoc.Requester{Bus: o.Bus, Tracer: o.Tracer, Most: maxProposals},
		ratelimit.NewLocal("server-changes", o.Settings.approvals(), o.Store.Now),
		ratelimit.NewLocal("backfill-changes", o.Settings.changes(), o.Store.Now)}
	return app.Part{Name: "backfill", Routes: s.routes, Ready: o.Store.Ping}
}

// bases are the places where the contract lets one look for the second generation: beside the base address, below it,
// and at the root of the host, where the token names the project.
var bases = []string{
	"/:project/matchmaking/api/v2/backfill",
	web.Base + "/api/v2/backfill",
	"/api/v2/backfill",
}

func (s *service) routes(e *echo.Echo) {
	server := s.Verifier.Require(auth.Server)
	bodies := ratelimit.Bodies(s.Bodies, s.Store.Now)
	e.POST(web.Base+"/backfill", s.searchV1, s.deprecate, server,
		ratelimit.PerProject(s.Store, "backfill", s.Settings.requests()))
	for _, base := range bases {
		e.GET(base, s.list, s.Verifier.RequireLook(auth.Developer),
			ratelimit.PerProject(s.Store, "backfill-lists", state.Rate{PerSecond: 5, Burst: 20})) // each looks at a thousand
		e.POST(base, s.create, server, s.limitChanges, bodies)
		e.PUT(base+"/:backfill", s.replace, server, s.limitChanges, bodies)
		e.DELETE(base+"/:backfill", s.delete, server, s.limitChanges)
		e.POST(base+"/:backfill/approvals", s.approve, server)
	}
}

// limitChanges is a middleware that answers 429 when a server, or a project, changes backfill tickets too often. A
// server without a token of its own is known by the backfill ticket in the path, which a create does not have.
func (s *service) limitChanges(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		caller := cmp.Or(auth.From(c).Match, c.Param("backfill"))
		if err := s.own.AllowWithin(s.changes, auth.ProjectOf(c), caller); err != nil {
			return err
		}
		return next(c)
	}
}
