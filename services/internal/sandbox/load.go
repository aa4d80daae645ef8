package sandbox

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"matchmaker.dev/services/internal/platform/quota"
)

// Cost is the cost of loading a module.
type Cost struct {
	Processor time.Duration // of the compiler and of the trial start
	Waited    time.Duration // for a turn
	Slow      bool          // it did not fit into the quick stage
}

// stage limits the loading of a module. Each module tries the quick stage first, which none holds for long. A module
// that does not fit there, or whose owner used much lately, goes to the slow stage, where it delays slow modules alone.
type stage struct {
	queue                     *quota.Queue
	processor, compile, start time.Duration // of the compiler: processor time, elapsed time; of the trial
	memory                    int           // of the compiler, in bytes
	last                      bool          // a module that does not fit is refused
}

// The quick stage fits Go modules of 4 MB and most others: one of 2.4 MB takes 1 s of a processor, and starts in 0.1 s.
// The kernel counts whole seconds. Elapsed times have room for a busy machine: a module that is slow because of others
// must not end behind slow ones.
const (
	quickPlaces    = 2
	quickProcessor = 2 * time.Second
	quickElapsed   = 6 * time.Second
	quickStart     = time.Second
	quickMemory    = 4 // the part of Limits.CompileMemory
	// quickUsage is how much an owner may have used lately to try the quick stage: a dozen Go modules, or none that fails
	// in both stages.
	quickUsage = 20 * time.Second
	// busy is how much longer than its limit of processor time a child of low priority may take on a busy machine.
	busy = 6
)

func (b *Supervisor) stages() [2]stage {
	return [...]stage{
		{
			queue: b.quick, processor: min(quickProcessor, b.limits.Compile),
			compile: min(quickElapsed, busy*b.limits.Compile), start: min(quickStart, b.limits.Start),
			memory: b.limits.CompileMemory / quickMemory,
		},
		{
			queue: b.slow, processor: b.limits.Compile, compile: busy * b.limits.Compile, start: b.limits.Start,
			memory: b.limits.CompileMemory, last: true,
		},
	}
}

// makeQueues makes the queues of modules, in which the turns of an owner count together, and the queue of instances.
func (b *Supervisor) makeQueues() {
	compiling := &quota.Usage{}
	b.quick = quota.NewQueue(quota.Options{Places: quickPlaces, Usage: compiling, Now: b.now})
	b.slow = quota.NewQueue(quota.Options{Places: 1, Usage: compiling, Now: b.now})
	// Starting computes: more instances at a time only take longer, each of them.
	b.starts = quota.NewQueue(quota.Options{Places: max(2, runtime.GOMAXPROCS(0)), Now: b.now})
}

// inStages tries a module in the quick stage, and if it does not fit there in the slow one.
func (b *Supervisor) inStages(
	ctx context.Context, owner string, try func(context.Context, stage) (time.Duration, error),
) (cost Cost, err error) {
	for _, s := range b.stages() {
		began := b.now()
		if !s.last && s.queue.Usage.Of(owner, began) > quickUsage {
			continue
		}
		turn, err := s.queue.Enter(ctx, owner)
		cost.Waited += max(0, b.now().Sub(began))
		if err != nil {
			return cost, err
		}
		cost.Slow = s.last
		spent, err := try(ctx, s)
		cost.Processor += spent
		turn.Leave(spent)
		if err == nil || s.last || !needsMore(err) || ctx.Err() != nil {
			return cost, err
		}
	}
	return cost, nil
}

// needsMore reports whether a module may have failed for want of time or memory. When a process exceeds its processor
// time, the kernel ends it and says nothing. On a busy machine it counts a good deal more than the process had.
func needsMore(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Cause == Deadline || e.Cause == Memory || e.Cause == Died)
}

// startTurn is how long a start holds its place. An instance of a Go module takes 0.2 s on a slow machine. A start that
// exceeds this gives up its place, so modules that are slow on purpose cannot block others.
const startTurn = time.Second

// enterStart waits until an instance of an owner may start. Otherwise all functions of a runner that came back would
// start at once, none within its time, and again and again. started must be called when the instance has started or
// failed.
func (b *Supervisor) enterStart(ctx context.Context, owner string) (started func(), err error) {
	turn, err := b.starts.Enter(ctx, owner)
	if err != nil {
		return nil, err
	}
	leave := sync.OnceFunc(func() { turn.Leave(0) })
	late := time.AfterFunc(startTurn, leave)
	return func() {
		late.Stop()
		leave()
	}, nil
}

// Queued returns how many modules wait for their turn to be compiled, in each stage.
func (b *Supervisor) Queued() (quick, slow int) { return b.quick.Len(), b.slow.Len() }
