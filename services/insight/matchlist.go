package insight

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

// listedCost is what it costs to look at a match of a list, Redis included.
const listedCost = 20 * time.Microsecond

// matchQuery selects matches of a list.
type matchQuery struct {
	url.Values
	from           state.Cursor
	limit          int
	minAge, maxAge float64 // in seconds
}

// matches answers GET /matches.
func (s *service) matches(c echo.Context) error {
	q, err := readMatchQuery(c)
	if err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	ctx, leave, err := s.read(ctx, project, readTime)
	if err != nil {
		return err
	}
	defer leave()
	configs, err := s.Store.Configs(ctx, project)
	if err != nil {
		return err
	}
	counts, err := s.Store.CountMatches(ctx, project)
	if err != nil {
		return err
	}
	answer := response.MatchPage{Matches: []response.ListedMatch{}, Open: counts.Open, Joining: counts.Joining,
		Ended: counts.Ended, Returning: counts.Returning}
	now := s.Store.Now()
	next, looked, err := s.Store.ListMatches(ctx, project, q.from, func(m *state.ListedMatch) bool {
		one := shownMatch(m, now)
		if one.Queue = configs[m.Config].GetQueue(); q.selects(&one) {
			answer.Matches = append(answer.Matches, one)
		}
		return len(answer.Matches) < q.limit
	})
	if err != nil {
		return err
	}
	answer.Next = next
	_ = wait.For(ctx, s.pace.Reserve(project, "", looked*int(listedCost/time.Microsecond)))
	return c.JSON(http.StatusOK, answer)
}

// shownMatch is what is shown of a match. Its id says when it was made.
func shownMatch(m *state.ListedMatch, now time.Time) response.ListedMatch {
	one := response.ListedMatch{ID: m.ID, State: m.State, Config: m.Config, Backfill: m.Backfill, Region: m.Region,
		Profile: m.Hosting.GetProfile(), Fleet: m.Hosting.GetFleet()}
	if made, is := state.CreationTime(m.ID); is {
		one.Created, one.Age = response.Time(made), max(0, now.Sub(made).Seconds())
	}
	if m.Allocated > 0 {
		one.Allocated = formatTime(m.Allocated)
	}
	return one
}

func (q *matchQuery) selects(m *response.ListedMatch) bool {
	for name, value := range map[string]string{"state": m.State, "config": m.Config, "queue": m.Queue,
		"region": m.Region, "fleet": m.Fleet} {
		if q.Has(name) && q.Get(name) != value {
			return false
		}
	}
	return m.Age >= q.minAge && (!q.Has("maxAge") || m.Age <= q.maxAge)
}

func readMatchQuery(c echo.Context) (*matchQuery, error) {
	values, err := web.Query(c, "state", "config", "queue", "region", "fleet", "minAge", "maxAge", "limit", "after")
	if err != nil {
		return nil, err
	}
	q := &matchQuery{Values: values}
	states := []string{state.ListedAsking, state.ListedClaimed, state.ListedAllocating, state.ListedProposed,
		state.ListedAssigned}
	if values.Has("state") && !slices.Contains(states, values.Get("state")) {
		return nil, problem.New(problem.Invalid, "query parameter state: one of %v is expected", states)
	}
	for name, into := range map[string]*float64{"minAge": &q.minAge, "maxAge": &q.maxAge} {
		if *into, err = ageOf(values, name); err != nil {
			return nil, err
		}
	}
	if q.limit, err = web.Limit(values); err != nil {
		return nil, err
	}
	q.from, err = state.ParseCursor(values.Get("after"))
	return q, err
}
