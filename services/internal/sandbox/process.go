package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
)

// process is a child, as the parent sees it.
type process struct {
	cmd      *exec.Cmd
	requests *os.File
	frames   *os.File
	in       *bufio.Reader // of frames
	memory   *sharedMemory // the guest's, nil when it is the child's alone
	buffer   requestBuffer // in memory
	stderr   *stderrHead
	instance bool // it is to run a module, and no compiler
	limits   Limits
	log      func(line string)

	killReason atomic.Pointer[Error] // why we killed it, nil when we did not
	exited     chan struct{}         // closed when it was reaped
	head       [headSize]byte        // scratch
}

// processMemory is what a child may use besides the guest's linear memory, in bytes. The Go runtime counts 64 to 128
// MiB that it mapped and did not touch; the WebAssembly stack may grow to 84 MB, and two of them exist while it grows.
// Shared memory does not count against RLIMIT_DATA: the size of its file bounds it.
const processMemory = 256 * mib

// environment is the whole environment of a child: settings of the Go runtime, which take longer to make later. A guest
// computes on one thread. Its process makes next to no garbage, which is collected only when there is much of it.
func environment(s childSettings) []string {
	const noControlGroup = "GODEBUG=containermaxprocs=0" // otherwise the files of the control group stay open
	if s.Compile {
		return []string{noControlGroup, "GOMAXPROCS=2"}
	}
	return []string{noControlGroup, "GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=64MiB"}
}

// How much nicer children are than this process.
const (
	instanceNice   = 5
	compilerNice   = 10
	backgroundNice = 15 // compilers that take long
)

// niceOf is the nice value of a child. It is nicer than this process, so that a computing function does not delay what
// this process does itself, and what else runs on the machine. Runs are more urgent than compiling.
func niceOf(s childSettings) int {
	switch {
	case s.Background:
		return nicer(backgroundNice)
	case s.Compile:
		return nicer(compilerNice)
	}
	return nicer(instanceNice)
}

// spawn creates a child, which may access the given files, and sends it its settings.
func (b *Supervisor) spawn(s childSettings, log func(line string), files ...rule) (*process, error) {
	if err := b.beginLaunch(); err != nil {
		return nil, err
	}
	defer b.launches.Done()
	requestsIn, requests, err := os.Pipe()
	if err != nil {
		return nil, spawnError(err)
	}
	frames, framesOut, err := os.Pipe()
	if err != nil {
		requestsIn.Close()
		requests.Close()
		return nil, spawnError(err)
	}
	var memory *sharedMemory
	extra := []*os.File{requestsIn, framesOut}
	if s.Shared {
		if memory = b.newMemory(s.Memory); memory != nil {
			extra = append(extra, memory.file)
		}
		s.Shared = memory != nil
	}
	p := &process{
		memory: memory, requests: requests, frames: frames, in: bufio.NewReaderSize(frames, 32*kib),
		stderr: &stderrHead{}, instance: !s.Compile && !s.Inspect, limits: b.limits, log: log,
		exited: make(chan struct{}),
	}
	p.cmd = &exec.Cmd{
		Path: b.binary, Args: b.args, Env: environment(s), Dir: "/",
		// Otherwise exec opens /dev/null, which the thread that starts the command may not do.
		Stdin: b.null, Stdout: b.null,
		Stderr: p.stderr, ExtraFiles: extra,
	}
	err = launch(p.cmd, b.fileRules.with(files...), niceOf(s), p.exited)
	requestsIn.Close()
	framesOut.Close()
	if err != nil {
		p.close()
		return nil, spawnError(err)
	}
	b.mu.Lock()
	b.processes[p] = true // which Close kills
	b.mu.Unlock()
	go func() {
		_ = p.cmd.Wait() // the result is in cmd.ProcessState
		p.memory.close()
		b.mu.Lock()
		delete(b.processes, p)
		b.mu.Unlock()
		close(p.exited)
	}()
	message, err := json.Marshal(s)
	if err == nil {
		err = p.sendMessage(message)
	}
	if err != nil {
		err = p.stop(err)
		p.close()
		return nil, err
	}
	return p, nil
}

func spawnError(err error) error {
	return problem.Wrap(problem.Unavailable, err, "no process for the function could be created")
}

// childTime returns the processor time of a process that has ended.
func (p *process) childTime() time.Duration {
	if ended := p.cmd.ProcessState; ended != nil {
		return ended.UserTime() + ended.SystemTime()
	}
	return 0
}

