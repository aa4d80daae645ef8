package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// grace is how long a child may take to write its files before it is killed.
const grace = 10 * time.Second

// child is a server process that belongs to this one.
type child struct {
	cmd  *exec.Cmd
	log  *journal
	done chan struct{} // closed when the process is gone
	err  error         // how it ended; read after done
}

// startChild runs cmd as a process of its own group, so that a Ctrl-C in the
// terminal reaches this process alone, which then ends its child last.
func startChild(cmd *exec.Cmd, log *slog.Logger) (*child, error) {
	c := &child{cmd: cmd, log: &journal{log: log}, done: make(chan struct{})}
	cmd.SysProcAttr = bound()
	cmd.Stdout, cmd.Stderr = c.log, c.log
	// A grandchild may still hold the pipe when the child is gone.
	cmd.WaitDelay = time.Second
	started := make(chan error)
	go func() {
		// The kernel ties the child to the thread that started it, not to the
		// process: the thread must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// await returns nil once ready answers true, and an error when the child or ctx
// ended before.
func (c *child) await(ctx context.Context, ready func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-c.done:
			return c.failure()
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w; its last words: %s", ctx.Err(), c.log.last())
		case <-tick.C:
		}
	}
	c.log.loud.Store(true)
	return nil
}

// failure says how the child ended. Call it after done.
func (c *child) failure() error {
	how := "exit status 0"
	if c.err != nil {
		how = c.err.Error()
	}
	return fmt.Errorf("%s ended: %s; its last words: %s", c.cmd.Path, how, c.log.last())
}

// stop asks the child to end, and kills it when it does not. It returns an error
// unless the child ended in good order.
func (c *child) stop() error {
	c.log.loud.Store(false)
	// An error means that the process is gone already.
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	select {
	case <-c.done:
	case <-deadline.C:
		c.kill()
	}
	if c.err != nil {
		return c.failure()
	}
	return nil
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}
