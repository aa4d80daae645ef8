package lasthour

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/cycle"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/observe/report"
)

const (
	// step is how much virtual time is played at a time, of each side in turn.
	step = time.Second
	// runsOf is how often each config runs at most, about: the shortest interval of runs is as long as that needs.
	runsOf = 20_000
	// longestRun is how long a run may really take.
	longestRun = 5 * time.Second
	// restAfter is how much time is taken between two rests, about.
	restAfter = 20 * time.Millisecond
	// mostProposals is how many proposals may wait for their evaluation.
	mostProposals = 100_000
	// Waits is how many quantiles of the waits there are, from the shortest to the longest.
	Waits = 41
	// attributes is how many attributes are measured at most: those that most tickets have.
	attributes = 8
)

// ErrNothing says that there is nothing to play.
var ErrNothing = errors.New("no ticket of its queue came since the runner began to record")

// Side is configs that are played without the others, with instances of their functions.
type Side struct {
	Configs   []*pb.Config
	Functions map[string]*cycle.Function
}

// Options say what is played.
type Options struct {
	Sides []Side
	Now   time.Time
	// Limit is how much time it may take. When that is over, what was played until then is the answer.
	Limit time.Duration
	// Rest is called now and then, with the time that was taken since the last time.
	Rest func(ctx context.Context, took time.Duration) error
	// Progress is called after each step, with the share that was played.
	Progress func(share float64)
}

// comer is a ticket that comes.
type comer struct {
	*arrival
	players, queues []string
}

// Play plays all sides over what came, from the same time to the same time. An error names the config that fails.
func (r *Recorder) Play(ctx context.Context, o Options) (*pb.Simulated, error) {
	recorded := r.copy()
	came, names := comers(recorded.arrivals, o.Sides)
	answer := &pb.Simulated{RecordedSince: recorded.since, RecordedUntil: o.Now.UnixMilli()}
	if len(came) == 0 {
		return answer, ErrNothing
	}
	sides := make([]*side, len(o.Sides))
	for i := range sides {
		var err error
		if sides[i], err = newSide(&o.Sides[i], came, recorded.since, o.Now, names); err != nil {
			return answer, err
		}
	}
	spent := work{Options: &o}
	defer func() { _ = spent.rest(ctx) }() // it is over
	from := time.UnixMilli(recorded.since)
	at := from
	for at.Before(o.Now) && spent.all < o.Limit {
		if at = at.Add(step); at.After(o.Now) {
			at = o.Now
		}
		for _, s := range sides {
			if err := s.playTo(ctx, at, &spent); err != nil {
				return answer, err
			}
		}
		o.Progress(min(1, max(at.Sub(from).Seconds()/o.Now.Sub(from).Seconds(), spent.all.Seconds()/o.Limit.Seconds())))
	}
	answer.PlayedUntil = at.UnixMilli()
	for _, s := range sides {
		answer.Sides = append(answer.Sides, s.result())
	}
	return answer, nil
}

// work is the time that a simulation took, and of it what it has not rested for.
type work struct {
	*Options
	all, owed time.Duration
}

// add counts time, and rests. It is an error if far more than the limit was taken in one step.
func (w *work) add(ctx context.Context, took time.Duration) error {
	w.all += took
	if w.owed += took; w.owed < restAfter {
		return nil
	}
	if err := w.rest(ctx); err != nil {
		return err
	}
	if w.all > max(2*w.Limit, longestRun) {
		return errors.New("its runs take too long")
	}
	return nil
}

func (w *work) rest(ctx context.Context) error {
	took := w.owed
	w.owed = 0
	return w.Rest(ctx, took)
}

// comers are the arrivals that wait in a queue of the sides, and the attributes that most of them have, by name.
func comers(arrivals []arrival, sides []Side) (all []comer, names []string) {
	queues, counts := map[string]bool{}, map[string]int{}
	for _, s := range sides {
		for _, c := range s.Configs {
			queues[c.GetQueue()] = true
		}
	}
	for i := range arrivals {
		t := new(pb.Ticket)
		if proto.Unmarshal(arrivals[i].body, t) != nil { // it was made here
			continue
		}
		one := comer{arrival: &arrivals[i], queues: definition.QueuesOf(t)}
		if !slices.ContainsFunc(one.queues, func(q string) bool { return queues[q] }) {
			continue
		}
		for _, p := range t.GetPlayers() {
			one.players = append(one.players, p.GetId())
		}
		if one.players == nil {
			one.players = []string{t.GetOwner()}
		}
		for _, name := range t.GetAttributeNames() {
			counts[name]++
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b comer) int { return cmp.Compare(a.created, b.created) })
	names = slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return all, names[:min(len(names), attributes)]
}

