package simulation

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/schedule"
	"matchmaker.dev/services/internal/match/pool"
)

// began is when virtual time begins, but for the hour.
var began = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// world is a simulation under way.
type world struct {
	*Scenario
	ctx      context.Context
	seed     uint64
	progress func(done, all time.Duration)
	result   *Result

	began, now time.Time
	agenda     agenda
	ahead      *ahead
	coming     *comer // the next one; nil when all have come

	index     *pool.Index
	backfills *pool.Backfills
	tickets   map[string]*ticket
	measure   int // measured tickets that have not ended
	games     map[string]*game
	opened    int // games

	functions map[string]*function
	configs   []*config
	budget    *schedule.Budget
	pending   pending
	// others is the fleet of matches whose fleet has no name in the scenario. inUse is how many servers of all are.
	fleets  map[string]*fleet
	others  *fleet
	inUse   int
	wake    time.Time // when the schedule is to be looked at
	steps   int
	part    *part // nil if the whole is simulated in one piece
	largest int   // how many tickets waited at most since the last mark of the part
}

// ticket is a ticket that has not ended.
type ticket struct {
	*comer
	created time.Time
	waits   bool
	ended   bool
	// impatient is set once it has waited as long as it wants to: it leaves when its match does not come about.
	impatient bool
	measured  bool
}

func newWorld(ctx context.Context, o *Options, p *part) (*world, error) {
	s := o.Scenario
	w := &world{
		Scenario: s, ctx: ctx, seed: o.Seed, progress: o.Progress,
		result: &Result{Scenario: s, Seed: o.Seed},
		began:  began.Add(time.Duration(s.Population.Hour * float64(time.Hour)).Truncate(time.Millisecond)),
		index:  pool.New(), tickets: map[string]*ticket{}, functions: map[string]*function{},
		backfills: pool.NewBackfills(), games: map[string]*game{}, fleets: map[string]*fleet{},
		budget: schedule.NewBudget(s.Service.Cores),
	}
	w.now = w.began
	w.others = w.newFleet("", s.Fleet)
	for name, of := range s.Fleets {
		w.fleets[name] = w.newFleet(name, of)
	}
	w.index.KeepOwners()
	for name, module := range s.Functions {
		f, err := startFunction(ctx, o.Box, module)
		if err != nil {
			w.close()
			return nil, fmt.Errorf("functions.%s: %w", name, err)
		}
		w.functions[name] = f
	}
	for _, c := range s.Configs {
		one := &config{Config: c, function: w.functions[c.GetFunction()]}
		if err := one.divide(w.budget.Account(c.GetId()).First()); err != nil {
			w.close()
			return nil, fmt.Errorf("configs.%s: %w", c.GetId(), err)
		}
		w.configs = append(w.configs, one)
	}
	source := o.Source
	if source == nil {
		source = s.Population.Generate(o.Seed)
	}
	from := time.Duration(0)
	if w.part = p; p != nil {
		from = p.from
	}
	w.ahead = readAhead(source, w.began, from)
	w.coming = w.ahead.take()
	return w, nil
}

func (w *world) close() {
	if w.ahead != nil {
		w.ahead.close()
	}
	for _, f := range w.functions {
		f.close()
	}
}

// passed is how much time has passed.
func (w *world) passed() time.Duration { return w.now.Sub(w.began) }

// over reports whether nothing more is measured.
func (w *world) over() bool {
	return w.measure == 0 && (w.coming == nil || w.coming.At >= w.to())
}

// to is when the measured time ends.
func (w *world) to() time.Duration {
	if w.Measure.To == 0 {
		return math.MaxInt64
	}
	return w.Measure.To
}

// run does what a director's leader does: it handles what happened, evaluates what can be evaluated, starts what is
// due, and goes on at the next time at which there is something to do.
func (w *world) run() error {
	for !w.over() {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		next := w.next()
		if w.part != nil && w.part.pass(next) {
			break
		}
		w.now = next
		w.happen()
		w.evaluate()
		if err := w.start(); err != nil {
			return err
		}
		w.report()
	}
	w.count()
	return nil
}

// count notes what the fleets with names did, and what functions overlooked.
func (w *world) count() {
	for _, name := range slices.Sorted(maps.Keys(w.functions)) {
		if overlooks := w.functions[name].overlooks; overlooks != "" {
			w.result.Overlooked = append(w.result.Overlooked, "function "+name+": "+overlooks)
		}
	}
	if len(w.fleets) == 0 {
		return
	}
	w.result.Fleets = append(w.result.Fleets, w.others.counts)
	for _, name := range slices.Sorted(maps.Keys(w.fleets)) {
		w.result.Fleets = append(w.result.Fleets, w.fleets[name].counts)
	}
}

