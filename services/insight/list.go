package insight

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/state"
)

const (
	// listTime is how long a runner may take to answer, and listFunctions how many functions are looked for that one has.
	listTime      = 3 * time.Second
	listFunctions = 8
	// listWork is the name of the budget of the runners' work in the state, which all replicas share, and maxListCharge
	// the most that one list is charged.
	listWork      = "listwork"
	maxListCharge = 10 * time.Second
)

// listBudget is how much processor time of runners the lists of a project may take.
func (s *service) listBudget() adhoc.Budget {
	return adhoc.Budget{Name: listWork, Budget: state.Budget{Amount: 3 * time.Second, Window: time.Minute},
		Most: maxListCharge, Store: s.Store, Log: s.Log}
}

// waiting answers GET /tickets/waiting. The ids come from the index of a runner, and the rest from the state.
func (s *service) waiting(c echo.Context) error {
	ctx, project := c.Request().Context(), c.Param("project")
	configs, err := s.Store.Configs(ctx, project)
	if err != nil {
		return err
	}
	request, err := s.listing(c, configs)
	if err != nil {
		return err
	}
	if err := s.allowList(ctx, project); err != nil {
		return err
	}
	if request.Position, err = s.Store.Position(ctx, project); err != nil {
		return err
	}
	listed, err := s.list(ctx, request, configs)
	if err != nil {
		return err
	}
	answer := response.WaitingPage{Tickets: []response.WaitingTicket{}, Total: listed.GetTotal()}
	ids := listed.GetTickets()
	tickets, err := s.Store.Tickets(ctx, project, ids)
	if err != nil {
		return err
	}
	settings, err := s.Store.Settings(ctx, project)
	if err != nil {
		return err
	}
	seen := auth.From(c).SeesProperties(settings)
	for _, t := range tickets {
		if t != nil && !t.Matched && t.Assignment == nil { // others do not wait any more
			answer.Tickets = append(answer.Tickets, s.shown(t.Body, settings, seen))
		}
	}
	if listed.GetMore() && len(ids) > 0 && !request.GetListing().GetSample() { // older runners make no sample
		answer.Next = strconv.FormatInt(listed.GetLastCreated(), 10) + "." + ids[len(ids)-1]
	}
	return c.JSON(http.StatusOK, answer)
}

// shown is what is shown of a ticket: not its properties, nor, unless they may be seen, the region that they say.
func (s *service) shown(t *pb.Ticket, settings *pb.ProjectSettings, seen bool) response.WaitingTicket {
	return response.WaitingTicket{
		ID: t.GetId(), Created: t.GetCreated(), Owner: t.GetOwner(), Players: state.PlayersOf(t), Queues: t.GetQueues(),
		Waited:     max(0, s.Store.Now().Sub(time.UnixMilli(t.GetCreated())).Seconds()),
		Region:     definition.RegionOf(settings, t, seen),
		Attributes: fields.Attributes(t.GetAttributeNames(), t.GetAttributeValues()),
	}
}

// allowList refuses a list while the budget of the project is used up.
func (s *service) allowList(ctx context.Context, project string) error {
	e := problem.New(problem.ProjectLimited, "the lists of this project took more processor time of runners than they "+
		"may: try again later").Exceeds(listWork)
	return s.listBudget().Allow(ctx, project, e)
}

// list asks a runner that hosts the project. Where there is none, it reads the tickets itself, if they are few. Errors:
// Conflict when there are more and no config, Unavailable when no runner has a config's function.
func (s *service) list(ctx context.Context, r *pb.RunRequest, configs map[string]*pb.Config) (*pb.Listed, error) {
	functions := []string{r.GetFunction()}
	if r.GetFunction() == "" {
		functions = functionsOf(configs)
	}
	requester := adhoc.Requester{Bus: s.Bus}
	for _, function := range functions {
		r.Function = function
		ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Within, listTime))
		answer := requester.Ask(ctx, r)
		cancel()
		s.listBudget().Charge(ctx, r.GetProject(), answer.Cost)
		switch {
		case answer.Failure == bus.NoRunner:
			continue
		case answer.Failure != "":
			return nil, problem.New(problem.Unavailable, "%s", answer.Failure).After(time.Second)
		case answer.Listed == nil:
			return nil, problem.New(problem.Unavailable, "the runner sent no list").After(time.Second)
		}
		return answer.Listed, nil
	}
	if listed, err := s.listFew(ctx, r); listed != nil || err != nil {
		return listed, err
	}
	kind := problem.Unavailable
	if len(configs) == 0 {
		kind = problem.Conflict // repeating the request is of no use
	}
	return nil, problem.New(kind, "more than %d tickets wait, and no runner knows them: the project has no config whose "+
		"function runs", web.MostListed)
}

// listFew lists the tickets of a project in which no more than web.MostListed wait; nil otherwise.
func (s *service) listFew(ctx context.Context, r *pb.RunRequest) (*pb.Listed, error) {
	ids, err := s.Store.OldestWaiting(ctx, r.GetProject(), web.MostListed+1)
	if err != nil || len(ids) > web.MostListed {
		return nil, err
	}
	tickets, err := s.Store.Tickets(ctx, r.GetProject(), ids)
	if err != nil {
		return nil, err
	}
	index := pool.New()
	for _, t := range tickets {
		if t == nil || t.Matched || t.Assignment != nil {
			continue
		}
		if err := index.PutTicket(t.Body.GetId(), t.Body); err != nil {
			return nil, err
		}
	}
	var listed *pb.Listed
	index.View(func(v pool.View) { listed = v.In(r.GetQueue()).List(r.GetPools(), r.GetListing()) })
	return listed, nil
}

// functionsOf are some functions of a project.
func functionsOf(configs map[string]*pb.Config) []string {
	names := map[string]bool{}
	for _, c := range configs {
		names[c.GetFunction()] = true
	}
	sorted := slices.Sorted(maps.Keys(names))
	return sorted[:min(len(sorted), listFunctions)]
}

// parseListCursor reads a place in a list.
func parseListCursor(text string) (created int64, id string, ok bool) {
	before, id, found := strings.Cut(text, ".")
	created, err := strconv.ParseInt(before, 10, 64)
	return created, id, found && err == nil && created >= 0 && id != "" && len(id) <= 64
}
