// Package invocation does runs of match functions. Given a run's request and the index of waiting
// tickets it selects the tickets, writes the block that the function reads, lets an
// instance work on it, and checks the whole answer before it believes a word of it.
//
// How a run came here, and who keeps the instance, is its caller's business: the runner
// has runs from the bus, and mm tries a function on a file of tickets.
package invocation

import (
	"context"
	"errors"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/sandbox"
)

// Invoker is what runs are done at, one after another. What it has is kept from run to
// run, so that a run allocates next to nothing for its tickets. The zero Invoker is ready.
type Invoker struct {
	selection pool.Selection
	games     games
	request   block.RequestBuilder
	created   []float64 // by number; what the request says the function may have changed
	reader    block.AnswerReader
	answers   answers
	scratch   []byte
}

// Run is a run to do.
type Run struct {
	Request *pb.RunRequest
	Index   *pool.Index
	// Backfills are those that the function may see if the request says so; may be nil.
	Backfills *pool.Backfills
	// Answer takes all parts of the answer but the last. A part is used again when Answer returned.
	Answer func(*pb.RunPart) error
	// Began is when the run's time began to count, Deadline when it is over.
	Began, Deadline time.Time
	// Traced is whether sampled tickets were proposed, or waited for a run that failed; Invoke sets it.
	Traced bool
}

// Instance is an instance of the function: a *sandbox.Instance.
type Instance interface {
	Name() string
	// Buffer is where the request may be written; Run or ReleaseBuffer gives it up.
	Buffer() []byte
	ReleaseBuffer()
	Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error)
}

// FunctionError is the failure of a run whose instance is well.
type FunctionError struct{ error }

func (c FunctionError) Unwrap() error { return c.error }

// Invoke does a run with an instance, and answers it but for the last part, which
// it returns: with what is left of the proposals, or the error. That part is used again by the
// next run. After an error that is no FunctionError the instance must not be used again. life's end kills the instance.
func (inv *Invoker) Invoke(life context.Context, r *Run, instance Instance, n Needs) (*pb.RunPart, error) {
	last := &pb.RunPart{Stats: &pb.RunStats{Instance: instance.Name()}}
	err := inv.run(life, r, instance, n, last)
	if err != nil {
		last.Error, last.Traced = err.Error(), concerned(&inv.selection)
	}
	r.Traced = inv.answers.sampled || len(last.GetTraced()) > 0
	return last, err
}

func (inv *Invoker) run(life context.Context, r *Run, instance Instance, n Needs, last *pb.RunPart) error {
	stats := last.GetStats()
	inv.answers.sampled = false
	clock := r.Began
	stats.Waiting = lap(&clock)
	// In hundredths of a second, so that a developer reads 5s and not 4.998s in the log.
	budget := max(time.Until(r.Deadline).Round(10*time.Millisecond), 10*time.Millisecond)

	buffer := instance.Buffer()
	defer instance.ReleaseBuffer()
	inv.games.list = inv.games.list[:0]
	look := func(more func()) {
		r.Index.View(func(v pool.View) {
			v.Select(r.Request.GetPools(), &inv.selection)
			stats.Population = v.Count(r.Request.GetCensus())
			stats.Query = lap(&clock)
			if inv.selection.N() > 0 {
				inv.encode(v, r.Request, budget, n, buffer)
				more()
			}
		})
	}
	if r.Backfills == nil || !r.Request.GetBackfills() {
		look(func() {})
	} else {
		r.Backfills.View(func(v pool.View, of func(id string) *pb.Backfill) {
			inv.games.choose(v, of, r.Request.GetPools())
			look(func() { inv.encodeGames(v, r.Request, n) })
		})
	}
	stats.Tickets = int64(inv.selection.N())
	stats.Pools = inv.crowds(r.Request.GetPools())
	if stats.Tickets == 0 {
		return nil
	}
	request, err := inv.request.Finish()
	if err != nil {
		return FunctionError{err}
	}
	stats.Encode = lap(&clock)

	bytes, cost, err := instance.Run(life, request, budget)
	stats.Run, stats.Compute, stats.Memory = lap(&clock), cost.Compute.Microseconds(), int64(cost.Memory)
	if err != nil {
		return err
	}
	answer, err := inv.reader.Read(bytes, inv.selection.N(), len(inv.games.list))
	stats.Decode = lap(&clock)
	switch {
	case err != nil:
		return err
	case answer.Failure != "":
		return FunctionError{errors.New(answer.Failure)}
	}
	stats.Proposals = int64(answer.Len())
	return inv.answers.send(answer, &inv.selection, &inv.games, inv.created, last, r.Answer)
}

// crowds counts the tickets of pools. There are pools without tickets and no block was written when none has any.
func (inv *Invoker) crowds(pools map[string]*pb.Pool) map[string]*pb.PoolCount {
	counts := make(map[string]*pb.PoolCount, len(pools))
	for name := range pools {
		counts[name] = new(pb.PoolCount)
		if numbers := inv.selection.Pool(name); len(numbers) > 0 {
			// Numbers ascend by creation.
			counts[name].Tickets, counts[name].Oldest = int64(len(numbers)), int64(inv.created[numbers[0]])
		}
	}
	return counts
}

// lap is the microseconds since the last lap.
func lap(last *time.Time) int64 {
	now := time.Now()
	d := now.Sub(*last)
	*last = now
	return d.Microseconds()
}