// side is a side under way.
type side struct {
	*cycle.Cycles
	coming  []comer
	waiting map[string]*ticket
	names   []string
	book    *report.Book
	waits   []float64
	counts  pb.SimulatedSide
}

type ticket struct {
	created time.Time
	players []string
	ended   bool
}

func newSide(o *Side, came []comer, since int64, now time.Time, names []string) (*side, error) {
	s := &side{coming: came, waiting: map[string]*ticket{}, names: names, book: report.Spans()[0].NewBook(0)}
	began := time.UnixMilli(since)
	service := cycle.Defaults()
	service.MinInterval = max(service.MinInterval, now.Sub(began)/runsOf)
	var err error
	s.Cycles, err = cycle.New(cycle.Options{Service: service, Seed: 1, Began: began, Configs: o.Configs,
		Functions: o.Functions, Claims: s, Report: &pb.Report{Attributes: names}, Longest: longestRun,
		Most: mostProposals})
	return s, err
}

// playTo plays until a time.
func (s *side) playTo(ctx context.Context, until time.Time, spent *work) error {
	for ctx.Err() == nil {
		comes := time.Time{}
		if len(s.coming) > 0 {
			comes = time.UnixMilli(s.coming[0].created)
		}
		next := s.Next(comes)
		if !next.Before(until) {
			return nil
		}
		began := time.Now()
		err := s.Step(ctx, next, s.come)
		if rest := spent.add(ctx, time.Since(began)); err == nil {
			err = rest
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// come lets tickets come that are due.
func (s *side) come() {
	for len(s.coming) > 0 && !time.UnixMilli(s.coming[0].created).After(s.Now) {
		c := s.coming[0]
		s.coming = s.coming[1:]
		if s.Index.Put(c.id, c.body) != nil { // the body was made here
			continue
		}
		s.counts.Tickets++
		s.counts.Players += int64(len(c.players))
		t := &ticket{created: s.Now, players: c.players}
		s.waiting[c.id] = t
		if c.left > 0 {
			s.Agenda.PlanUnless(&t.ended, time.UnixMilli(c.left), func() {
				s.take(c.id)
				s.counts.Left++
			})
		}
		s.Touch(c.queues...)
	}
}

// take takes a ticket out of those that wait.
func (s *side) take(id string) *ticket {
	t := s.waiting[id]
	t.ended = true
	delete(s.waiting, id)
	s.Index.Drop(id)
	return t
}

// Claimable reports whether all tickets of a proposal wait, and no player is in two of them.
func (s *side) Claimable(c *cycle.Candidate) bool {
	return !slices.ContainsFunc(c.Tickets, func(id string) bool { return s.waiting[id] == nil }) &&
		cycle.Apart(c, func(id string) []string { return s.waiting[id].players })
}

// Claim makes a match. It has a server, and all accept it, at once.
func (s *side) Claim(c *cycle.Candidate) bool {
	account := c.Origin.Account()
	account.Charge(schedule.ClaimCost)
	account.Found(s.Now)
	m := &report.Match{}
	for _, id := range c.Tickets {
		t := s.take(id)
		m.Players += len(t.players)
		m.Parties = append(m.Parties, uint32(len(t.players)))
		m.Waits = append(m.Waits, s.Now.Sub(t.created).Seconds())
	}
	if c.GetError() != "" {
		s.counts.Failed += int64(len(c.Tickets))
		return true
	}
	add := func(kind, name string, value float64) {
		m.Values = append(m.Values, report.Value{Kind: kind, Name: name, Value: value})
	}
	for _, one := range c.GetMeasures().GetAttributes() {
		name := s.names[one.GetAttribute()]
		if add(report.Spread, name, one.GetSpread()); one.Gap != nil {
			add(report.Gap, name, one.GetGap())
		}
	}
	for _, one := range c.GetMeasures().GetOwn() {
		add(report.Measure, one.GetName(), one.GetValue())
	}
	s.book.Add(m)
	s.waits = append(s.waits, m.Waits...)
	s.counts.Matches++
	s.counts.Matched += int64(len(c.Tickets))
	return true
}

// result is what came of the side.
func (s *side) result() *pb.SimulatedSide {
	s.counts.Waiting, s.counts.Runs = int64(len(s.waiting)), int64(s.Counts.Runs)
	s.counts.Report = s.book.Message()
	for _, one := range s.counts.Report.GetSeries() {
		slices.SortFunc(one.GetDistributions(), func(a, b *pb.ReportDistribution) int {
			return cmp.Or(cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetName(), b.GetName()))
		})
	}
	slices.Sort(s.waits)
	for i := range Waits {
		if n := len(s.waits); n > 0 {
			s.counts.Waits = append(s.counts.Waits, s.waits[i*(n-1)/(Waits-1)])
		}
	}
	return &s.counts
}