// next is when there is something to do.
func (w *world) next() time.Time {
	at := w.wake
	if w.coming != nil {
		if comes := w.began.Add(w.coming.At); at.IsZero() || comes.Before(at) {
			at = comes
		}
	}
	if planned, more := w.agenda.next(); more && (at.IsZero() || planned.Before(at)) {
		at = planned
	}
	if at.Before(w.now) {
		return w.now
	}
	return at
}

// happen lets happen what is due.
func (w *world) happen() {
	for w.coming != nil && !w.began.Add(w.coming.At).After(w.now) {
		w.arrive(w.coming)
		w.coming = w.ahead.take()
	}
	for {
		at, more := w.agenda.next()
		if !more || at.After(w.now) {
			return
		}
		w.agenda.take()()
	}
}

// arrive puts a ticket into the index.
func (w *world) arrive(a *comer) {
	r := w.result
	r.Arrivals = a.came
	r.Tickets++
	r.Players += max(1, len(a.Ticket.GetPlayers()))
	t := &ticket{
		comer: a, created: w.now, measured: a.At >= w.Measure.From && a.At < w.to(),
	}
	if t.body == nil {
		return
	}
	w.tickets[t.id] = t
	if t.measured {
		w.measure++
	}
	patience := w.Service.WaitLimit
	if a.Patience > 0 {
		patience = min(patience, a.Patience)
	}
	w.agenda.planFor(t, w.now.Add(patience), func() {
		t.impatient = true
		if t.waits {
			w.leave(t)
		}
	})
	w.wait(t)
	w.largest = max(w.largest, w.index.Len())
	r.Largest = max(r.Largest, w.largest)
	w.touch()
}

// wait lets a ticket wait, or wait again.
func (w *world) wait(t *ticket) {
	if t.impatient {
		w.end(t, Left)
		return
	}
	t.waits = w.index.Put(t.id, t.body) == nil // the body was made here
}

// leave ends a ticket that waits.
func (w *world) leave(t *ticket) {
	w.withdraw(t)
	w.end(t, Left)
}

// withdraw takes a ticket out of the index.
func (w *world) withdraw(t *ticket) {
	t.waits = false
	w.index.Drop(t.id)
}

// end ends a ticket.
func (w *world) end(t *ticket, how Outcome) {
	delete(w.tickets, t.id)
	t.ended = true
	if !t.measured {
		return
	}
	w.measure--
	w.result.Waits = append(w.result.Waits, Wait{
		Arrived: t.At.Seconds(), Seconds: w.now.Sub(t.created).Seconds(), Value: w.value(t),
		Players: max(1, len(t.Ticket.GetPlayers())), Outcome: how,
	})
}

// value is a ticket's value of the measured attribute.
func (w *world) value(t *ticket) float64 {
	return attribute(t.Ticket.GetAttributeNames(), t.Ticket.GetAttributeValues(), w.Measure.Attribute)
}

func attribute(names []string, values []float64, name string) float64 {
	if i := slices.Index(names, name); i >= 0 && name != "" {
		return values[i]
	}
	return math.NaN()
}

// touch notes for all segments that the next run may see something else.
func (w *world) touch() {
	for _, c := range w.configs {
		for _, s := range c.segments {
			s.Touch()
		}
	}
}

// report reports the progress now and then.
func (w *world) report() {
	const every = 4096
	if w.steps++; w.steps%every == 0 && w.progress != nil {
		w.progress(min(w.passed(), w.Population.Duration), w.Population.Duration)
	}
}

// seedOf is the seed of one of the runs that start now: it does not depend on what happened before.
func (w *world) seedOf(number int) uint64 {
	const most = 1 << 16 // runs in a millisecond
	return rand.NewPCG(w.seed, uint64(w.now.UnixMilli())*most+uint64(number)).Uint64()
}

// drawFor returns random numbers that belong to a ticket: whatever else happens, they are the same.
func (w *world) drawFor(t *ticket) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, uint64(t.number))) //nolint:gosec // the same seed gives the same players
}

// players are the players of a ticket.
func (t *ticket) players() []*pb.Player {
	if list := t.Ticket.GetPlayers(); len(list) > 0 {
		return list
	}
	return []*pb.Player{{Id: t.Ticket.GetOwner(), AttributeNames: t.Ticket.GetAttributeNames(),
		AttributeValues: t.Ticket.GetAttributeValues()}}
}
