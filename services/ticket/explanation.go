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
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/insight"
	"matchmaker.dev/services/internal/adhoc"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/problem"
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
	// maxExplainCharge is the most that a run is charged.
	maxExplainCharge = time.Minute
)

// explainRate is how often a project may ask, and explainBudget how much processor time the runs may take.
func explainRate() state.Rate { return state.Rate{PerSecond: 1, Burst: 20} }
func (s *service) explainBudget() adhoc.Budget {
	return adhoc.Budget{Name: explainWork, Budget: state.Budget{Amount: 6 * time.Second, Window: time.Minute},
		Most: maxExplainCharge, Store: s.Store, Log: s.Log}
}

// explanation is why a ticket waits.
type explanation struct {
	ID string `json:"id"`
	// State is waiting, matched, assigned or ended.
	State string `json:"state"`
	// Waited is for how many seconds it has waited.
	Waited  float64  `json:"waited"`
	Players int      `json:"players"`
	Queues  []string `json:"queues,omitempty"`
	// Unserved lists the ticket's Queues that no config serves.
	Unserved []string             `json:"unservedQueues,omitempty"`
	Configs  []*configExplanation `json:"configs"`
	// History is the latest matches in which the ticket was, and why those failed that did.
	History *insight.History `json:"history,omitempty"`
}

// configExplanation is what a config makes of a ticket.
type configExplanation struct {
	Config   string `json:"config"`
	Function string `json:"function"`
	Queue    string `json:"queue,omitempty"`
	// Serves: the ticket waits in the config's queue. InPool: it is in one of its pools, or the config has none. The
	// function gets the ticket if both are true.
	Serves bool               `json:"serves"`
	InPool bool               `json:"inPool"`
	Pools  []*poolExplanation `json:"pools"`
	// Run is a run of the function that was asked about the ticket; nil if there was none.
	Run *runExplanation `json:"run,omitempty"`

	config *pb.Config
}

// poolExplanation is which filters of a pool hold for a ticket.
type poolExplanation struct {
	Pool    string               `json:"pool"`
	Holds   bool                 `json:"holds"`
	Filters []*filterExplanation `json:"filters"`
}

// filterExplanation is a filter. Value is what the ticket has, nil for nothing, and By how far that is outside of the
// bounds, nil if it is not.
type filterExplanation struct {
	Attribute string   `json:"attribute,omitempty"`
	Count     string   `json:"count,omitempty"`
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	Value     *float64 `json:"value,omitempty"`
	Holds     bool     `json:"holds"`
	By        *float64 `json:"by,omitempty"`
}

// runExplanation is what came of a run. Proposals may use the same ticket, and none of them is claimed.
type runExplanation struct {
	Error     string `json:"error,omitempty"`
	Tickets   int64  `json:"tickets"`
	Proposals int    `json:"proposals"`
	// Proposed: a proposal has the ticket.
	Proposed bool              `json:"proposed"`
	Reasons  []functionsReason `json:"reasons"`
	// Place is where the ticket stands among these tickets, by age, from 1; 0 if unknown.
	Place int64 `json:"place,omitzero"`
	// Seen is how many runs for the config there were at least since the ticket was created; nil if unknown.
	Seen *seen `json:"seen,omitempty"`
	// Best is the best proposal with the ticket; nil if there is none, or there were too many to compare.
	Best *bestProposal `json:"best,omitempty"`
	// With are the best proposals with the ticket, the best first, so many of Holding. Absent like Best.
	With    []*bestProposal `json:"with,omitempty"`
	Holding int             `json:"holding,omitzero"`
}

// seen is how many runs of a config's function there were at least, and when the first was asked for at the latest.
type seen struct {
	Runs  int64     `json:"runs"`
	Since time.Time `json:"since"`
}

// bestProposal is a proposal, and the one of any config that it loses to; nil if it wins.
type bestProposal struct {
	Score   float64         `json:"score"`
	Tickets int             `json:"tickets"`
	LosesTo *betterProposal `json:"losesTo,omitempty"`
}

type betterProposal struct {
	Config string  `json:"config"`
	Score  float64 `json:"score"`
	// By is how much better its score is. At 0 its oldest ticket is older.
	By float64 `json:"by"`
}

// functionsReason is what a function says. Candidates is how many other tickets could be with the ticket if it were not
// for the reason; nil if unknown.
type functionsReason struct {
	Reason     string `json:"reason"`
	Candidates *int64 `json:"candidates,omitempty"`
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
	doc := &explanation{
		ID: id, State: stateOf(t), Waited: max(0, waited.Seconds()), Queues: t.Body.GetQueues(),
		Players: state.PlayerCount(t.Body), Configs: []*configExplanation{},
	}
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		doc.Configs = append(doc.Configs, look.config(configs[name]))
	}
	slices.SortStableFunc(doc.Configs, func(a, b *configExplanation) int {
		return cmp.Compare(b.nearness(), a.nearness())
	})
	for _, queue := range doc.Queues {
		if !slices.ContainsFunc(doc.Configs, func(e *configExplanation) bool { return e.Queue == queue }) {
			doc.Unserved = append(doc.Unserved, queue)
		}
	}
	if doc.State == stateWaiting {
		if err := s.ask(ctx, project, look, doc); err != nil {
			return err
		}
	}
	if s.History != nil {
		doc.History = s.History(ctx, project, id, time.UnixMilli(t.Body.GetCreated()))
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
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
	doc := &explanation{ID: id, State: stateEnded, Configs: []*configExplanation{}}
	doc.History = s.History(c.Request().Context(), c.Param("project"), id, created)
	if doc.History.Ended == nil {
		return gone
	}
	doc.Waited = max(0, doc.History.Ended.Time.Sub(created).Seconds())
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.JSON(http.StatusOK, doc)
}

