package local

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/process"
)

// grace is how long a process may take to end before it is killed.
const grace = 5 * time.Second

// host is a process that hosts game servers.
type host struct {
	*process.Process
	fleet   *Fleet
	servers map[string]*server // by their IDs; guarded by the fleet's mu

	mu    sync.Mutex
	queue [][]byte // commands that are not written yet
	over  bool     // no more commands will come

	changed notify.Signal // of queue or over
	broken  chan error    // gets what was wrong with the process's first line that is no event
	removed chan struct{} // closed when the process has ended and the fleet knows
}

// spawn starts a process.
func spawn(f *Fleet) (*host, error) {
	h := &host{
		fleet: f, servers: map[string]*server{},
		changed: notify.New(), broken: make(chan error, 1), removed: make(chan struct{}),
	}
	cmd := exec.Command(f.options.Binary, f.options.Args...)
	cmd.Env = append([]string{}, f.options.Env...) // nil would be the allocator's, secrets included
	// The kernel must not kill the process with the allocator: the process sees the end of its input, deletes its backfill
	// tickets and ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout = process.Lines(h.read)
	cmd.Stderr = process.Lines(func(line string) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case f.options.Settings.Command != "": // what a studio's servers print
			f.options.Log.Info("game server: " + line)
		default:
			f.options.Log.Warn("game server process: " + line)
		}
	})
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if h.Process, err = process.Start(cmd); err != nil {
		return nil, err
	}
	go h.write(in)
	go h.watch()
	return h, nil
}

// send queues a command. It does not wait: a process that hangs delays only the callers that wait for its answers.
func (h *host) send(line []byte) {
	h.mu.Lock()
	h.queue = append(h.queue, line)
	h.mu.Unlock()
	h.changed.Notify()
}

// quit lets the process end after the commands that are queued.
func (h *host) quit() {
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
	h.changed.Notify()
}

// write writes commands until the process or the fleet ends.
func (h *host) write(in io.WriteCloser) {
	defer in.Close()
	for {
		h.mu.Lock()
		lines, over := h.queue, h.over
		h.queue = nil
		h.mu.Unlock()
		for _, line := range lines {
			if _, err := in.Write(append(line, '\n')); err != nil {
				return // the process has ended, as watch notices
			}
		}
		if over {
			return
		}
		select {
		case <-h.changed.C():
		case <-h.Done():
			return
		}
	}
}

// read takes a line of the process's output.
func (h *host) read(line string) {
	var e gameserver.Event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		select {
		case h.broken <- err:
		default:
		}
		return
	}
	h.fleet.handle(h, e)
}

// watch returns when the process has ended. It kills a process whose output is no event.
func (h *host) watch() {
	var err error
	select {
	case broken := <-h.broken:
		h.Kill()
		err = fmt.Errorf("its answers make no sense: %w", broken)
	case <-h.Done():
		err = h.Err()
	}
	h.fleet.removeHost(h, err)
	close(h.removed)
}

// wait returns when the process has ended, which quit asked it to do.
func (h *host) wait() {
	late := time.AfterFunc(grace, h.Kill)
	defer late.Stop()
	<-h.removed
}
