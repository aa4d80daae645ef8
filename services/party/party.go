package party

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// maxKicked is how many players a party keeps out. It removes no more: the first one would come again.
const maxKicked = 100

func (s *service) create(c echo.Context, player string) error {
	var in creation
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	size := s.Settings.Size
	if in.Size != nil {
		size = *in.Size
	}
	if size < 2 || size > s.Settings.Size {
		return problem.New(problem.Invalid, "size: 2 to %d members are expected", s.Settings.Size).
			Exceeds("max-party-members")
	}
	ctx, project, now := c.Request().Context(), c.Param("project"), s.Store.Now()
	leader, err := s.member(c, &in.membership, player, now.UnixMilli(), nil)
	if err != nil {
		return err
	}
	p := &pb.Party{
		Id: state.NewID(now), Created: now.UnixMilli(), Leader: player, Members: []*pb.Member{leader}, Size: int32(size),
	}
	for err = state.ErrCodeTaken; errors.Is(err, state.ErrCodeTaken); {
		p.Code = newCode()
		err = s.Store.CreateParty(ctx, project, p, s.Settings.limits())
	}
	if problem.KindOf(err) == problem.Conflict {
		return s.alreadyIn(ctx, project, player)
	}
	if err != nil {
		return err
	}
	s.sweeper.add(project)
	c.Response().Header().Set(echo.HeaderLocation, "parties/"+p.GetId())
	return s.respond(c, http.StatusCreated, p, player)
}

// member is what a player says of itself, by the settings that the project has now. had is the member until now, nil
// for a new one.
func (s *service) member(
	c echo.Context, in *membership, player string, joined int64, had *pb.Member,
) (*pb.Member, error) {
	ctx, project := c.Request().Context(), c.Param("project")
	settings, err := s.Store.Settings(ctx, project)
	if err != nil {
		return nil, err
	}
	by := speaker{caller: auth.From(c), settings: settings, then: settings, had: had, now: s.Store.Now(),
		measured: func() (map[string]float64, error) { return s.Regions.Verify(in.Receipts, c.Request()) }}
	if had != nil && had.GetSettings() != settings.GetRevision() {
		if by.then, err = s.settingsOf(ctx, project, had.GetSettings()); err != nil {
			return nil, err
		}
	}
	return in.record(player, joined, s.Fields, by)
}

// settingsOf are the settings of a project of a revision, without rules when they are not known any more.
func (s *service) settingsOf(ctx context.Context, project string, revision int64) (*pb.ProjectSettings, error) {
	all, err := s.Store.SettingsHistory(ctx, project)
	for _, one := range all {
		if one.GetRevision() == revision {
			return one, err
		}
	}
	return nil, err
}

// alreadyIn names the party that a player is in, so that one whose answer was lost finds it.
func (s *service) alreadyIn(ctx context.Context, project, player string) error {
	id, err := s.Store.PartyOf(ctx, project, player)
	if err != nil {
		return err
	}
	return problem.New(problem.AlreadyInParty, "the player is in party %q already: leave it first", id)
}

// mine answers the party that the player is in.
func (s *service) mine(c echo.Context, player string) error {
	project := c.Param("project")
	id, err := s.Store.PartyOf(c.Request().Context(), project, player)
	if err != nil {
		return err
	}
	if id == "" {
		return problem.New(problem.PartyNotFound, "the player is in no party")
	}
	return s.read(c, id, player)
}

// answerStudio answers a party to its studio at once, without the code.
func (s *service) answerStudio(c echo.Context) error {
	p, err := s.Store.Party(c.Request().Context(), c.Param("project"), c.Param("party"))
	if err != nil {
		return err
	}
	p.Code = ""
	return s.answer(c, p, "")
}

// knownTo is the ETag that the caller knows.
func knownTo(c echo.Context) string {
	return strings.TrimPrefix(c.Request().Header.Get("If-None-Match"), "W/") // a proxy that compresses makes it weak
}

// answer answers a party, or that it is as the caller knows it.
func (s *service) answer(c echo.Context, p *pb.Party, player string) error {
	if etag(p) == knownTo(c) {
		c.Response().Header().Set("ETag", etag(p))
		return c.NoContent(http.StatusNotModified)
	}
	return s.respond(c, http.StatusOK, p, player)
}

// read answers a party. With the ETag that the caller knows in If-None-Match, and 'Prefer: wait', the answer comes when
// the party has changed.
func (s *service) read(c echo.Context, id, player string) error {
	ctx, project := c.Request().Context(), c.Param("project")
	m := &reader{service: s, project: project, id: id, player: player}
	p, err := m.read(ctx)
	if wait := web.PreferredWait(c.Request().Header, s.Wait); err == nil && wait > 0 && etag(p) == knownTo(c) {
		var held bool
		if p, held, err = s.waiters.wait(ctx, project, player, wait, p, m.read); held {
			c.Response().Header().Set(web.PreferenceApplied, web.AppliedWait(wait))
		}
		if gone := c.Request().Context().Err(); gone != nil {
			return gone // the client is gone
		}
	}
	if err != nil {
		return err
	}
	return s.answer(c, p, player)
}

