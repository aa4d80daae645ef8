package insight

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/state"
)

const (
	// maxLate is how long after the time in its id the first event of a match may have happened.
	maxLate = time.Minute
	// matchSlack is how long before that time reading begins at first: little, since a busy project has many events in a
	// minute. clockSlack is for clocks that are wrong.
	matchSlack = 2 * time.Second
	// maxRead is of how many tickets of a match the players are read.
	maxRead = 256
)

// The states of a match that has ended, beside those that are listed.
const matchFailed, matchReleased = "failed", "released" // its tickets wait again

// match answers GET /matches/{match}.
func (s *service) match(c echo.Context) error {
	project, id := c.Param("project"), c.Param("match")
	made, is := state.CreationTime(id)
	if !is {
		return problem.New(problem.NotFound, "the match was not found: no match has an identifier like this")
	}
	ctx, leave, err := s.read(c.Request().Context(), project, readTime)
	if err != nil {
		return err
	}
	defer leave()
	var r *matchReader
	for _, slack := range []time.Duration{matchSlack, clockSlack} {
		r = &matchReader{reading: reading{service: s, project: project}, id: id, last: made.Add(maxLate)}
		_, err = s.Bus.ReadEvents(ctx, project, bus.EventStart{Since: made.Add(-slack)}, false,
			func(m bus.EventMessage) bool { return r.take(ctx, m) })
		if r.first != nil || err != nil || ctx.Err() != nil {
			break
		}
	}
	switch {
	case r.first != nil: // what is known
	case ctx.Err() != nil && c.Request().Context().Err() == nil:
		return problem.New(problem.Unavailable, "the match was not found in time: more happened then than this may look "+
			"at in a few seconds, try again").After(time.Second)
	case err != nil:
		return err
	default:
		return problem.New(problem.NotFound, "match %q was not found: it was made a moment ago, or its events are not kept "+
			"any more, or there was none", id)
	}
	one, err := s.describe(c.Request().Context(), project, r, auth.MaySeeProperties(c, s.Store) == nil)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, one)
}

// matchReader looks for a match in events.
type matchReader struct {
	reading
	id string
	// last is when the first event of the match may have happened at the latest.
	last time.Time
	// first is the event that made the match, and end the last one that changed its state.
	first, end *pb.Event
	state      string
	accepted   int
	over       bool
}

// take is false when the match has its result, or there is none.
func (r *matchReader) take(ctx context.Context, m bus.EventMessage) (more bool) {
	r.count(ctx, m)
	for _, e := range m.GetEvents() {
		if r.first == nil && e.GetTime() > r.last.UnixMilli() {
			return false
		}
		if e.GetMatch() != r.id {
			continue
		}
		r.add(e)
		if r.over {
			return false
		}
	}
	return ctx.Err() == nil
}

// add adds an event of the match.
func (r *matchReader) add(e *pb.Event) {
	r.first = cmp.Or(r.first, e)
	if e.GetKind() == pb.Event_KIND_ACCEPTED {
		r.accepted++
		if joinsGame(r.first) && r.accepted == max(int(r.first.GetPlayers()), len(r.first.GetTickets())) {
			r.state = state.ListedProposed
		}
	}
	if state, over := stateAfter(e); state != "" {
		r.state, r.over, r.end = state, over, e
	}
}

// stateAfter is the state of a match after one of its events, and whether it has ended; "" if the event changes none.
func stateAfter(e *pb.Event) (became string, over bool) {
	switch e.GetKind() {
	case pb.Event_KIND_CLAIMED:
		if e.GetAcceptance() > 0 {
			return state.ListedAsking, false
		}
		if joinsGame(e) {
			return state.ListedProposed, false
		}
		return state.ListedClaimed, false
	case pb.Event_KIND_ALLOCATING:
		return state.ListedAllocating, false
	case pb.Event_KIND_ASSIGNED:
		return state.ListedAssigned, true
	case pb.Event_KIND_FAILED:
		return matchFailed, true
	case pb.Event_KIND_RELEASED:
		return matchReleased, true
	}
	return "", false
}

// joinsGame tells whether a match goes to a running game, by its first event.
func joinsGame(e *pb.Event) bool { return strings.HasPrefix(e.GetPlace(), state.PlaceGame) }

