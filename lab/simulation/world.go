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
	"matchmaker.dev/services/internal/match/cycle"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/sandbox"
)

// began is when virtual time begins, but for the hour.
var began = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// world is a simulation under way.
type world struct {
	*Scenario
	*cycle.Cycles
	ctx      context.Context
	seed     uint64
	progress func(done, all time.Duration)
	result   *Result

	began  time.Time
	ahead  *ahead
	coming *comer // the next one; nil when all have come

	tickets map[string]*ticket
	measure int // measured tickets that have not ended
	games   map[string]*game
	opened  int // games

	functions []*function
	// others is the fleet of matches whose fleet has no name in the scenario. inUse is how many servers of all are.
	fleets  map[string]*fleet
	others  *fleet
	inUse   int
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

// mostRun is how long a run may really take. What it takes in virtual time is the scenario's.
const mostRun = time.Minute

// function is an instance of a function.
type function struct {
	*cycle.Function
	close func()
}

func startFunction(ctx context.Context, box *sandbox.Supervisor, module []byte) (*function, error) {
	m, _, err := box.Load(ctx, "", module)
	if err != nil {
		return nil, err
	}
	if err := m.Manifest.Check(); err != nil {
		box.Release(m)
		return nil, err
	}
	instance, err := box.Start(ctx, m, "simulation", func(string) {})
	if err != nil {
		box.Release(m)
		return nil, err
	}
	return &function{cycle.NewFunction(instance, &m.Manifest), func() {
		instance.Close()
		box.Release(m)
	}}, nil
}

func newWorld(ctx context.Context, o *Options, p *part) (*world, error) {
	s := o.Scenario
	w := &world{
		Scenario: s, ctx: ctx, seed: o.Seed, progress: o.Progress,
		result:  &Result{Scenario: s, Seed: o.Seed},
		began:   began.Add(time.Duration(s.Population.Hour * float64(time.Hour)).Truncate(time.Millisecond)),
		tickets: map[string]*ticket{}, games: map[string]*game{}, fleets: map[string]*fleet{},
	}
	w.others = w.newFleet("", s.Fleet)
	for name, of := range s.Fleets {
		w.fleets[name] = w.newFleet(name, of)
	}
	functions := map[string]*cycle.Function{}
	for name, module := range s.Functions {
		f, err := startFunction(ctx, o.Box, module)
		if err != nil {
			w.close()
			return nil, fmt.Errorf("functions.%s: %w", name, err)
		}
		functions[name] = f.Function
		w.functions = append(w.functions, f)
	}
	var err error
	w.Cycles, err = cycle.New(cycle.Options{Service: s.Service, Seed: o.Seed, Began: w.began, Configs: s.Configs,
		Functions: functions, Claims: w, Longest: mostRun})
	if err != nil {
		w.close()
		return nil, err
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
func (w *world) passed() time.Duration { return w.Now.Sub(w.began) }

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
		comes := time.Time{}
		if w.coming != nil {
			comes = w.began.Add(w.coming.At)
		}
		next := w.Next(comes)
		if w.part != nil && w.part.pass(next) {
			break
		}
		if err := w.Step(w.ctx, next, w.come); err != nil {
			return err
		}
		w.result.Runs, w.result.Kept, w.result.Proposed = w.Counts.Runs, w.Counts.Kept, w.Counts.Proposed
		w.report()
	}
	w.count()
	return nil
}

// count notes what the fleets with names did, and what functions overlooked.
func (w *world) count() {
	w.result.Overlooked = w.Overlooked()
	if len(w.fleets) == 0 {
		return
	}
	w.result.Fleets = append(w.result.Fleets, w.others.counts)
	for _, name := range slices.Sorted(maps.Keys(w.fleets)) {
		w.result.Fleets = append(w.result.Fleets, w.fleets[name].counts)
	}
}

// come lets tickets come that are due.
func (w *world) come() {
	for w.coming != nil && !w.began.Add(w.coming.At).After(w.Now) {
		w.arrive(w.coming)
		w.coming = w.ahead.take()
	}
}

// arrive puts a ticket into the index.
func (w *world) arrive(a *comer) {
	r := w.result
	r.Arrivals = a.came
	r.Tickets++
	r.Players += max(1, len(a.Ticket.GetPlayers()))
	t := &ticket{
		comer: a, created: w.Now, measured: a.At >= w.Measure.From && a.At < w.to(),
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
	w.Agenda.PlanUnless(&t.ended, w.Now.Add(patience), func() {
		t.impatient = true
		if t.waits {
			w.leave(t)
		}
	})
	w.wait(t)
	w.largest = max(w.largest, w.Index.Len())
	r.Largest = max(r.Largest, w.largest)
	w.Touch(definition.QueuesOf(a.Ticket)...)
}

// wait lets a ticket wait, or wait again.
func (w *world) wait(t *ticket) {
	if t.impatient {
		w.end(t, Left)
		return
	}
	t.waits = w.Index.Put(t.id, t.body) == nil // the body was made here
}

// leave ends a ticket that waits.
func (w *world) leave(t *ticket) {
	w.withdraw(t)
	w.end(t, Left)
}

// withdraw takes a ticket out of the index.
func (w *world) withdraw(t *ticket) {
	t.waits = false
	w.Index.Drop(t.id)
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
		Arrived: t.At.Seconds(), Seconds: w.Now.Sub(t.created).Seconds(), Value: w.value(t),
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

// report reports the progress now and then.
func (w *world) report() {
	const every = 4096
	if w.steps++; w.steps%every == 0 && w.progress != nil {
		w.progress(min(w.passed(), w.Population.Duration), w.Population.Duration)
	}
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