// runToEnd spawns a child that sends one readyFrame and ends by itself. It returns the body of the frame, and the
// processor time that the child took.
func (b *Supervisor) runToEnd(
	ctx context.Context, s childSettings, d time.Duration, what string, files ...rule,
) (body []byte, spent time.Duration, err error) {
	p, err := b.spawn(s, func(string) {}, files...)
	if err != nil {
		return nil, 0, err
	}
	defer p.close()
	err = p.withDeadline(ctx, d, what, func() (err error) {
		_, body, err = p.receive(readyFrame, nil)
		return err
	})
	if err == nil {
		<-p.exited
	}
	return body, p.childTime(), err
}

// withDeadline calls talk, which exchanges messages with the child. It kills the child when that takes longer than d or
// ctx ends. After an error, which is an *Error, the process has ended.
func (p *process) withDeadline(ctx context.Context, d time.Duration, what string, talk func() error) error {
	return p.within(ctx, d, d, what, talk)
}

// within is withDeadline for a child that has a low priority: a child that took less than d of a processor has time
// until longest, since other processes slowed it.
func (p *process) within(ctx context.Context, d, longest time.Duration, what string, talk func() error) error {
	var mu sync.Mutex
	var ended, expired bool
	began := time.Now()
	var timer *time.Timer
	check := func() {
		mu.Lock()
		defer mu.Unlock()
		if left := longest - time.Since(began); !ended && left > 0 && p.processorTime() < d {
			timer.Reset(min(left, d/4))
		} else if !ended {
			expired = true
			p.kill(failure(Deadline, "%s took longer than %v", what, d))
		}
	}
	mu.Lock()
	timer = time.AfterFunc(d, check)
	mu.Unlock()
	unwatch := context.AfterFunc(ctx, func() { p.kill(canceled(ctx)) })
	err := talk()
	mu.Lock()
	ended = true
	inTime := !expired
	mu.Unlock()
	timer.Stop()
	if notCanceled := unwatch(); err == nil && inTime && notCanceled {
		return nil
	}
	return p.stop(err)
}

// kill kills the process. The first reason counts.
func (p *process) kill(why *Error) {
	p.killReason.CompareAndSwap(nil, why)
	_ = p.cmd.Process.Kill() // an error means that it ended already
}

// stop makes sure that the process has ended, and returns why: the reason for which this side killed it, or the child's
// own report, which is err, or how the process ended.
func (p *process) stop(err error) *Error {
	_ = p.cmd.Process.Kill()
	<-p.exited
	if why := p.killReason.Load(); why != nil {
		return why
	}
	if reported, ok := errors.AsType[*Error](err); ok {
		return reported
	}
	return p.exitError()
}

// outOfMemory matches what runtimes print when they get no memory: Go's, and C's below it where a build has that. Go's
// collector writes to new memory without a check, and so ends with SIGSEGV on the stack of the scheduler, where no code
// of a module ever runs.
var outOfMemory = regexp.MustCompile(`out of memory|cannot allocate memory|pthread_create failed|` +
	`failed to create new OS thread|failed to allocate|^SIGSEGV: [^\n]*\nPC=[^\n]*\n\ngoroutine 0 `)

// exitError is why the process ended by itself, from what its runtime printed.
func (p *process) exitError() *Error {
	text := p.stderr.String()
	if outOfMemory.MatchString(text) {
		return failure(Memory, "its process needed more memory than it may have")
	}
	first, _, _ := strings.Cut(text, "\n")
	return failure(Died, "its process ended: %v %s", p.cmd.ProcessState, first)
}

// close closes what this side holds.
func (p *process) close() {
	p.memory.close()
	p.requests.Close()
	p.frames.Close()
}

// stderrHead keeps the beginning of a child's standard error. A child writes nothing there unless its runtime fails.
type stderrHead struct {
	text    []byte
	written atomic.Int64
}

// maxStderr is how much a child may write to its standard error, in bytes. Then the pipe is closed, so that a child
// that never stops does not keep this process busy.
const maxStderr = 64 * kib

func (w *stderrHead) Write(b []byte) (int, error) {
	if w.written.Add(int64(len(b))) > maxStderr {
		return 0, errors.New("the process wrote too much to its standard error")
	}
	w.text = append(w.text, b[:min(len(b), 4*kib-len(w.text))]...)
	return len(b), nil
}

// String is valid UTF-8, because messages with errors must be.
func (w *stderrHead) String() string { return strings.ToValidUTF8(string(w.text), "\ufffd") }