// lookAt reads a ticket and the configs of its project, if the project may ask for another explanation.
func (s *service) lookAt(
	ctx context.Context, project, id string,
) (t *state.Ticket, configs map[string]*pb.Config, look *glass, err error) {
	if err := s.Store.Allow(ctx, project, "explanations", explainRate()); err != nil {
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
func (s *service) ask(ctx context.Context, project string, look *glass, doc *explanation) error {
	budget := s.explainBudget()
	if err := mayAsk(ctx, budget, project); err != nil {
		return err
	}
	position, err := s.Store.Position(ctx, project)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, explainAll)
	defer cancel()
	runs, among := 0, comparison{}
	defer func() { among.judge(doc.ID) }()
	for _, one := range doc.Configs {
		for _, pools := range look.segments(one) {
			if runs++; runs > explainRuns || ctx.Err() != nil {
				return nil
			}
			request := s.explainRequest(project, position, doc.ID, one.config, pools)
			request.SeenSince = look.ticket.GetCreated()
			answer := s.askOnce(ctx, request)
			budget.Charge(ctx, project, answer.Cost)
			one.add(doc.ID, answer)
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
		e.Run = &runExplanation{Reasons: []functionsReason{}}
	}
	r := e.Run
	r.Error = a.Failure
	r.Tickets += a.Tickets
	if len(a.Places) == 1 && r.Place == 0 {
		r.Place = a.Places[0]
	}
	if a.Seen != nil && r.Seen == nil {
		r.Seen = &seen{Runs: a.Seen.GetRuns(), Since: time.UnixMilli(a.Seen.GetSince()).UTC()}
	}
	r.Proposals += len(a.Proposals)
	for _, p := range a.Proposals {
		r.Proposed = r.Proposed || slices.Contains(state.TicketsOf(p), id)
	}
	for _, x := range a.Explanations {
		if x.GetTicket() != id {
			continue
		}
		reason := functionsReason{Reason: x.GetReason()}
		if n := x.GetCandidates(); n >= 0 {
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
	body, err := proto.Marshal(t)
	if err != nil {
		return nil, err
	}
	g := &glass{ticket: t, index: pool.New()}
	if len(t.GetQueues()) > 0 {
		g.queue = t.GetQueues()[0]
	}
	return g, g.index.Put(t.GetId(), body)
}

// sees reports whether a queue's pools have the ticket; without pools they have all that wait in the queue.
func (g *glass) sees(queue string, pools map[string]*pb.Pool) (is bool) {
	var s pool.Selection
	g.index.View(func(v pool.View) { v.In(queue).Select(pools, &s) })
	return s.N() > 0
}

func (g *glass) config(config *pb.Config) *configExplanation {
	e := &configExplanation{
		Config: config.GetId(), Function: config.GetFunction(), Queue: config.GetQueue(), Pools: []*poolExplanation{},
		Serves: g.sees(config.GetQueue(), nil), InPool: g.sees(g.queue, config.GetPools()), config: config,
	}
	for _, name := range slices.Sorted(maps.Keys(config.GetPools())) {
		p := config.GetPools()[name]
		one := &poolExplanation{
			Pool: name, Holds: g.sees(g.queue, map[string]*pb.Pool{name: p}), Filters: []*filterExplanation{},
		}
		for _, f := range p.GetFilters() {
			one.Filters = append(one.Filters, g.filter(f))
		}
		e.Pools = append(e.Pools, one)
	}
	return e
}

// filter looks at a filter alone.
func (g *glass) filter(f *pb.Filter) *filterExplanation {
	e := &filterExplanation{
		Attribute: f.GetAttribute(), Count: f.GetCount(), Min: f.Min, Max: f.Max,
		Holds: g.sees(g.queue, map[string]*pb.Pool{"one": {Filters: []*pb.Filter{f}}}),
	}
	value, has := g.value(f)
	if !has {
		return e
	}
	e.Value = &value
	switch {
	case f.Min != nil && value < f.GetMin():
		by := f.GetMin() - value
		e.By = &by
	case f.Max != nil && !e.Holds:
		by := math.Abs(value - f.GetMax())
		e.By = &by
	}
	return e
}

// value is the number that a filter looks at.
func (g *glass) value(f *pb.Filter) (float64, bool) {
	switch {
	case f.GetCount() != "":
		return float64(state.PlayerCount(g.ticket)), true
	case f.GetAttribute() == pool.Created:
		return float64(g.ticket.GetCreated()), true
	}
	for i, name := range g.ticket.GetAttributeNames() {
		if name == f.GetAttribute() {
			return g.ticket.GetAttributeValues()[i], true
		}
	}
	return 0, false
}

// segments are the pools of the runs that get the ticket. How many segments there are may depend on how many tickets
// wait; here it is as if few did.
func (g *glass) segments(e *configExplanation) (all []map[string]*pb.Pool) {
	if !e.Serves || !e.InPool {
		return nil
	}
	segments, err := pool.Expand(e.config.GetPools(), nil)
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
