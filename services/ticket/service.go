// Package ticket is the Tickets API: players start, read and end matchmaking.
//
// A create is answered 201 once the ticket is stored; from then on the state keeps it until it is deleted, resolved and
// expired, or expired by the waiting limit. A delete answered 200 is the truth: that ticket is never assigned
// afterwards. GETs and creates with 'Prefer: wait' are held until the ticket has a result.
package ticket

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/metric"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/presence"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket/seat"
)

// Options are what the service needs.
type Options struct {
	Store    *state.Store
	Bus      Bus
	Verifier *auth.Verifier
	Log      *slog.Logger
	Now      func() time.Time
	Settings Settings
	// Readable is how long the reason can be read why a ticket ended, where it is told.
	Readable time.Duration
	// Fields bound what a ticket carries.
	Fields fields.Limits
	// Reads is how often one player may GET, and as often DELETE, by this process.
	Reads state.Rate
	// Bodies is how many bytes a project may send in bodies to this process.
	Bodies state.Rate
	// Seats issues the seat passes of results; nil if there are no keys.
	Seats *seat.Passes
	// Regions believes receipts of beacons; nil if there are no regions.
	Regions *receipt.Verifier
	// History reads in which matches a ticket was, for studios; nil for not at all.
	History func(ctx context.Context, project, ticket string, created time.Time) *response.TicketHistory
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
	// Tracer makes the spans; the zero Tracer makes none.
	Tracer telemetry.Tracer
}

// Bus is what the service needs of the bus: a *bus.Bus.
type Bus interface {
	OnResults(handle func(project string, a bus.Assigned)) (bus.Subscription, error)
	PokeTickets(ctx context.Context, project string, position uint64, queues ...string)
	Poke(ctx context.Context, project string, p *pb.Poke)
	NotifyAssigned(ctx context.Context, project string, tickets []string)
	NotifyEnded(ctx context.Context, project string, tickets []string, reason string)
	OnEvents(project string, handle func(*pb.Events)) (bus.Subscription, error)
	TicketHeartbeat(ctx context.Context, s *pb.TicketStatus) error
	StartRun(ctx context.Context, r *pb.RunRequest, parts func(bus.Part)) (*bus.Run, error)
}

type service struct {
	Options
	creator       *state.Creator
	waiters       *waiters
	longPolls     *stream.Places
	streams       *stream.Streams
	events        *events
	settingsCache *settingsCache
	// presence notes requests for tickets, and ends tickets without any.
	presence *presence.Listener
	idle     metric.Int64Counter
	players  metric.Int64Counter
	projects *telemetry.Labels
	// estimates are asked for by GETs and streams.
	estimates *estimates
	// reminder logs that the keys of Seats are missing.
	reminder reminder
	// reads and deletes are counted here and not in Redis: a GET costs one read of it, and is not to cost two.
	reads, deletes *ratelimit.Local
	// adhoc asks functions about tickets.
	adhoc adhoc.Requester
}

// New makes the service.
func New(o Options) app.Part {
	s := &service{Options: o, waiters: newWaiters(),
		adhoc: adhoc.Requester{Bus: o.Bus, Tracer: o.Tracer, Most: explainProposals}}
	s.longPolls = newLongPollLimit(&o)
	s.streams = newStreams(&o, s.waiters.stopped)
	s.events = &events{hear: o.Bus.OnEvents, wake: s.waiters, log: o.Log, projects: map[string]*subscription{}}
	s.reads = ratelimit.NewLocal("reads", o.Reads, o.Now)
	s.deletes = ratelimit.NewLocal("deletes", o.Reads, o.Now)
	s.settingsCache = newSettingsCache(o.Store.Settings, o.Meter)
	s.estimates = newEstimates(o.Store.Waits, o.Now, o.Meter)
	s.idle = o.Meter.Counter("matchmaker.tickets.unheard", "{ticket}",
		"Tickets that ended without a request for them (tickets.silence in the project's settings).")
	s.players = o.Meter.Counter("matchmaker.tickets.players", "{player}",
		"Players of the tickets that were created. A ticket that names none has one.")
	s.projects = o.Meter.Labels("project")
	s.presence = presence.New(presence.Options{Log: o.Log, Meter: o.Meter, Hear: o.Store.Hear, Settings: o.Store.Settings,
		End: s.endIdle, Find: o.Store.FindSigns})
	s.creator = o.Store.Creator(o.Bus.PokeTickets)
	return app.Part{Name: "ticket", Routes: s.routes, Run: s.run, Ready: o.Store.Ping, OnShutdown: s.waiters.stop}
}

