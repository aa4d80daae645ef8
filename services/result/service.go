// Package result takes the results of matches, and makes ratings of them. It tells players which match they play.
//
// A result that was answered 200 counts, once, however often it is sent: it is stored in one step with the ratings that
// come of it. The package is a part of the ticket service's process.
package result

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket/seat"
)

// Options are what the service needs.
type Options struct {
	Store    *state.Store
	Verifier *auth.Verifier
	// Passes issues seat passes; nil if there are no keys.
	Passes *seat.Passes
	// Reads is how often one player may GET, by this process.
	Reads state.Rate
	// Origins are the web pages whose browsers may call what players call, see web.CheckOrigins.
	Origins string
	Now     func() time.Time
}

type service struct {
	Options
	// reports and reads are counted in this process.
	reports, reads *ratelimit.Local
}

// changes is how often a result is computed anew because a rating changed meanwhile.
const changes = 16

// New makes the service.
func New(o Options) app.Part {
	s := &service{Options: o,
		// How often one match's result may be reported to this process: more than any server has to.
		reports: ratelimit.NewLocal("results", state.Rate{PerSecond: 1, Burst: 60}, o.Now),
		reads:   ratelimit.NewLocal("matches", o.Reads, o.Now)}
	return app.Part{Name: "result", Routes: s.routes}
}

func (s *service) routes(e *echo.Echo) {
	e.POST(web.Base+"/matches/:match/result", s.report, s.Verifier.Require(auth.Server, auth.Service))
	look := s.Verifier.RequireLook(auth.Player, auth.Service, auth.Developer)
	pages := web.NewCORS(s.Origins, "GET, HEAD", "Authorization, Baggage, Cache-Control, Traceparent, Tracestate, "+
		"X-Correlation-Id, X-On-Behalf-Of", "RateLimit, RateLimit-Policy, Retry-After, X-Correlation-Id")
	for _, of := range []struct {
		path   string
		answer echo.HandlerFunc
		allow  echo.MiddlewareFunc
	}{
		{"/players/:player/match", s.running, s.Verifier.Require(auth.Player, auth.Service)},
		{"/players/:player/ratings", s.ratings, look}, {"/players/:player/ratings/history", s.history, look},
		{"/ratings/:rating/leaderboard", s.leaderboard, look},
	} {
		e.GET(web.Base+of.path, of.answer, of.allow)
		pages.Allow(e, web.Base+of.path)
	}
	standing := web.Base + "/players/:player/standing"
	e.GET(standing, s.standing, s.Verifier.RequireLook(auth.Service, auth.Developer))
	e.PUT(standing, s.setStanding, s.Verifier.Require(auth.Service, auth.Developer))
}

// mayReport refuses callers that may not report results.
func mayReport(p *auth.Principal, match string) error {
	if p.Kind == auth.Server && p.Match != "" && p.Match != match {
		return problem.New(problem.Forbidden, "the token is of the server of another match")
	}
	return auth.MustAct(p)
}

func (s *service) report(c echo.Context) error {
	project, match := c.Param("project"), c.Param("match")
	if err := mayReport(auth.From(c), match); err != nil {
		return err
	}
	if _, is := state.CreationTime(match); !is {
		return problem.New(problem.MatchUnknown, "the match was not found: no match has an identifier like this")
	}
	if err := s.reports.Allow(project, match); err != nil {
		return err
	}
	var in struct {
		Teams []response.ReportedTeam `json:"teams"`
	}
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	if err := check(in.Teams); err != nil {
		return err
	}
	players := playersIn(in.Teams)
	for range changes {
		basis, err := s.Store.ReadResult(c.Request().Context(), project, match, players)
		if err != nil {
			return err
		}
		// mistake recount: basis.Result = nil
		teams, err := placed(in.Teams, basis.Tickets)
		if err != nil {
			return err
		}
		if r := basis.Result; r != nil && proto.Equal(&pb.MatchResult{Teams: r.GetTeams()}, &pb.MatchResult{Teams: teams}) {
			return c.JSON(http.StatusOK, response.NewResult(r))
		}
		if missing := unread(basis, teams); len(missing) > 0 {
			players = append(players, missing...)
			continue
		}
		next := &pb.MatchResult{Teams: teams, Time: s.Store.Now().UnixMilli()}
		if next.First = next.GetTime(); basis.Result != nil {
			next.First, next.Corrections = basis.Result.GetFirst(), basis.Result.GetCorrections()+1
		}
		ratings, odds, err := rate(basis, next)
		if err != nil {
			return err
		}
		done, err := s.Store.PutResult(c.Request().Context(), project, basis, next,
			outcomeOf(basis.Played, teams, odds), ratings)
		if err != nil {
			return err
		}
		if done {
			return c.JSON(http.StatusOK, response.NewResult(next))
		}
	}
	return problem.New(problem.Unavailable, "ratings of these players change too fast, try again").After(time.Second)
}

// player is the player in the path. A player's token must be of that player.
func (s *service) player(c echo.Context) (string, error) {
	player, p := c.Param("player"), auth.From(c)
	switch {
	case !auth.IsPlayer(player):
		return "", problem.New(problem.Invalid, "player: up to 256 bytes of printable UTF-8 are expected")
	case p.Kind == auth.Player && p.Subject != player:
		return "", problem.New(problem.Forbidden, "a player asks for itself only")
	case p.Kind == auth.Developer:
		return player, nil
	}
	if _, _, err := auth.TicketReader(p); err != nil {
		return "", err
	}
	return player, s.reads.Allow(c.Param("project"), player)
}

func (s *service) running(c echo.Context) error {
	player, err := s.player(c)
	if err != nil {
		return err
	}
	project := c.Param("project")
	m, err := s.Store.RunningMatch(c.Request().Context(), project, player)
	if err != nil {
		return err
	}
	t := ticketOf(m, player)
	if t == nil {
		return problem.New(problem.MatchUnknown, "the player is in no match that has no result yet")
	}
	shown := response.RunningMatch{Match: m.ID, Ticket: t.Ticket, Team: t.Team, Connection: m.GetConnection(),
		Began: m.Created.Format(time.RFC3339Nano), Due: m.Due.Format(time.RFC3339Nano)}
	if m.GetSeats() && s.Passes != nil {
		shown.Seat, err = s.Passes.Sign(seat.Seat{Player: player, Project: project, Ticket: t.Ticket, Match: m.ID,
			Connection: m.GetConnection()})
		if err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, shown)
}
