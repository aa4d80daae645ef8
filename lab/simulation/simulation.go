// Package simulation plays a population of players, or a recording of them, in virtual time: through the index of the
// runners, the functions in their sandboxes, the schedule and the evaluator of the director. Redis and NATS are left
// out: tickets are claimed in memory, and nothing gets lost. The same scenario and seed give the same result again, on
// any machine.
package simulation

import (
	"context"
	"fmt"
	"math"
	"time"

	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/lab/population"
)

// Source has the tickets that come, in the order of their arrival. Next returns false when all have come.
type Source interface {
	Next() (*population.Arrival, bool)
}

// Options say what to simulate.
type Options struct {
	Box      *sandbox.Supervisor
	Scenario *Scenario
	Seed     uint64
	// Source has the tickets. Without one the scenario's population is generated.
	Source Source
	// Parts is how many parts of the time are simulated beside each other, where that is possible: see
	// [Scenario.Parts]. The result is the same.
	Parts int
	// Progress is told how much of the time is simulated; may be nil.
	Progress func(done, all time.Duration)
}

// Result is what players got.
type Result struct {
	Scenario *Scenario
	Seed     uint64
	// Waits are the measured tickets' waits, in the order of their ends. Matches are the matches with one of them.
	Waits   []Wait
	Matches []Match
	// Tickets is how many came in all, and Players how many players they have. Arrivals tells apart who came when.
	Tickets, Players int
	Arrivals         uint64
	// Runs is how often functions ran, and Proposed how many matches they proposed. Largest is how many tickets waited
	// at most.
	Runs, Proposed, Largest int
	// Kept is how many of the runs got only what had changed, since their function keeps its tickets.
	Kept int
	// Servers is how many game servers were in use at most. Full is how many matches waited since there was none, and
	// Refused how many allocations failed. Fleets are those with names, and before them the others, if there are names.
	Servers, Full, Refused int
	Fleets                 []FleetUse
	// Overlooked says which functions overlooked matches while they kept their tickets: from then on they got all of
	// them.
	Overlooked []string
	// Asked is how many matches asked their players, and Declined how many of those were not accepted by all.
	Asked, Declined int
	// Games is how many games could be filled later, and Joined how many tickets joined one.
	Games, Joined int
}

// Outcome is how a ticket ended.
type Outcome uint8

// The outcomes. A ticket that failed got an error of its function; one that missed its match declined it or was silent.
const (
	Matched Outcome = iota
	Left
	Failed
	Missed
)

// Wait is how long a ticket waited.
type Wait struct {
	// Arrived is when it came, and Seconds how long it waited until it had its connection, or left. Both are in
	// seconds.
	Arrived, Seconds float64
	// Value is its value of the measured attribute, not a number if it has none.
	Value   float64
	Players int
	Outcome Outcome
}

// Match is how good a match is. What is not known is not a number.
type Match struct {
	// At is when it was made, and Wait how long its tickets waited on average, until they had their connection.
	At, Wait float64
	// Spread is the greatest value of the measured attribute less the least, and Gap the greatest mean of a team less
	// the least.
	Spread, Gap float64
	// Latency is the mean of the tickets' latencies to the region of the match, in ms.
	Latency float64
	Players int
}

// Run simulates a scenario. The error of a function names its config and the time.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Parts > 1 && o.Source == nil && o.Scenario.separable() {
		chain, err := simulateParts(ctx, &o)
		if err != nil {
			return nil, err
		}
		return join(chain)
	}
	w, err := newWorld(ctx, &o, nil)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.run(); err != nil {
		return nil, w.explain(err)
	}
	return w.result, nil
}

// explain says when a simulation failed.
func (w *world) explain(err error) error {
	return fmt.Errorf("after %s, with %d tickets that wait: %w", w.passed().Round(time.Millisecond), w.Index.Len(), err)
}

// digest tells apart which players came when.
type digest struct{ sum uint64 }

func (d *digest) add(a *population.Arrival) {
	d.number(uint64(a.At))
	d.number(uint64(a.Patience))
	d.number(uint64(len(a.Ticket.GetPlayers())))
	for i, name := range a.Ticket.GetAttributeNames() {
		d.text(name)
		d.number(math.Float64bits(a.Ticket.GetAttributeValues()[i]))
	}
	for _, queue := range a.Ticket.GetQueues() {
		d.text(queue)
	}
}

// number adds a number, by a step of SplitMix64.
func (d *digest) number(n uint64) {
	d.sum += n + 0x9e3779b97f4a7c15
	d.sum = (d.sum ^ d.sum>>30) * 0xbf58476d1ce4e5b9
	d.sum = (d.sum ^ d.sum>>27) * 0x94d049bb133111eb
	d.sum ^= d.sum >> 31
}

func (d *digest) text(text string) {
	d.number(uint64(len(text)))
	for i := range len(text) {
		d.number(uint64(text[i]))
	}
}
