// Package invocation runs match functions. For the request of a run it selects waiting tickets from an index, writes
// them as the block that the function reads, gives the block to an instance, checks the whole answer, and sends the
// proposals in parts.
//
// Where a run comes from and who keeps the instance is up to the caller: the runner gets runs from the bus, and mm
// tries a function on a file of tickets.
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

// Invoker does one run after another. It keeps its memory from run to run, so that a run allocates next to nothing for
// its tickets. The zero Invoker is ready.
type Invoker struct {
	selection pool.Selection
	backfills backfills
	request   block.RequestBuilder
	created   []float64 // of the tickets, by number; the request's own column may be changed by the function
	reader    block.AnswerReader
	parts     parts
	scratch   []byte
}

// Run is a run to do.
type Run struct {
	Request *pb.RunRequest
	Index   *pool.Index
	// Backfills are those that the function may see if the request says so; may be nil.
	Backfills *pool.Backfills
	// Answer gets all parts of the answer but the last. A part is used again after Answer returned.
	Answer func(*pb.RunPart) error
	// Began is when the run's time began to count, Deadline when it is over.
	Began, Deadline time.Time
	// Traced is set by Invoke: whether sampled tickets were proposed, or selected for a run that failed.
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

// FunctionError is the failure of a run that leaves its instance usable.
type FunctionError struct{ error }

func (e FunctionError) Unwrap() error { return e.error }

// Invoke does a run with an instance and sends all parts of its answer but the last. It returns the last part, with the
// rest of the proposals or the error; the next run uses that part again. After an error that is no FunctionError the
// instance must not be used again. The end of life kills the instance.
func (inv *Invoker) Invoke(life context.Context, r *Run, instance Instance, n Needs) (*pb.RunPart, error) {
	last := &pb.RunPart{Stats: &pb.RunStats{Instance: instance.Name()}}
	err := inv.invoke(life, r, instance, n, last)
	if err != nil {
		last.Error, last.Traced = err.Error(), sampledTickets(&inv.selection)
	}
	r.Traced = inv.parts.sampled || len(last.GetTraced()) > 0
	return last, err
}

func (inv *Invoker) invoke(life context.Context, r *Run, instance Instance, n Needs, last *pb.RunPart) error {
	stats := last.GetStats()
	inv.parts.sampled = false
	clock := r.Began
	stats.Waiting = lap(&clock)
	// Rounded to hundredths of a second, so that the log says 5s and not 4.998s.
	budget := max(time.Until(r.Deadline).Round(10*time.Millisecond), 10*time.Millisecond)

	buffer := instance.Buffer()
	defer instance.ReleaseBuffer()
	inv.backfills.list = inv.backfills.list[:0]
	encode := func(encodeBackfills func()) {
		r.Index.View(func(v pool.View) {
			v.Select(r.Request.GetPools(), &inv.selection)
			stats.Population = v.Count(r.Request.GetCensus())
			stats.Query = lap(&clock)
			if inv.selection.N() > 0 {
				inv.encode(v, r.Request, budget, n, buffer)
				encodeBackfills()
			}
		})
	}
	if r.Backfills == nil || !r.Request.GetBackfills() {
		encode(func() {})
	} else {
		r.Backfills.View(func(v pool.View, of func(id string) *pb.Backfill) {
			inv.backfills.choose(v, of, r.Request.GetPools())
			encode(func() { inv.encodeBackfills(v, r.Request, n) })
		})
	}
	stats.Tickets = int64(inv.selection.N())
	stats.Pools = inv.countPools(r.Request.GetPools())
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
	answer, err := inv.reader.Read(bytes, inv.selection.N(), len(inv.backfills.list))
	stats.Decode = lap(&clock)
	switch {
	case err != nil:
		return err
	case answer.Failure != "":
		return FunctionError{errors.New(answer.Failure)}
	}
	stats.Proposals = int64(answer.Len())
	return inv.parts.send(answer, &inv.selection, &inv.backfills, inv.created, last, r.Answer)
}

// countPools counts the tickets of pools. When no pool has a ticket, no request was written.
func (inv *Invoker) countPools(pools map[string]*pb.Pool) map[string]*pb.PoolCount {
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
