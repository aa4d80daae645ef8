// Package invocation runs match functions. For the request of a run it selects waiting tickets from an index, writes
// them as the block that the function reads, gives the block to an instance, checks the whole answer, and sends the
// proposals in parts.
//
// The caller supplies the runs and owns the instances: the runner gets runs from the bus, and mm tries a function on a
// file of tickets.
package invocation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
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
	columns   columns // of the tickets
	players   players // of the tickets
	kept      int     // about how many bytes all of this has, see Release
}

// Run is a run to do.
type Run struct {
	Request *pb.RunRequest
	Index   *pool.Index
	// Backfills are those that the function may see if the request says so; may be nil.
	Backfills *pool.Backfills
	// Session is what the instance's function keeps; nil for a function that gets all tickets in each run.
	Session *Session
	// Key is the key of Request, or empty if it is not needed yet.
	Key string
	// Watch is set by Invoke, unless it is nil: what the instance was given.
	Watch *Watch
	// Answer gets all parts of the answer but the last. A part is used again after Answer returned.
	Answer func(*pb.RunPart) error
	// Rest lets others work. It is called now and then while a long answer is checked and sent; may be nil.
	Rest func()
	// Began is when the run's time began to count, Deadline when it is over.
	Began, Deadline time.Time
	// Now is when the run happens for what is kept from run to run; Began if it is zero. A simulation has its own time.
	Now time.Time
	// Budget is how long the function is told that it has; what is left of the time if it is 0. With the same budget, a
	// function that counts its work does the same, however fast the machine is.
	Budget time.Duration
	// LeftOut is set by Invoke: what the function did not get.
	LeftOut LeftOut
	// Traced is set by Invoke: whether sampled tickets were proposed, or selected for a run that failed.
	Traced bool
}

// now is when the run happens for what is kept.
func (r *Run) now() time.Time {
	if r.Now.IsZero() {
		return r.Began
	}
	return r.Now
}

// Instance is an instance of the function: a *sandbox.Instance.
type Instance interface {
	Name() string
	// Memory is how much memory the function may use, in bytes.
	Memory() int
	// Buffer is where the request may be written; Run or ReleaseBuffer gives it up. Reserve is the same for one of n
	// bytes, for which the function may be asked. Reserves is whether it has such memory, otherwise the request is copied.
	Buffer() []byte
	Reserves(n int) bool
	Reserve(ctx context.Context, n int, budget time.Duration) ([]byte, error)
	ReleaseBuffer()
	Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error)
}

// FunctionError is the failure of a run that leaves its instance usable.
type FunctionError struct{ error }

func (e FunctionError) Unwrap() error { return e.error }

// words is an error in the function's own words. They may name players, so they go to the requester and to the
// function's log, and not to a director, which logs why a run of a cycle failed.
type words string

func (w words) Error() string { return string(w) }

const inItsLog = "the function returned an error: its log says which"

// Invoke does a run with an instance and sends all parts of its answer but the last. It returns the last part, with the
// rest of the proposals or the error; the next run uses that part again. After an error that is no FunctionError the
// instance must not be used again. The end of life kills the instance.
func (inv *Invoker) Invoke(life context.Context, r *Run, instance Instance, n Needs) (*pb.RunPart, error) {
	began := time.Now()
	stats := &pb.RunStats{Instance: instance.Name(), Waiting: began.Sub(r.Began).Microseconds()}
	last := &pb.RunPart{Stats: stats}
	inv.parts.begin(r)
	err := inv.invoke(life, r, instance, n, last, began)
	if err != nil {
		last.Error, last.Traced = err.Error(), sampledTickets(&inv.selection)
		asked := r.Request.GetCheck() || len(r.Request.GetExplain()) > 0
		if _, own := errors.AsType[words](err); own && !asked {
			last.Error = inItsLog
		}
	}
	r.Traced = inv.parts.sampled || len(last.GetTraced()) > 0
	stats.Messages, stats.AnswerBytes = int64(inv.parts.messages), int64(inv.parts.sent+inv.parts.size)
	stats.Charge = charge(stats, time.Since(began)) + r.Session.pay().Microseconds()
	return last, err
}

// charge is what a run is charged that took so long, in microseconds: the runner's own time, and the processor time of
// the instance, or all of its time when it was killed. So a run does not cost more because others compute beside it. It
// is at least an eighth of the whole: a process that was taken over may wait instead of computing.
func charge(stats *pb.RunStats, took time.Duration) int64 {
	instance := cmp.Or(stats.GetProcessor(), stats.GetRun())
	whole := took.Microseconds()
	return max(whole-stats.GetRun()+instance, whole/8)
}

// deadline is the time that a run has, from its request to its last part.
type deadline struct{ began, end time.Time }

// check is an error when the time is over. what says what was just done.
func (d deadline) check(what string) error {
	if time.Now().Before(d.end) {
		return nil
	}
	return FunctionError{fmt.Errorf("deadline: the run's %v were over when %s",
		d.end.Sub(d.began).Round(10*time.Millisecond), what)}
}

