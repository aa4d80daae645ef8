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
}

// Stats is what a run took.
type Stats struct {
	Compute time.Duration // in the function: mm_alloc and mm_run
	Memory  int           // bytes of its linear memory, which never shrinks
}

// Name is the name that Start was given.
func (i *Instance) Name() string { return i.name }

// Pid is the id of the process.
func (i *Instance) Pid() int { return i.process.cmd.Process.Pid }

// Done is closed when the process has ended, for whatever reason, also between runs.
func (i *Instance) Done() <-chan struct{} { return i.process.exited }

// Buffer is memory of the function where the next request may be written, so that Run need not copy it. It is as large
// as the function's buffer for requests, and nil before the first long request. It is valid until Run or ReleaseBuffer.
// One of them must follow soon: until then the memory of an instance that ended is not freed.
func (i *Instance) Buffer() []byte { return i.process.holdBuffer() }

// ReleaseBuffer gives up a buffer without a Run. Without a buffer it does nothing.
func (i *Instance) ReleaseBuffer() { i.process.releaseBuffer() }

// Run runs the function on a request, which may lie in [Instance.Buffer], and returns its answer, which is valid until
// the next Run. It takes at most budget, or Limits.Run when budget is 0 or more than that. The log got what the
// function printed before Run returns. After an error, which is an *Error, the instance has ended.
func (i *Instance) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, Stats, error) {
	p := i.process
	if budget <= 0 || budget > p.limits.Run {
		budget = p.limits.Run
	}
	inBuffer := p.inBuffer(request)
	p.releaseBuffer()
	var h head
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
	return i.answer, Stats{Compute: time.Duration(h.nanos), Memory: int(h.memory)}, nil
}

// Close kills the process and waits for its end. Instances that ended must be closed too.
func (i *Instance) Close() {
	i.process.kill(failure(Closed, "closed"))
	<-i.process.exited
	i.process.close()
}