// reader is a member that reads its party. The read is a sign of life.
type reader struct {
	*service
	project, id, player string
	// heard is when it was noted last that the member is there.
	heard time.Time
}

// read reads the party as load does.
func (r *reader) read(ctx context.Context) (*pb.Party, error) {
	if now := time.Now(); now.Sub(r.heard) >= r.Settings.noted() {
		if err := r.hear(ctx, r.project, r.id, r.player); err != nil {
			return nil, err
		}
		r.heard = now
	}
	return r.load(ctx, r.project, r.id, r.player)
}

// load reads a party for one of its members, as a sign of life for the party and for the ticket of its search. To
// others the party does not exist.
func (s *service) load(ctx context.Context, project, id, player string) (*pb.Party, error) {
	p, err := s.Store.Party(ctx, project, id)
	if err != nil {
		return nil, err
	}
	if state.MemberOf(p, player) == nil {
		return nil, refused(id)
	}
	if ticket := p.GetSearch().GetTicket(); ticket != "" {
		s.presence.Heard(project, ticket)
	}
	return p, nil
}

// hear notes a sign of life of a member. It is no error when the player is none: the read that follows says so.
func (s *service) hear(ctx context.Context, project, id, player string) error {
	_, err := s.Store.HearOfMember(ctx, project, id, player, s.Settings.noted())
	return err
}

func (s *service) join(c echo.Context, player string) error {
	var in joining
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	code, err := readCode(in.Code)
	if err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	if err := s.joins.Allow(project, player); err != nil {
		return err
	}
	one, err := s.member(c, &in.membership, player, s.Store.Now().UnixMilli(), nil)
	if err != nil {
		return err
	}
	id, err := s.Store.PartyWith(ctx, project, code)
	if err != nil {
		return err
	}
	if id == "" {
		return noCode()
	}
	p, err := s.change(ctx, project, id, by(player), func(p *pb.Party) (*pb.Party, error) {
		switch {
		case state.MemberOf(p, player) != nil:
			return p, nil // the answer to an earlier request was lost
		case p.GetCode() != code || slices.Contains(p.GetKicked(), player):
			return nil, noCode()
		case len(p.GetMembers()) >= int(p.GetSize()):
			return nil, problem.New(problem.PartyFull, "the party is full: it has %d members", len(p.GetMembers()))
		}
		p.Members = append(p.Members, one)
		return p, nil
	})
	if problem.KindOf(err) == problem.NotFound {
		return noCode()
	}
	if err != nil {
		return err
	}
	return s.respond(c, http.StatusOK, p, player)
}

// noCode is the same for a code that never was, and for a player that was kicked.
func noCode() error {
	return problem.New(problem.PartyCodeUnknown, "code: no party can be joined with it")
}

// update replaces what a member says of itself. What others set stays.
func (s *service) update(c echo.Context, player string) error {
	var in membership
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	if c.Param("player") != player {
		return problem.New(problem.Forbidden, "a player changes its own membership only")
	}
	return s.changeAndRespond(c, player, func(p *pb.Party) (*pb.Party, error) {
		had := state.MemberOf(p, player)
		one, err := s.member(c, &in, player, had.GetJoined(), had)
		if err != nil {
			return nil, err
		}
		p.Members[slices.Index(p.GetMembers(), had)] = one
		return p, nil
	})
}

// leave ends a membership: a member's own, or, for the leader, any.
func (s *service) leave(c echo.Context, player string) error {
	leaver, a := c.Param("player"), by(player)
	if leaver != player {
		a.reason = reasonKicked
	}
	p, err := s.changeAsMember(c, a, func(p *pb.Party) (*pb.Party, error) {
		switch {
		case leaver != player && p.GetLeader() != player:
			return nil, notLeader(p)
		case state.MemberOf(p, leaver) == nil:
			return nil, problem.New(problem.MemberNotFound, "player %q is no member", leaver)
		}
		if leaver != player {
			if len(p.GetKicked()) >= maxKicked {
				return nil, problem.New(problem.TooManyKicks, "the party has removed %d players, the most it remembers: end it "+
					"and make another one", len(p.GetKicked())).Exceeds("party-kicks")
			}
			p.Kicked = append(p.Kicked, leaver)
		}
		return without(p, leaver), nil
	})
	if err != nil {
		return err
	}
	if leaver == player {
		return c.NoContent(http.StatusNoContent)
	}
	return s.respond(c, http.StatusOK, p, player)
}

