// Package party is the Parties API: players that search for a match together.
//
// A player makes a party and gives others its code. The leader starts the search: one ticket with all members as its
// players, in the same step in which the party says so. A join or a leave stops the search first, so a ticket that
// waits always has exactly the members of its party. A player is in one party at most.
//
// A member that is silent for too long leaves. When that is the leader, the oldest member follows. While no process
// listens, no member counts as silent.
//
// The service also finds and erases what is stored of a player of a project, for the studio (docs/privacy.md).
package party

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/presence"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/quota"
	"matchmaker.dev/services/internal/state"
)

// Options are what the service needs.
type Options struct {
	Store    *state.Store
	Bus      Bus
	Verifier *auth.Verifier
	Log      *slog.Logger
	Now      func() time.Time
	Settings Settings
	// Wait is the longest time that a request is held open.
	Wait time.Duration
	// Streams are the settings of streams of events.
	Streams stream.Settings
	// Origins are the web pages whose browsers may call the API, see web.CheckOrigins.
	Origins string
	// Readable is how long the reason can be read why a ticket ended, where it is told.
	Readable time.Duration
	// Bodies is how many bytes a project may send in bodies to this process.
	Bodies state.Rate
	// Regions believes receipts of beacons; nil if there are no regions.
	Regions *receipt.Verifier
	// Fields bound what a member, and the search, carry.
	Fields fields.Limits
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
}

// Bus is what the service needs of the bus: a *bus.Bus.
type Bus interface {
	NotifyParty(ctx context.Context, project string, changed *pb.PartyChanged)
	OnParty(handle func(project string, changed *pb.PartyChanged)) (bus.Subscription, error)
	PokeTickets(ctx context.Context, project string, position uint64, queues ...string)
	Poke(ctx context.Context, project string, p *pb.Poke)
	NotifyEnded(ctx context.Context, project string, tickets []string, reason string)
}

type service struct {
	Options
	waiters *waiters
	streams *stream.Streams
	sweeper *sweeper
	// presence notes requests for parties that search.
	presence *presence.Listener
	// requests and joins are counted here and not in Redis, as the reads of tickets are.
	requests, joins *ratelimit.Local
	lookups         *quota.Queue
}

// New makes the service.
func New(o Options) app.Part {
	s := &service{Options: o, waiters: newWaiters(o.Settings.Held, o.Settings.attention(), o.Meter),
		lookups: quota.NewQueue(quota.Options{Places: 1, Waiting: maxSearches, Now: o.Now})}
	s.streams = newStreams(&o, s.waiters.stopped)
	s.sweeper = newSweeper(s)
	s.presence = presence.New(presence.Options{Log: o.Log, Meter: o.Meter, Hear: o.Store.Hear,
		Settings: o.Store.Settings})
	s.requests = ratelimit.NewLocal("parties", o.Settings.requests(), o.Now)
	s.joins = ratelimit.NewLocal("party-joins", o.Settings.joins(), o.Now)
	return app.Part{Name: "party", Routes: s.routes, Run: s.run, Ready: o.Store.Ping, OnShutdown: s.waiters.stop}
}

func (s *service) routes(e *echo.Echo) {
	callers := s.Verifier.Require(auth.Player, auth.Service)
	readers := s.Verifier.RequireLook(auth.Player, auth.Service, auth.Developer)
	bodies := ratelimit.Bodies(s.Bodies, s.Now)
	handler := func(h func(echo.Context, string) error) echo.HandlerFunc {
		return bodies(func(c echo.Context) error {
			player, err := auth.PlayerOf(c)
			if err != nil {
				return err
			}
			if err := s.requests.Allow(c.Param("project"), player); err != nil {
				return err
			}
			return h(c, player)
		})
	}
	var paths []string
	add := func(method, path string, h func(echo.Context, string) error) {
		path = web.Base + "/parties" + path
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
		e.Add(method, path, callers(handler(h)))
	}
	add(echo.POST, "", s.create)
	add(echo.GET, "", s.mine)
	add(echo.POST, "/members", s.join)
	add(echo.GET, "/:party/events", s.follow)
	add(echo.DELETE, "/:party", s.disband)
	add(echo.PUT, "/:party/leader", s.handOver)
	add(echo.POST, "/:party/code", s.renew)
	add(echo.PUT, "/:party/members/:player", s.update)
	add(echo.DELETE, "/:party/members/:player", s.leave)
	add(echo.PUT, "/:party/search", s.start)
	add(echo.DELETE, "/:party/search", s.stop)
	member := handler(func(c echo.Context, player string) error { return s.read(c, c.Param("party"), player) })
	studio := ratelimit.PerProject(s.Store, "party-looks", state.Rate{PerSecond: 5, Burst: 20})(s.answerStudio)
	e.GET(web.Base+"/parties/:party", readers(func(c echo.Context) error {
		if auth.From(c).Kind == auth.Developer {
			return studio(c)
		}
		return member(c)
	}))
	web.NewCORS(s.Origins, allowedMethods, allowedHeaders, exposedHeaders).Allow(e, paths...)
	keepers := s.Verifier.Require(auth.Developer, auth.Service)
	e.GET(web.Base+"/players/:player", keepers(s.export))
	e.DELETE(web.Base+"/players/:player", keepers(s.erase))
}

// run wakes the requests that wait for changes, and looks for silent members. It returns when the streams have ended.
func (s *service) run(ctx context.Context) error {
	sub, err := s.Bus.OnParty(s.waiters.wake)
	if err != nil {
		return err
	}
	defer sub.Stop()
	defer s.streams.Drain()
	var both sync.WaitGroup
	both.Go(func() { s.sweeper.run(ctx) })
	both.Go(func() { s.presence.Run(ctx) })
	both.Wait()
	return nil
}

// What browsers may send from pages of allowed origins, and read of answers.
const (
	allowedMethods = "GET, HEAD, POST, PUT, DELETE"
	allowedHeaders = "Authorization, Baggage, Cache-Control, Content-Type, Idempotency-Key, If-None-Match, " +
		"Last-Event-ID, Prefer, Traceparent, Tracestate, X-Correlation-Id, X-On-Behalf-Of"
	exposedHeaders = "ETag, Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Correlation-Id"
)
