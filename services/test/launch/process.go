// Package launch starts servers as child processes, for programs that show or
// measure them from outside.
package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// How long a process may take to say where it listens, and to stop.
const (
	startTime = time.Minute
	stopTime  = time.Minute
)

// Process is a running server.
type Process struct {
	// URL is where it listens, http://host:port.
	URL string

	cmd  *exec.Cmd
	gone chan error
	stop func() error
}

var address = regexp.MustCompile(`http://[0-9.:\[\]]+`)

// Spawn starts a program, which need not say where it listens, and returns at once.
func Spawn(errs io.Writer, binary string, args ...string) (*Process, error) {
	p, stdout, err := start(errs, binary, args)
	if err != nil {
		return nil, err
	}
	go p.watch(stdout, make(chan string, 1))
	return p, nil
}

func start(errs io.Writer, binary string, args []string) (*Process, io.Reader, error) {
	p := &Process{cmd: exec.Command(binary, args...), gone: make(chan error, 1)}
	p.stop = sync.OnceValue(p.end)
	p.cmd.Stderr = errs
	// A Ctrl-C at the terminal is for the caller, which then stops the process in good order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	return p, stdout, p.cmd.Start()
}

// Start starts a program that says on its standard output where it listens, and
// returns when it did. errs gets what it writes to its standard error.
func Start(ctx context.Context, errs io.Writer, binary string, args ...string) (*Process, error) {
	p, stdout, err := start(errs, binary, args)
	if err != nil {
		return nil, err
	}
	found := make(chan string, 1)
	go p.watch(stdout, found)
	select {
	case p.URL = <-found:
		return p, nil
	case err := <-p.gone:
		return nil, fmt.Errorf("%s ended: %w", binary, err)
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), p.Stop())
	case <-time.After(startTime):
		return nil, errors.Join(fmt.Errorf("%s did not say where it listens", binary), p.Stop())
	}
}

// watch reads the standard output until the process ends.
func (p *Process) watch(stdout io.Reader, found chan<- string) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if url := address.FindString(lines.Text()); url != "" {
			select {
			case found <- url:
			default:
			}
		}
	}
	p.gone <- p.cmd.Wait()
}

// Stop ends the process and returns how it ended. More calls return the same.
func (p *Process) Stop() error { return p.stop() }

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// CPU is the processor time that the process took, and those that it had started; 0 until it was stopped.
func (p *Process) CPU() time.Duration {
	if s := p.cmd.ProcessState; s != nil {
		return s.UserTime() + s.SystemTime()
	}
	return 0
}

func (p *Process) end() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.gone:
		return err
	case <-time.After(stopTime):
		return errors.Join(fmt.Errorf("%s did not stop in time", p.cmd.Path), p.cmd.Process.Kill())
	}
}
