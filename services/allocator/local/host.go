package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"matchmaker.dev/services/allocator/gameserver"
)

// grace is how long a process may take to end before it is killed.
const grace = 5 * time.Second

// host is a process that hosts game servers.
type host struct {
	fleet   *Fleet
	cmd     *exec.Cmd
	stderr  *journal
	servers map[string]*server // by their IDs; guarded by the fleet's mu

	mu    sync.Mutex
	queue [][]byte // commands on their way
	over  bool     // no more will come

	wake chan struct{} // queue or over changed
	gone chan struct{} // closed when the process is
}

// spawn starts a process. In a group of its own, so that a Ctrl-C in the
// terminal leaves it to the allocator when the servers end.
func spawn(f *Fleet) (*host, error) {
	h := &host{
		fleet:   f,
		cmd:     exec.Command(f.options.Binary, f.options.Args...),
		stderr:  &journal{log: f.options.Log},
		servers: map[string]*server{},
		wake:    make(chan struct{}, 1),
		gone:    make(chan struct{}),
	}
	h.cmd.Env = []string{} // nil would be the allocator's, secrets included
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h.cmd.Stderr = h.stderr
	h.cmd.WaitDelay = grace
	in, err := h.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	go h.write(in)
	go h.read(out)
	return h, nil
}

// send queues a command. It does not wait: a process that hangs holds up only
// those who wait for its answers.
func (h *host) send(line []byte) {
	h.mu.Lock()
	h.queue = append(h.queue, line)
	h.mu.Unlock()
	h.stir()
}

// quit lets the process end, after what is queued.
func (h *host) quit() {
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
	h.stir()
}

func (h *host) stir() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// write passes commands on until the process or the fleet ends.
func (h *host) write(in io.WriteCloser) {
	defer in.Close()
	for {
		h.mu.Lock()
		lines, over := h.queue, h.over
		h.queue = nil
		h.mu.Unlock()
		for _, line := range lines {
			if _, err := in.Write(append(line, '\n')); err != nil {
				return // the process is gone, as read notices
			}
		}
		if over {
			return
		}
		select {
		case <-h.wake:
		case <-h.gone:
			return
		}
	}
}

// read takes the process's events until it ends, and sees to its end.
func (h *host) read(out io.Reader) {
	events := json.NewDecoder(out)
	var broken error
	for broken == nil {
		var e gameserver.Event
		if broken = events.Decode(&e); broken == nil {
			h.fleet.hear(h, e)
		}
	}
	if !errors.Is(broken, io.EOF) {
		h.kill()
	}
	late := time.AfterFunc(grace, h.kill)
	defer late.Stop()
	err := h.cmd.Wait()
	switch {
	case !errors.Is(broken, io.EOF):
		err = fmt.Errorf("its answers make no sense: %w", broken)
	case err == nil:
		err = errors.New("exit status 0")
	}
	if last := h.stderr.last(); last != "" {
		err = fmt.Errorf("%w; its last words: %s", err, last)
	}
	h.fleet.bury(h, err)
	close(h.gone)
}

// wait returns when the process is gone, which quit asked it to be.
func (h *host) wait() {
	late := time.AfterFunc(grace, h.kill)
	defer late.Stop()
	<-h.gone
}

// kill ends the process; that it is gone already is no error.
func (h *host) kill() { _ = h.cmd.Process.Kill() }
