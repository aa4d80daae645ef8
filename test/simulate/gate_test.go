package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/platform/notify"
)

// fault is what the gate does to something that passes it.
type fault uint8

// The faults.
const (
	none   fault = iota
	lose         // it does not happen
	repeat       // it happens twice
	mute         // it happens, and its answer is lost
	late         // it happens later
)

func (f fault) String() string { return [...]string{"none", "lose", "repeat", "mute", "late"}[f] }

// errLost is the error of a call that was lost, or whose answer was.
var errLost = errors.New("simulated: the connection was reset")

// delays are how long something may be late. The longest are longer than callers wait.
var delays = []time.Duration{
	time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
	2 * time.Second, 4 * time.Second,
}

// step is something that waits for the gate.
type step struct {
	// from is the process that it belongs to, nil for none. The steps of a process that stands still wait.
	from *process
	// label says what it is. Equal labels are in the order in which they came.
	label string
	// faults are the faults that it can have.
	faults []fault
	// due is when it can happen at the earliest.
	due time.Time
	// do does it; it must not block.
	do func(fault)
	// serial numbers the steps in the order in which they came, and title is the name once it has.
	serial uint64
	title  string
}

// gate lets one step go at a time.
type gate struct {
	arrived notify.Signal
	random  *rand.Rand

	mu      sync.Mutex
	steps   []*step
	serials uint64

	// The rest belongs to the goroutine of run.

	// rate is how likely a fault is.
	rate float64
	// injected is called with each fault.
	injected func(f fault, s *step)
	// passed counts the steps that were let go, and faults the steps that had one.
	passed, faults int
	// record has a line for each step that was let go; nil when none is kept.
	record io.Writer
}

func newGate(seed uint64) *gate {
	return &gate{
		arrived: notify.New(), random: rand.New(rand.NewPCG(seed, 1)),
	}
}

// add adds a step.
func (g *gate) add(s *step) {
	g.mu.Lock()
	g.serials++
	s.serial, s.title = g.serials, s.name()
	g.steps = append(g.steps, s)
	g.mu.Unlock()
	g.arrived.Notify()
}

// of takes out the steps of a process, in order.
func (g *gate) of(p *process) []*step {
	g.mu.Lock()
	defer g.mu.Unlock()
	var own []*step
	g.steps = slices.DeleteFunc(g.steps, func(s *step) bool {
		if s.from == p {
			own = append(own, s)
		}
		return s.from == p
	})
	slices.SortFunc(own, compare)
	return own
}

func compare(a, b *step) int {
	return cmp.Or(strings.Compare(a.title, b.title), cmp.Compare(a.serial, b.serial))
}

func (s *step) name() string {
	if s.from == nil {
		return s.label
	}
	return s.from.name + ": " + s.label
}

// run lets steps go until ctx ends.
func (g *gate) run(ctx context.Context) {
	for ctx.Err() == nil {
		synctest.Wait()
		now := time.Now()
		ready, next := g.ready(now)
		s, f := g.choose(ready)
		if s == nil {
			g.wait(ctx, next)
			continue
		}
		g.let(s, f)
	}
}

// ready lists the steps that can go, in order, and when the next one can.
func (g *gate) ready(now time.Time) (ready []*step, next time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.steps {
		switch {
		case s.from != nil && s.from.frozen:
		case s.due.After(now):
			if next.IsZero() || s.due.Before(next) {
				next = s.due
			}
		default:
			ready = append(ready, s)
		}
	}
	slices.SortFunc(ready, compare)
	return ready, next
}

// wait waits for another step, or until the next one is due.
func (g *gate) wait(ctx context.Context, next time.Time) {
	pause := time.Hour
	if !next.IsZero() {
		pause = time.Until(next)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-g.arrived.C():
	case <-timer.C:
	}
}

// choose chooses a step and its fault; nil when none can go now.
func (g *gate) choose(ready []*step) (*step, fault) {
	if len(ready) == 0 {
		return nil, none
	}
	s := ready[g.random.IntN(len(ready))]
	f := none
	if len(s.faults) > 0 && g.random.Float64() < g.rate {
		f = s.faults[g.random.IntN(len(s.faults))]
	}
	return s, f
}

// let lets a step go.
func (g *gate) let(s *step, f fault) {
	g.passed++
	if g.record != nil {
		fmt.Fprintf(g.record, "%s %s %s\n", time.Now().Format("04:05.000000"), f, s.title)
	}
	if f != none {
		g.faults++
		g.injected(f, s)
	}
	if f == late {
		g.mu.Lock()
		s.due = time.Now().Add(delays[g.pick(len(delays))])
		s.faults = nil
		g.mu.Unlock()
		return
	}
	g.mu.Lock()
	g.steps = slices.DeleteFunc(g.steps, func(other *step) bool { return other == s })
	g.mu.Unlock()
	s.do(f)
}

// pick is a number below n. Only what the gate let go may call it.
func (g *gate) pick(n int) int { return g.random.IntN(n) }

// call lets do go, and returns its error, or a fault's. It returns early when ctx ends or the process dies: do
// may happen all the same, later.
func (g *gate) call(ctx context.Context, p *process, label string, faults []fault, do func() error) error {
	if p.dead() {
		return errLost
	}
	done := make(chan error, 1)
	g.add(&step{from: p, label: label, faults: faults, do: func(f fault) {
		if f == lose {
			done <- errLost
			return
		}
		err := do()
		if f == repeat {
			err = do()
		}
		if f == mute {
			err = errLost
		}
		done <- err
	}})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.killed.Done():
		return errLost
	}
}

// calls are the faults of a call.
var calls = []fault{lose, mute, late}
