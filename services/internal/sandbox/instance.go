package sandbox

import (
	"context"
	"time"
)

// Instance is a started match function in a process of its own. One call of
// Run at a time; the other methods may be called at any time.
type Instance struct {
	name    string
	process *process
	answer  []byte // of the last run
}

// Stats is what a run took.
type Stats struct {
	Compute time.Duration // in the function: mm_alloc and mm_run
	Memory  int           // bytes of its linear memory, which never shrinks
}

// Name is what Start was given.
func (i *Instance) Name() string { return i.name }

// Pid is the process's id.
func (i *Instance) Pid() int { return i.process.cmd.Process.Pid }

// Done is closed when the process is gone, for whatever reason, also between runs.
func (i *Instance) Done() <-chan struct{} { return i.process.gone }

// Dead tells whether Done is closed.
func (i *Instance) Dead() bool {
	select {
	case <-i.process.gone:
		return true
	default:
		return false
	}
}

// Buffer is where the next request may be written, so that Run need not copy it there: memory of the function, as much as it gave for
// requests so far, and nil before the first long one. It is good until Run or ReleaseBuffer, one of which must follow soon: until then
// the memory of a dead instance is not given back.
func (i *Instance) Buffer() []byte { return i.process.enter() }

// ReleaseBuffer gives up a room that Run is not called for. Without one it does nothing.
func (i *Instance) ReleaseBuffer() { i.process.leave() }

// Run runs the function on a request, which may lie in [Instance.Buffer], and returns its answer, which is valid
// until the next Run. It takes at most budget, or Limits.Run when budget is 0
// or more than that. What the function printed was given to the log before Run
// returns. After an error, always an *Error, the instance is dead.
func (i *Instance) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, Stats, error) {
	p := i.process
	if budget <= 0 || budget > p.limits.Run {
		budget = p.limits.Run
	}
	inRoom := p.inRoom(request)
	p.leave()
	var h head
	err := p.within(ctx, budget, "the run", func() (err error) {
		if len(request) > p.limits.Memory {
			return failure(Memory, "the request has %d bytes, the memory limit is %d MiB", len(request), p.limits.Memory/mib)
		}
		if err = p.hand(request, inRoom); err != nil {
			return err
		}
		h, i.answer, err = p.receive(answerFrame, i.answer)
		return err
	})
	if err != nil {
		return nil, Stats{}, err
	}
	return i.answer, Stats{Compute: time.Duration(h.nanos), Memory: int(h.memory)}, nil
}

// Close kills the process and waits for its end. Call it on dead instances too:
// it frees what this side holds.
func (i *Instance) Close() {
	i.process.kill(failure(Closed, "closed"))
	<-i.process.gone
	i.process.release()
}
