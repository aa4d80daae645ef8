package party

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/state"
)

// start begins the search. One that has begun goes on: the answer to an earlier request may have been lost.
func (s *service) start(c echo.Context, player string) error {
	var in searching
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	if err := in.Check(s.Fields); err != nil {
		return err
	}
	queues, err := fields.CheckQueues(in.Queues)
	if err != nil {
		return err
	}
	in.Queues = queues
	caller := auth.From(c)
	ctx, project, id := c.Request().Context(), c.Param("project"), c.Param("party")
	if err := s.hear(ctx, project, id, player); err != nil {
		return err
	}
	for {
		p, err := s.Store.Party(ctx, project, id)
		if err != nil {
			return err
		}
		if err := mayStart(p, player); err != nil {
			return err
		}
		switch waits, err := s.searches(ctx, project, p); {
		case err != nil:
			return err
		case waits:
			return s.respond(c, http.StatusOK, p, player)
		}
		settings, err := s.Store.Settings(ctx, project)
		if err != nil {
			return err
		}
		t, err := s.ticketOf(p, in, settings, caller)
		if err != nil {
			return err
		}
		next := proto.CloneOf(p)
		next.Search = &pb.Search{Ticket: t.GetId(), Started: t.GetCreated()}
		changed, position, ended, err := s.Store.StartSearch(ctx, project, next, t, settings, s.Readable,
			s.Settings.noted())
		if err != nil {
			return err
		}
		if changed {
			continue
		}
		s.presence.Heard(project, t.GetId())
		s.Bus.PokeTickets(ctx, project, position)
		s.Bus.NotifyParty(ctx, project, &pb.PartyChanged{Party: id})
		if len(ended) > 0 {
			s.Bus.NotifyEnded(ctx, project, ended, "replaced") // requests that wait for them learn that they are gone
		}
		return s.respond(c, http.StatusOK, next, player)
	}
}

// mayStart says why a player cannot start the search of a party.
func mayStart(p *pb.Party, player string) error {
	if state.MemberOf(p, player) == nil {
		return refused(p.GetId())
	}
	if p.GetLeader() != player {
		return notLeader(p)
	}
	for _, m := range p.GetMembers() {
		// mistake unready: continue
		if !m.GetReady() {
			return problem.New(problem.MemberNotReady, "player %q is not ready", m.GetPlayer())
		}
	}
	return nil
}

// checkVouched refuses members whose values were set under other settings than the project's now, or by an expired
// token.
func checkVouched(p *pb.Party, settings *pb.ProjectSettings, now time.Time) error {
	for _, m := range p.GetMembers() {
		switch {
		case definition.HasSetters(settings) && m.GetSettings() != settings.GetRevision():
			return problem.New(problem.MembershipOutdated, "player %q must say its attributes and properties again: the "+
				"settings of the project have changed", m.GetPlayer())
		case m.GetVouched() > 0 && m.GetVouched() <= now.UnixMilli():
			return problem.New(problem.MembershipOutdated, "player %q must say its attributes and properties again: the token "+
				"that vouched for them has expired", m.GetPlayer())
		}
	}
	return nil
}

// claimedBy is what a member has that claims or receipts set: what they say, or what a game service said for it.
func claimedBy(m *pb.Member, settings *pb.ProjectSettings) fields.Values {
	claimed := fields.Values{Attributes: map[string]float64{}, Properties: map[string][]byte{}}
	has := fields.Attributes(m.GetAttributeNames(), m.GetAttributeValues())
	for _, rule := range settings.GetAttributes() {
		if value, set := has[rule.GetName()]; set && definition.IsVouched(rule) {
			claimed.Attributes[rule.GetName()] = value
		}
	}
	for _, rule := range settings.GetProperties() {
		if value, set := m.GetProperties()[rule.GetName()]; set && definition.IsVouched(rule) {
			claimed.Properties[rule.GetName()] = value
		}
	}
	return claimed
}

// ticketOf is the ticket of all members. Attributes and properties that claims or receipts set are the leader's, so
// that pools and functions that look at tickets see them; a game service may say others.
func (s *service) ticketOf(
	p *pb.Party, in searching, settings *pb.ProjectSettings, caller *auth.Principal,
) (*pb.Ticket, error) {
	now := s.Store.Now()
	if err := checkVouched(p, settings, now); err != nil {
		return nil, err
	}
	if caller.Kind == auth.Player {
		if err := definition.CheckSetters("", in.Values, settings); err != nil {
			return nil, err
		}
	}
	claimed := claimedBy(state.MemberOf(p, p.GetLeader()), settings)
	var err error
	if in.Values, err = definition.AddVouched(claimed, in.Values, s.Fields); err != nil {
		return nil, err
	}
	t := &pb.Ticket{Id: state.NewID(now), Owner: p.GetLeader(), Created: now.UnixMilli(), Properties: in.Properties,
		Queues: in.Queues}
	t.AttributeNames, t.AttributeValues = in.Columns()
	for _, m := range p.GetMembers() {
		t.Players = append(t.Players, &pb.Player{
			Id: m.GetPlayer(), AttributeNames: m.GetAttributeNames(), AttributeValues: m.GetAttributeValues(),
			Properties: m.GetProperties(),
		})
	}
	if n := proto.Size(t); n > state.MaxPartySize {
		return nil, problem.New(problem.Invalid,
			"the ticket of the party would have %d bytes with what all members carry, at most %d are allowed", n,
			state.MaxPartySize).Exceeds("party-size")
	}
	return t, nil
}

// searches reports whether the party's ticket still waits for a result.
func (s *service) searches(ctx context.Context, project string, p *pb.Party) (bool, error) {
	if p.GetSearch() == nil {
		return false, nil
	}
	t, err := s.Store.Ticket(ctx, project, p.GetSearch().GetTicket())
	if problem.KindOf(err) == problem.NotFound {
		return false, nil
	}
	return err == nil && t.Assignment == nil, err
}

// stop ends the search. A party that has been matched is not searching any more: its result stays.
func (s *service) stop(c echo.Context, player string) error {
	return s.changeAndRespond(c, player, func(p *pb.Party) (*pb.Party, error) {
		if p.GetLeader() != player {
			return nil, notLeader(p)
		}
		p.Search = nil
		return p, nil
	})
}
