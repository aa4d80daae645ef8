package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// unit is a process that is started again and again.
type unit struct {
	name string
	// command makes the process.
	command func() *exec.Cmd
	// address finds in a line of its output where the process listens; "" when the line does not say.
	address func(line []byte) string
	// logs is the folder for what it writes.
	logs string

	mu      sync.Mutex
	current *process
	starts  int
}

// process is one life of a unit.
type process struct {
	cmd *exec.Cmd
	// found is closed when it said where it listens, done when it is gone.
	found, done chan struct{}
	listens     string
	err         error
}

// start starts the unit, which must not run.
func (u *unit) start() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.starts++
	file, err := os.OpenFile(filepath.Join(u.logs, u.name+".log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	p := &process{cmd: u.command(), found: make(chan struct{}), done: make(chan struct{})}
	out := &output{file: file, line: func(line []byte) {
		if where := u.address(line); where != "" && p.listens == "" {
			p.listens = where
			close(p.found)
		}
	}}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	// Instances of functions hold the pipe for a moment longer.
	p.cmd.WaitDelay = 2 * time.Second
	p.cmd.SysProcAttr = bound()
	started := make(chan error)
	go func() {
		// The kernel ties a process to the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.done)
		}
		_ = file.Close()
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("%s: %w", u.name, err)
	}
	u.current = p
	return nil
}

// running is the unit's process, nil before the first start.
func (u *unit) running() *process {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.current
}

// kill ends the process as a crash does.
func (u *unit) kill() {
	p := u.running()
	if p == nil {
		return
	}
	p.signal(syscall.SIGKILL)
	<-p.done
}

// stop asks the process to end in good order, and kills it when it takes too long: it may have nobody to say goodbye to.
func (u *unit) stop(patience time.Duration) {
	p := u.running()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(patience):
		u.kill()
	}
}

// signal sends a signal. That the process is gone already shows soon enough.
func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

var errGone = errors.New("the process is gone")

// where is where the unit listens, as soon as it does.
func (u *unit) where(ctx context.Context) (string, error) {
	p := u.running()
	if p == nil {
		return "", errGone
	}
	select {
	case <-p.found:
	case <-p.done:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	select {
	case <-p.done:
		return "", errGone
	default:
		return p.listens, nil
	}
}

// dial connects to the unit. part chooses from what it says it listens at.
func (u *unit) dial(part func(string) (network, address string)) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		where, err := u.where(ctx)
		if err != nil {
			return nil, err
		}
		network, address := part(where)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

func tcp(where string) (network, address string) { return "tcp", where }

// output writes to a file, and hands on every line.
type output struct {
	file *os.File
	line func([]byte)
	rest []byte
}

// Write is called by one goroutine at a time.
func (o *output) Write(p []byte) (int, error) {
	o.rest = append(o.rest, p...)
	for {
		line, rest, found := bytes.Cut(o.rest, []byte("\n"))
		if !found {
			break
		}
		o.line(line)
		o.rest = rest
	}
	return o.file.Write(p)
}
