package sandbox

import (
	"context"
	"time"
)

// Instance is a started match function in a process of its own. Run must not be called concurrently; the other methods
// may be called at any time.
type Instance struct {
	name    string
	process *process
	answer  []byte // of the last run
	// reserved is the processor time that the latest Reserve took, which counts to the next run.
	reserved time.Duration
}

// Stats are the costs of a run.
type Stats struct {
	Compute time.Duration // in the function: mm_alloc and mm_run, as its process says
	// Processor is the processor time of the instance's process, as the kernel says; 0 where it says nothing.
	Processor time.Duration
	Memory    int // bytes of its linear memory, which never shrinks
}

// Name is the name that Start was given.
func (i *Instance) Name() string { return i.name }

// Pid is the id of the process.
func (i *Instance) Pid() int { return i.process.cmd.Process.Pid }

// Done is closed when the process has ended, for whatever reason, also between runs.
func (i *Instance) Done() <-chan struct{} { return i.process.exited }

// Buffer returns memory of the function where the next request may be written, so that Run need not copy it. It is as
// large as the function's buffer for requests, and nil before the first long request. It is valid until Run or
// ReleaseBuffer. One of them must follow soon: until then the memory of an instance that ended is not freed.
func (i *Instance) Buffer() []byte { return i.process.holdBuffer() }

// Memory is how much linear memory the function may have, in bytes.
func (i *Instance) Memory() int { return i.process.limits.Memory }

// Reserves reports whether Reserve returns memory for a request of n bytes.
func (i *Instance) Reserves(n int) bool { return i.process.memory != nil && n >= minShared }

// Reserve asks the function for memory for a request of n bytes, and returns it, as Buffer does: a long request need
// not be in this process at all. It is nil when the request must be passed to Run in another way: when it is short, or
// no memory is shared. The function's code runs, so the caller should hold no locks meanwhile. After an
// error, which is an *Error, the instance has ended.
func (i *Instance) Reserve(ctx context.Context, n int, budget time.Duration) ([]byte, error) {
	p := i.process
	if !i.Reserves(n) {
		return nil, nil
	}
	p.releaseBuffer()
	before := p.processorTime()
	err := p.withDeadline(ctx, min(budget, p.limits.Run), "the run", func() error {
		if n > p.limits.Memory {
			return failure(Memory, "the request has %d bytes, the memory limit is %d MiB", n, p.limits.Memory/mib)
		}
		return p.reserve(bufferSize(n, p.limits.Memory))
	})
	if err != nil {
		return nil, err
	}
	i.reserved += max(p.processorTime()-before, 0)
	return p.holdBuffer(), nil
}

// maxKeptAnswer is the largest memory for an answer that an instance keeps for its next one. There may be a hundred
// instances that had a large one once.
const maxKeptAnswer = mib

// ReleaseBuffer gives up a buffer without a Run, and memory for answers that an instance does not keep between runs.
// The last answer stays valid.
func (i *Instance) ReleaseBuffer() {
	i.process.releaseBuffer()
	if cap(i.answer) > maxKeptAnswer {
		i.answer = nil
	}
}

// Run runs the function on a request, which may lie in [Instance.Buffer], and returns its answer, which is valid until
// the next Run. It takes at most budget, or Limits.Run when budget is 0 or more than that. The log gets the function's
// output before Run returns. After an error, which is an *Error, the instance has ended.
func (i *Instance) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, Stats, error) {
	p := i.process
	if budget <= 0 || budget > p.limits.Run {
		budget = p.limits.Run
	}
	inBuffer := p.inBuffer(request)
	p.releaseBuffer()
	var h head
	before := p.processorTime()
	err := p.withDeadline(ctx, budget, "the run", func() (err error) {
		if len(request) > p.limits.Memory {
			return failure(Memory, "the request has %d bytes, the memory limit is %d MiB", len(request), p.limits.Memory/mib)
		}
		if err = p.sendRequest(request, inBuffer); err != nil {
			return err
		}
		h, i.answer, err = p.receive(answerFrame, i.answer)
		return err
	})
	if err != nil {
		return nil, Stats{}, err
	}
	stats := Stats{Compute: time.Duration(h.nanos), Memory: int(h.memory), Processor: i.reserved}
	i.reserved = 0
	if after := p.processorTime(); after > before {
		stats.Processor += after - before
	}
	return i.answer, stats, nil
}

// Close kills the process and waits for its end. Instances that ended must be closed too.
func (i *Instance) Close() {
	i.process.kill(failure(Closed, "closed"))
	<-i.process.exited
	i.process.close()
}