// left is how much of the time is left. It is rounded to hundredths of a second, so that the log says 5s and not
// 4.998s.
func (d deadline) left() time.Duration {
	return max(time.Until(d.end).Round(10*time.Millisecond), 10*time.Millisecond)
}

func (inv *Invoker) invoke(
	life context.Context, r *Run, instance Instance, n Needs, last *pb.RunPart, clock time.Time,
) error {
	stats, limit := last.GetStats(), inv.parts.deadline
	defer instance.ReleaseBuffer()
	e := &encoder{
		Invoker: inv, run: r, instance: instance, needs: n, stats: stats, clock: &clock,
		work: pool.Work{Deadline: r.Deadline},
	}
	// Explanations number the tickets differently from what a function keeps.
	e.mayKeep = r.Session != nil && len(r.Request.GetExplain()) == 0 && !r.Request.GetCheck()
	if e.mayKeep && !r.Session.Empty() {
		e.base = r.Session.find(r)
	}
	request, err := e.encode(life)
	defer func() {
		if err != nil {
			r.Session.drop(e.base) // it is unknown what the function has now
		}
	}()
	stats.Cells, r.LeftOut = e.work.Cells, e.left
	if err != nil {
		return err
	}
	last.Explanations, last.Places = e.unseen(), e.places()
	tickets, created := &inv.selection, inv.created
	if e.retains {
		tickets, created = e.base.kept.All(), e.base.kept.Created()
		inv.parts.tickets = e.base.kept.Live()
	} else {
		inv.parts.tickets = tickets.N()
	}
	stats.Tickets = int64(inv.parts.tickets)
	stats.Pools = inv.countPools(r.Request.GetPools(), e.base, e.retains)
	if stats.Tickets == 0 && !r.Request.GetCheck() {
		if _, ok := errors.AsType[FunctionError](e.unnamed); ok {
			return nil // it would have nothing to do
		}
		return e.unnamed
	}
	stats.Encode = lap(&clock)
	if e.inBuffer {
		inv.keep(r, 0)
	} else {
		inv.keep(r, len(request))
	}
	if err := limit.check("its tickets were selected and written"); err != nil {
		return err
	}

	var captured []byte
	if r.Request.GetCapture() {
		if captured, err = copyOf(request); err != nil {
			return err
		}
	}
	r.Watch.note(tickets, e.tickets)
	bytes, cost, err := []byte(nil), sandbox.Stats{}, e.unnamed
	if err == nil {
		bytes, cost, err = instance.Run(life, request, limit.left())
	}
	if captured != nil && err == nil {
		err = e.capture(captured, bytes, nil)
	} else if captured != nil {
		_ = e.capture(captured, nil, err) // the run has failed: that is its error
	}
	spent(stats, &clock, cost)
	if err != nil {
		return err
	}
	if inv.reader.Rest == nil { // once, until Release forgets it
		inv.reader.Rest = inv.parts.pause
	}
	answer, err := inv.reader.Read(bytes, tickets.N(), len(inv.backfills.list))
	stats.Decode = lap(&clock)
	switch {
	case err != nil:
		return err
	case answer.Failure != "":
		return FunctionError{words(answer.Failure)}
	}
	stats.Proposals, stats.Mentions = int64(answer.Len()), int64(len(answer.AllTickets()))
	if err := limit.check("its answer was checked"); err != nil {
		return err
	}
	if e.retains {
		if err := e.base.propose(answer); err != nil {
			return err
		}
	}
	if len(e.asked) > 0 {
		last.Explanations = append(last.Explanations, explanations(answer, e.asked, tickets)...)
	}
	inv.parts.block = len(bytes)
	return inv.parts.send(answer, tickets, &inv.backfills, created, last, r.Answer)
}

// countPools counts the tickets of pools, and their players. When no pool has a ticket, no request was written.
func (inv *Invoker) countPools(pools map[string]*pb.Pool, b *base, keeps bool) map[string]*pb.PoolCount {
	counts := make(map[string]*pb.PoolCount, len(pools))
	for name := range pools {
		counts[name] = new(pb.PoolCount)
		if keeps {
			n, oldest := b.kept.Count(name)
			counts[name].Tickets, counts[name].Oldest = int64(n), oldest
			counts[name].Players = int64(b.kept.PlayersOf(name))
			continue
		}
		if numbers := inv.selection.Pool(name); len(numbers) > 0 {
			// Numbers ascend by creation.
			counts[name].Tickets, counts[name].Oldest = int64(len(numbers)), int64(inv.created[numbers[0]])
			counts[name].Players = int64(inv.selection.PlayersOf(numbers))
		}
	}
	return counts
}

// spent adds what the function took to the stats of a run.
func spent(stats *pb.RunStats, clock *time.Time, cost sandbox.Stats) {
	stats.Run += lap(clock)
	stats.Compute += cost.Compute.Microseconds()
	stats.Processor += cost.Processor.Microseconds()
	stats.Memory = max(stats.Memory, int64(cost.Memory))
}

// lap is the microseconds since the last lap, rounded up: what was done took some time.
func lap(last *time.Time) int64 {
	now := time.Now()
	d := now.Sub(*last)
	*last = now
	return (d + time.Microsecond - 1).Microseconds()
}