// describe adds to what events say what is stored.
func (s *service) describe(
	ctx context.Context, project string, r *matchReader, properties bool,
) (*response.Match, error) {
	e := r.first
	m := &response.Match{
		ID: r.id, State: r.state, Config: e.GetConfig(), Revision: e.GetRevision(), Function: e.GetFunction(),
		Upload: e.GetUpload(), Score: scoreOf(e), Created: formatTime(e.GetTime()), Backfill: e.GetBackfill(),
		Players: max(int(e.GetPlayers()), len(e.GetTickets())), Accepted: r.accepted,
		Queue: e.GetQueue(), Region: e.GetRegion(), Measures: measuresOf(e), Attributes: attributesOf(e),
	}
	if r.end != nil {
		m.Reason, m.Error, m.Detail = r.end.GetReason(), r.end.GetError(), r.end.GetDetail()
		m.Backfill = cmp.Or(m.Backfill, r.end.GetBackfill())
		if r.over {
			m.Ended = formatTime(r.end.GetTime())
		}
	}
	teams := e.GetTeams()
	if len(teams) == 0 {
		teams = []*pb.EventTeam{{Tickets: int32(len(e.GetTickets()))}}
	}
	rest := e.GetTickets()
	m.Teams = []response.MatchTeam{}
	for _, t := range teams {
		own := rest[:min(int(t.GetTickets()), len(rest))]
		rest = rest[len(own):]
		one := response.MatchTeam{Name: t.GetName(), Tickets: []response.MatchTicket{}}
		for _, id := range own {
			told := response.MatchTicket{ID: id}
			if made, is := state.CreationTime(id); is {
				told.Waited = new(max(0, time.UnixMilli(e.GetTime()).Sub(made).Seconds()))
			}
			one.Tickets = append(one.Tickets, told)
		}
		m.Teams = append(m.Teams, one)
	}
	ids := e.GetTickets()
	stored, err := s.Store.Tickets(ctx, project, ids[:min(len(ids), maxRead)])
	if err != nil {
		return nil, err
	}
	connection := addStored(m.Teams, stored, properties)
	if !joinsGame(e) { // whose teams have other players too
		s.addOdds(ctx, project, m, stored)
	}
	if m.State != state.ListedAssigned {
		return m, nil
	}
	played, err := s.Store.Played(ctx, project, r.id)
	if err != nil && problem.KindOf(err) != problem.NotFound {
		return nil, err
	}
	if played != nil {
		m.Due, m.Missing = formatTime(played.Due.UnixMilli()), played.Missed && played.Result == nil
		if played.Result != nil {
			m.Result = response.NewResult(played.Result)
		}
	}
	return m, s.addServer(ctx, project, connection, m)
}

// addStored adds what the first tickets are, of those that are stored, and returns the connection of their results.
func addStored(teams []response.MatchTeam, stored []*state.Ticket, properties bool) string {
	connection, size := "", 0
	for _, team := range teams {
		for i := range team.Tickets[:min(len(team.Tickets), len(stored))] {
			if t := stored[i]; t != nil {
				team.Tickets[i].Players = state.PlayersOf(t.Body)
				one, n := newArrival(t.Body, properties)
				if size += n; size <= maxArrivals {
					team.Tickets[i].Arrival = one
				}
				connection = cmp.Or(connection, t.Assignment.GetConnection())
			}
		}
		stored = stored[min(len(team.Tickets), len(stored)):]
	}
	return connection
}

// addOdds adds how likely each team is to win, by each rating that all players have. Settings that cannot be read now
// give none.
func (s *service) addOdds(ctx context.Context, project string, m *response.Match, stored []*state.Ticket) {
	if len(m.Teams) < 2 {
		return
	}
	settings, err := s.Store.Settings(ctx, project)
	if err != nil {
		s.Log.WarnContext(ctx, "a match is told without odds", "project", project, "match", m.ID, "error", err)
	}
	for _, rule := range state.RatingsFor(settings, m.Queue) {
		model, err := rating.New(state.RatingModel(rule))
		teams := ratedTeams(m.Teams, stored, rule.GetName())
		if err != nil || teams == nil {
			continue
		}
		for i, odds := range model.Odds(teams) {
			if m.Teams[i].Odds == nil {
				m.Teams[i].Odds = map[string]float64{}
			}
			m.Teams[i].Odds[rule.GetName()] = odds
		}
	}
}

// ratedTeams are the ratings of the teams; nil if a player's is not known, or a team has no players.
func ratedTeams(of []response.MatchTeam, stored []*state.Ticket, name string) []rating.Team {
	teams := make([]rating.Team, len(of))
	for i, team := range of {
		n := len(team.Tickets)
		if n == 0 || n > len(stored) {
			return nil
		}
		for _, t := range stored[:n] {
			ratings := ratingsIn(t, name)
			if ratings == nil {
				return nil
			}
			teams[i].Players = append(teams[i].Players, ratings...)
		}
		stored = stored[n:]
	}
	return teams
}

// ratingsIn are a rating of each player of a ticket; nil if one is not known.
func ratingsIn(t *state.Ticket, name string) (all []rating.Rating) {
	if t == nil {
		return nil
	}
	all = make([]rating.Rating, max(1, len(t.Body.GetPlayers())))
	for i := range all {
		names, values := t.Body.GetAttributeNames(), t.Body.GetAttributeValues()
		if players := t.Body.GetPlayers(); len(players) > 0 && len(players[i].GetAttributeNames()) > 0 {
			names, values = players[i].GetAttributeNames(), players[i].GetAttributeValues()
		}
		mean, deviation := slices.Index(names, name), slices.Index(names, definition.SigmaOf(name))
		if mean < 0 || deviation < 0 {
			return nil
		}
		all[i] = rating.Rating{Mean: values[mean], Deviation: values[deviation]}
	}
	return all
}

// addServer adds the server that a match got.
func (s *service) addServer(ctx context.Context, project, connection string, m *response.Match) error {
	stored, err := s.Store.ServerOf(ctx, project, m.ID)
	if err != nil {
		return err
	}
	got := response.MatchServer{Connection: connection, Profile: stored.GetHosting().GetProfile(),
		Fleet: stored.GetHosting().GetFleet(), Region: stored.GetRegion()}
	if got != (response.MatchServer{}) {
		m.Server = &got
	}
	return nil
}
