package ticket

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/segmentation"
	"matchmaker.dev/services/internal/state"
)

// What an explanation may take: it runs functions.
const (
	// explainRuns is how many runs it asks for: one for each segment that has the ticket, of each config.
	explainRuns = 8
	// explainTime is how long one run may take, and explainAll how long all of them.
	explainTime = 2 * time.Second
	explainAll  = 20 * time.Second
	// explainProposals is how many proposals a run may make.
	explainProposals = 100_000
	// explainWork is the name of the budget of these runs in the state, which all replicas share.
	explainWork = "explainwork"
)

// configExplanation is what a config makes of a ticket.
type configExplanation struct {
	response.ConfigExplanation
	config *pb.Config
}

// explain answers GET /tickets/{id}/explanation.
func (s *service) explain(c echo.Context) error {
	ctx, project, id := c.Request().Context(), c.Param("project"), c.Param("ticket")
	t, configs, look, err := s.lookAt(ctx, project, id)
	if problem.KindOf(err) == problem.NotFound {
		return s.explainEnd(c, id, err)
	}
	if err != nil {
		return err
	}
	waited := s.Store.Now().Sub(time.UnixMilli(t.Body.GetCreated()))
	doc := &response.TicketExplanation{
		ID: id, State: stateOf(t), Waited: max(0, waited.Seconds()), Queues: t.Body.GetQueues(),
		Players: state.PlayerCount(t.Body),
	}
	var parts []*configExplanation
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		parts = append(parts, look.config(configs[name]))
	}
	slices.SortStableFunc(parts, func(a, b *configExplanation) int {
		return cmp.Compare(b.nearness(), a.nearness())
	})
	for _, queue := range doc.Queues {
		if !slices.ContainsFunc(parts, func(e *configExplanation) bool { return e.Queue == queue }) {
			doc.UnservedQueues = append(doc.UnservedQueues, queue)
		}
	}
	if doc.State == stateWaiting {
		if err := s.ask(ctx, project, look, id, parts); err != nil {
			return err
		}
	}
	for _, one := range parts {
		doc.Configs = append(doc.Configs, one.ConfigExplanation)
	}
	if s.History != nil {
		doc.History = s.History(ctx, project, id, time.UnixMilli(t.Body.GetCreated()))
	}
	return c.JSON(http.StatusOK, doc)
}

// nearness orders configs: first those whose function gets the ticket, then those that serve its queue.
func (e *configExplanation) nearness() int {
	switch {
	case e.Serves && e.InPool:
		return 2
	case e.Serves:
		return 1
	}
	return 0
}

// explainEnd explains why a ticket is gone, as far as events say it; gone is the error otherwise.
func (s *service) explainEnd(c echo.Context, id string, gone error) error {
	created, known := state.CreationTime(id)
	if !known || s.History == nil {
		return gone
	}
	doc := &response.TicketExplanation{ID: id, State: stateEnded}
	doc.History = s.History(c.Request().Context(), c.Param("project"), id, created)
	if doc.History.Ended == nil {
		return gone
	}
	ended, err := time.Parse(time.RFC3339Nano, doc.History.Ended.Time)
	if err != nil {
		return err
	}
	doc.Waited = max(0, ended.Sub(created).Seconds())
	return c.JSON(http.StatusOK, doc)
}

// lookAt reads a ticket and the configs of its project, if the project may ask for another explanation.
func (s *service) lookAt(
	ctx context.Context, project, id string,
) (t *state.Ticket, configs map[string]*pb.Config, look *glass, err error) {
	if err := s.Store.Allow(ctx, project, "explanations", state.Rate{PerSecond: 1, Burst: 20}); err != nil {
		return nil, nil, nil, err
	}
	if t, err = s.Store.Ticket(ctx, project, id); err != nil {
		return nil, nil, nil, err
	}
	if configs, err = s.Store.Configs(ctx, project); err != nil {
		return nil, nil, nil, err
	}
	look, err = newGlass(t.Body)
	return t, configs, look, err
}

// The states of a ticket.
const (
	stateWaiting  = "waiting"
	stateMatched  = "matched"
	stateAssigned = "assigned"
	stateEnded    = "ended"
)

func stateOf(t *state.Ticket) string {
	switch {
	case t.Ended:
		return stateEnded
	case t.Assignment != nil:
		return stateAssigned
	case t.Matched:
		return stateMatched
	}
	return stateWaiting
}

// ask asks the functions of the configs that see the ticket.
func (s *service) ask(ctx context.Context, project string, look *glass, id string, configs []*configExplanation) error {
	budget, position, err := s.mayAsk(ctx, project)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, explainAll)
	defer cancel()
	runs, among := 0, comparison{}
	defer func() { among.judge(id) }()
	for _, one := range configs {
		for _, pools := range look.segments(one) {
			if runs++; runs > explainRuns || ctx.Err() != nil {
				return nil
			}
			request := s.explainRequest(project, position, id, one.config, pools)
			request.SeenSince = look.ticket.GetCreated()
			answer := s.askOnce(ctx, request)
			budget.Charge(ctx, project, answer.Cost)
			one.add(id, answer)
			among.add(one, answer.Proposals)
		}
	}
	return nil
}

