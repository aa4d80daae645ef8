package allocator

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// grace is how long a server is kept in the state store after its last token expired.
const grace = time.Minute

func (s *service) routes(e *echo.Echo) {
	if s.Tokens != nil {
		e.POST(web.Base+"/servers/token", s.renew, s.Verifier.Require(auth.Server))
	}
}

// renew gives a game server a new token for its old one, while its allocation lives.
func (s *service) renew(c echo.Context) error {
	ctx, project, p := c.Request().Context(), c.Param("project"), auth.From(c)
	if p.Match == "" {
		return problem.New(problem.Forbidden,
			"the token is not one that a game server got with its allocation: its issuer renews it")
	}
	if err := s.renewals.Allow(project, p.Match); err != nil {
		return err
	}
	status, server, err := s.Store.GameServer(ctx, project, p.Match, s.Tokens.TTL()+grace)
	switch {
	case err != nil:
		return err
	case status == state.MatchActive:
		return problem.New(problem.Unavailable, "the match is not assigned yet: come again").After(time.Second)
	case server == nil:
		return errEnded()
	}
	ref, err := s.refOf(project, p.Match, server.GetConfig(), provider.Hosting{
		Profile: server.GetHosting().GetProfile(), Fleet: server.GetHosting().GetFleet(), Region: server.GetRegion(),
	}, server.GetHosting())
	if err != nil {
		return err
	}
	if !s.lives(ctx, ref, server) {
		return errEnded()
	}
	text, expires, err := s.mint(ctx, ref, server.GetBackfill())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, response.ServerToken{Token: text, Expires: expires.UnixMilli()})
}

func errEnded() error {
	return problem.New(problem.AllocationEnded, "the allocation of this server has ended: its token is not renewed")
}

// lives asks the hosting system whether a server runs. When the system cannot tell, the server counts as running until
// Settings.Renewable after its allocation.
func (s *service) lives(ctx context.Context, ref provider.Ref, server *pb.GameServer) bool {
	ctx, cancel := context.WithTimeout(ctx, s.Settings.Call)
	defer cancel()
	results, err := s.Provider.Poll(ctx, []provider.Ref{ref})
	if err == nil && len(results) == 1 {
		switch results[0].Status {
		case provider.Allocated, provider.Pending:
			return true
		case provider.Gone, provider.Failed:
			return false
		}
	}
	if err != nil {
		s.Log.WarnContext(ctx, "asking whether a server runs", "project", ref.Project, "match", ref.Match, "error", err)
	}
	return s.Store.Now().Before(time.UnixMilli(server.GetAllocated()).Add(s.Renewable))
}
