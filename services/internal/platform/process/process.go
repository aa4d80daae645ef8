// Package process supervises programs that run as children of this process. A child is in a process group of its own,
// so that a Ctrl-C at the terminal reaches only this process. On Linux it ends with this process, however that ends.
package process

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// pipeTime is how long a grandchild may keep the output open after the child ended. Its output is lost after that.
const pipeTime = 10 * time.Second

// Process is a child that was started.
type Process struct {
	cmd  *exec.Cmd
	tail tail
	done chan struct{} // closed when the process has ended
	err  error         // of cmd.Wait; read after done
}

// EndOrderly lets a child write what it holds when this process ends: on Linux it gets a SIGTERM then, not a SIGKILL.
// It comes before Start.
func EndOrderly(cmd *exec.Cmd) { cmd.SysProcAttr = attributes(syscall.SIGTERM) }

// Start starts cmd. Its Stdout and Stderr get what it writes; the last lines of Stderr are part of the errors below,
// and also Stdout's if both are the same writer. A cmd with SysProcAttr keeps them.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, done: make(chan struct{})}
	stderr := Lines(p.tail.add)
	if cmd.Stderr != nil {
		stderr = io.MultiWriter(stderr, cmd.Stderr)
	}
	if cmd.Stdout == cmd.Stderr {
		cmd.Stdout = stderr
	}
	cmd.Stderr = stderr
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = attributes(syscall.SIGKILL)
	}
	cmd.WaitDelay = pipeTime
	started := make(chan error)
	go func() {
		// The kernel ties the child to the thread that started it, so the thread must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended and all its output was handed on.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running reports whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Err says how the process ended and what it wrote last, also when it ended with exit status 0. It is nil while the
// process runs.
func (p *Process) Err() error {
	switch {
	case p.Running():
		return nil
	case p.err != nil:
		return fmt.Errorf("%s ended: %w%s", p.name(), p.err, &p.tail)
	default:
		return fmt.Errorf("%s ended: exit status 0%s", p.name(), &p.tail)
	}
}

// Wait returns nil as soon as ready is true. It returns an error when the process or ctx ended before.
func (p *Process) Wait(ctx context.Context, ready func() bool) error {
	tick := time.Tick(10 * time.Millisecond)
	for !ready() {
		select {
		case <-p.done:
			if ready() {
				return nil
			}
			return p.Err()
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w%s", p.name(), context.Cause(ctx), &p.tail)
		case <-tick:
		}
	}
	return nil
}

// Signal sends a signal. It does nothing when the process has ended.
func (p *Process) Signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill ends the process as a crash does, and returns when it has ended.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Stop asks the process to end with SIGTERM, and kills it when it still runs after the time given. It returns nil only
// when the process ended with exit status 0.
func (p *Process) Stop(within time.Duration) error {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(within):
		p.Kill()
	}
	if p.err != nil {
		return p.Err()
	}
	return nil
}

func (p *Process) name() string { return filepath.Base(p.cmd.Path) }

const (
	maxLine = 64 << 10 // bytes of a line that are kept
	maxTail = 6        // lines of output in an error
)

// Lines is a writer that calls each for every line, without the line's end. It may be called by one goroutine at a
// time. Bytes of a line after the first 64 KiB are dropped.
func Lines(each func(line string)) io.Writer { return &lines{each: each} }

type lines struct {
	each func(string)
	rest []byte // of an unfinished line
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte("\n"))
		l.rest = append(l.rest, line[:min(len(line), maxLine-len(l.rest))]...)
		if !found {
			return n, nil
		}
		l.each(string(l.rest))
		l.rest, p = l.rest[:0], rest
	}
}

// tail keeps the last lines of a process's output for errors.
type tail struct {
	mu   sync.Mutex
	last []string
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if line = strings.TrimSpace(line); line == "" {
		return
	}
	if t.last = append(t.last, line); len(t.last) > maxTail {
		t.last = t.last[1:]
	}
}

// String is the end of an error; "" when there was no output.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.last) == 0 {
		return ""
	}
	return "; its last output: " + strings.Join(t.last, " | ")
}