func (s *service) askOnce(ctx context.Context, r *pb.RunRequest) adhoc.Answer {
	// The runner ends the run in time; a second more is for the way there and back.
	ctx, cancel := context.WithTimeout(ctx, explainTime+time.Second)
	defer cancel()
	return s.adhoc.Ask(ctx, r)
}

// explainRequest asks for a run that is asked about a ticket.
func (s *service) explainRequest(
	project string, position uint64, id string, config *pb.Config, pools map[string]*pb.Pool,
) *pb.RunRequest {
	return &pb.RunRequest{
		Project: project, Config: config.GetId(), Function: config.GetFunction(), Settings: config.GetSettings(),
		Pools: pools, Position: position, Queue: config.GetQueue(), Explain: []string{id},
		Now: s.Store.Now().UnixMilli(), Seed: rand.Uint64(), //nolint:gosec // a seed of matches, not a secret
		Budget: explainTime.Milliseconds(), Backfills: true, Upload: config.GetUpload(),
	}
}

// add adds what came of a run over a segment.
func (e *configExplanation) add(id string, a adhoc.Answer) {
	if e.Run == nil {
		e.Run = &response.RunExplanation{Reasons: []response.Reason{}}
	}
	r := e.Run
	r.Error = a.Failure
	r.Tickets += int(a.Tickets)
	if len(a.Places) == 1 && r.Place == 0 {
		r.Place = int(a.Places[0])
	}
	if a.Seen != nil && r.Seen == nil {
		r.Seen = &response.Seen{Runs: int(a.Seen.GetRuns()),
			Since: time.UnixMilli(a.Seen.GetSince()).UTC().Format(time.RFC3339Nano)}
	}
	r.Proposals += len(a.Proposals)
	for _, p := range a.Proposals {
		r.Proposed = r.Proposed || slices.Contains(state.TicketsOf(p), id)
	}
	for _, x := range a.Explanations {
		if x.GetTicket() != id {
			continue
		}
		reason := response.Reason{Reason: x.GetReason()}
		if n := int(x.GetCandidates()); n >= 0 {
			reason.Candidates = &n
		}
		r.Reasons = append(r.Reasons, reason)
	}
}

// glass looks at one ticket with the index of a runner.
type glass struct {
	ticket *pb.Ticket
	index  *pool.Index
	queue  string // one of the ticket's
}

func newGlass(t *pb.Ticket) (*glass, error) {
	g := &glass{ticket: t, index: pool.New()}
	if len(t.GetQueues()) > 0 {
		g.queue = t.GetQueues()[0]
	}
	return g, g.index.PutTicket(t.GetId(), t)
}

// sees reports whether a queue's pools have the ticket; without pools they have all that wait in the queue.
func (g *glass) sees(queue string, pools map[string]*pb.Pool) (is bool) {
	var s pool.Selection
	g.index.View(func(v pool.View) { v.In(queue).Select(pools, &s) })
	return s.N() > 0
}

func (g *glass) config(config *pb.Config) *configExplanation {
	e := &configExplanation{config: config, ConfigExplanation: response.ConfigExplanation{
		Config: config.GetId(), Function: config.GetFunction(), Queue: config.GetQueue(),
		Serves: g.sees(config.GetQueue(), nil), InPool: g.sees(g.queue, config.GetPools()),
	}}
	for _, name := range slices.Sorted(maps.Keys(config.GetPools())) {
		p := config.GetPools()[name]
		one := response.PoolExplanation{Pool: name, Holds: g.sees(g.queue, map[string]*pb.Pool{name: p})}
		for _, f := range p.GetFilters() {
			one.Filters = append(one.Filters, g.filter(f))
		}
		e.Pools = append(e.Pools, one)
	}
	return e
}

// filter looks at a filter alone.
func (g *glass) filter(f *pb.Filter) response.FilterExplanation {
	e := response.FilterExplanation{
		Attribute: f.GetAttribute(), Count: f.GetCount(), Min: f.Min, Max: f.Max,
		Holds: g.sees(g.queue, map[string]*pb.Pool{"one": {Filters: []*pb.Filter{f}}}),
	}
	value, has := pool.ValueOf(f, g.ticket)
	if !has {
		return e
	}
	e.Value = &value
	switch {
	case f.Min != nil && value < f.GetMin():
		e.By = new(f.GetMin() - value)
	case f.Max != nil && !e.Holds:
		e.By = new(math.Abs(value - f.GetMax()))
	}
	return e
}

// segments are the pools of the runs that get the ticket. How many segments there are may depend on how many tickets
// wait; here it is as if few did.
func (g *glass) segments(e *configExplanation) (all []map[string]*pb.Pool) {
	if !e.Serves || !e.InPool {
		return nil
	}
	segments, err := segmentation.Expand(e.config.GetPools(), nil)
	if err != nil {
		return nil // no run of such a config gets any ticket
	}
	for _, pools := range segments {
		if g.sees(g.queue, pools) {
			all = append(all, pools)
		}
	}
	return all
}