// without is a party after players left it: unchanged if none of them is a member, and nil when no member is left. The
// oldest member follows a leader, and the code changes.
func without(p *pb.Party, players ...string) *pb.Party {
	before := len(p.GetMembers())
	p.Members = slices.DeleteFunc(p.GetMembers(), func(m *pb.Member) bool {
		return slices.Contains(players, m.GetPlayer())
	})
	switch len(p.GetMembers()) {
	case 0:
		return nil
	case before: // another process removed them
		return p
	}
	if state.MemberOf(p, p.GetLeader()) == nil {
		p.Leader = p.GetMembers()[0].GetPlayer()
		// mistake youngest: p.Leader = p.GetMembers()[len(p.GetMembers())-1].GetPlayer()
	}
	p.Code = newCode()
	return p
}

// disband ends the party.
func (s *service) disband(c echo.Context, player string) error {
	a := by(player)
	a.reason = reasonDisbanded
	_, err := s.changeAsMember(c, a, func(p *pb.Party) (*pb.Party, error) {
		if p.GetLeader() != player {
			return nil, notLeader(p)
		}
		return nil, nil
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *service) handOver(c echo.Context, player string) error {
	var in leadership
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	return s.changeAndRespond(c, player, func(p *pb.Party) (*pb.Party, error) {
		switch {
		case p.GetLeader() != player:
			return nil, notLeader(p)
		case state.MemberOf(p, in.Player) == nil:
			return nil, problem.New(problem.MemberNotFound, "player: %q is no member", in.Player)
		}
		p.Leader = in.Player
		return p, nil
	})
}

// renew gives the party another code; the code before becomes invalid.
func (s *service) renew(c echo.Context, player string) error {
	return s.changeAndRespond(c, player, func(p *pb.Party) (*pb.Party, error) {
		if p.GetLeader() != player {
			return nil, notLeader(p)
		}
		p.Code = newCode()
		return p, nil
	})
}

func notLeader(p *pb.Party) error {
	return problem.New(problem.NotLeader, "only the leader does this: that is player %q", p.GetLeader())
}

func (s *service) changeAndRespond(c echo.Context, player string, change func(*pb.Party) (*pb.Party, error)) error {
	p, err := s.changeAsMember(c, by(player), change)
	if err != nil {
		return err
	}
	return s.respond(c, http.StatusOK, p, player)
}

// changeAsMember changes the party in the path for one of its members. For other callers it does not exist.
func (s *service) changeAsMember(
	c echo.Context, a author, change func(*pb.Party) (*pb.Party, error),
) (*pb.Party, error) {
	ctx, project, id := c.Request().Context(), c.Param("project"), c.Param("party")
	if err := s.hear(ctx, project, id, a.player); err != nil {
		return nil, err
	}
	return s.change(ctx, project, id, a, func(p *pb.Party) (*pb.Party, error) {
		if state.MemberOf(p, a.player) == nil {
			return nil, refused(id)
		}
		return change(p)
	})
}

// author is the caller that changes a party.
type author struct {
	player  string   // "" for no particular player
	decline []string // the members whose change declines a match that asks the party
	reason  string   // why players that are no members then are none
}

func by(player string) author { return author{player, []string{player}, reasonLeft} }

// change changes a party, for its author. When that makes its members others, the search ends in the same step: a
// ticket that waits has the members of its party.
func (s *service) change(
	ctx context.Context, project, id string, a author, change func(*pb.Party) (*pb.Party, error),
) (*pb.Party, error) {
	limits := s.Settings.limits()
	limits.OnlySilent = a.reason == reasonSilent
	var before []string
	leaving := state.Leaving{By: a.player, Decline: a.decline, Readable: s.Readable}
	p, ended, err := s.Store.ChangeParty(ctx, project, id, limits, leaving, func(p *pb.Party) (*pb.Party, error) {
		before = playersOf(p)
		after, err := change(p)
		// mistake straggler: return after, err
		if after != nil && !slices.Equal(before, playersOf(after)) {
			after.Search = nil
		}
		return after, err
	})
	if err != nil {
		return p, err
	}
	if ended.Declined {
		s.Bus.Poke(ctx, project, &pb.Poke{Answered: true})
	}
	if ended.Ticket != "" {
		s.Bus.NotifyEnded(ctx, project, []string{ended.Ticket}, "deleted")
	}
	changed := &pb.PartyChanged{Party: id}
	for _, player := range before {
		if state.MemberOf(p, player) == nil {
			changed.Gone, changed.Reason = append(changed.Gone, player), a.reason
		}
	}
	s.Bus.NotifyParty(ctx, project, changed)
	s.sweeper.add(project)
	return p, nil
}

func playersOf(p *pb.Party) []string {
	var players []string
	for _, m := range p.GetMembers() {
		players = append(players, m.GetPlayer())
	}
	return players
}

// etag names the state of a party that a member knows.
func etag(p *pb.Party) string { return `"` + revision(p) + `"` }

func revision(p *pb.Party) string { return strconv.FormatInt(p.GetRevision(), 10) }

func (s *service) respond(c echo.Context, status int, p *pb.Party, player string) error {
	c.Response().Header().Set("ETag", etag(p))
	return c.JSON(status, bodyFor(p, player))
}