func (s *service) routes(e *echo.Echo) {
	callers := s.Verifier.Require(auth.Player, auth.Service)
	e.POST(web.Base+"/tickets", callers(ratelimit.Bodies(s.Bodies, s.Now)(s.create)))
	e.GET(web.Base+"/tickets", callers(s.get))
	e.DELETE(web.Base+"/tickets", callers(s.delete))
	e.POST(web.Base+"/tickets/acceptance", callers(s.answer))
	e.GET(web.TicketEvents, callers(s.follow))
	e.GET(web.Base+"/regions", s.regions, s.Verifier.RequireLook(auth.Player, auth.Developer, auth.Service))
	e.GET(web.Base+"/tickets/:ticket/explanation", s.explain, s.Verifier.RequireLook(auth.Developer))
	e.GET(web.Base+"/tickets/:ticket/explanation/capture", s.capture, s.Verifier.RequireLook(auth.Developer))
	web.NewCORS(s.Settings.Origins, allowedMethods, allowedHeaders, exposedHeaders).Allow(e,
		web.Base+"/tickets", web.Base+"/tickets/acceptance", web.TicketEvents, web.Base+"/regions")
}

// run wakes the requests that wait for a result, and ends idle tickets. It returns when the streams have ended.
func (s *service) run(ctx context.Context) error {
	sub, err := s.Bus.OnResults(s.waiters.wake)
	if err != nil {
		return err
	}
	defer sub.Stop()
	defer s.streams.Drain()
	var beating sync.WaitGroup
	defer beating.Wait()
	beating.Go(func() { s.beat(ctx) })
	s.presence.Run(ctx)
	return nil
}

// beatEvery is how often a process says that players can answer. Directors take three seconds for too long.
const beatEvery = time.Second

// beat says until ctx ends that players can answer a match, as long as the state store answers.
func (s *service) beat(ctx context.Context) {
	for range wait.Every(ctx, beatEvery) {
		if s.Store.Ping(ctx) == nil {
			err := s.Bus.TicketHeartbeat(ctx, &pb.TicketStatus{Sent: s.Store.Now().UnixMilli()})
			if err != nil && ctx.Err() == nil {
				s.Log.DebugContext(ctx, "directors do not learn that players can answer", "error", err)
			}
		}
	}
}

// What browsers may send from pages of allowed origins, and read of answers.
const (
	allowedMethods = "GET, HEAD, POST, DELETE"
	allowedHeaders = "Authorization, Baggage, Cache-Control, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, " +
		"Traceparent, Tracestate, X-Correlation-Id, X-On-Behalf-Of"
	exposedHeaders = "Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Correlation-Id"
)

// regions lists the regions whose latency clients can measure.
func (s *service) regions(c echo.Context) error {
	if err := s.reads.Allow(c.Param("project"), "regions of "+auth.From(c).Subject); err != nil {
		return err
	}
	all := response.Regions{Regions: []response.Region{}, ReceiptSeconds: int(s.Regions.Age() / time.Second)}
	for _, r := range s.Regions.Regions() {
		all.Regions = append(all.Regions, response.Region{Name: r.Name, Protocol: r.Protocol, UDP: r.UDP, URL: r.URL})
	}
	return c.JSON(http.StatusOK, all)
}

// endIdle ends the tickets of a project without a request during silence. It returns for how many others the last
// request is known.
func (s *service) endIdle(ctx context.Context, project string, silence, gap time.Duration) (int64, error) {
	for {
		found, err := s.Store.EndUnheard(ctx, project, silence, gap, s.Readable)
		if err != nil {
			return 0, err
		}
		if found.Ended > 0 {
			s.idle.Add(ctx, int64(found.Ended))
			s.Log.InfoContext(ctx, "idle tickets ended", "project", project, "tickets", found.Ended,
				"silent", silence)
			s.Bus.PokeTickets(ctx, project, found.Position)
			s.Bus.NotifyAssigned(ctx, project, found.Told) // requests that just came read the reason
		}
		if !found.More {
			return found.Known, nil
		}
	}
}
