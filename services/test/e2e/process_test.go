package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// process is a real one, of matchmaker.
type process struct {
	name    string
	address string // of its HTTP server, host:port
	cmd     *exec.Cmd
	log     *journal
	done    chan struct{} // closed when it is gone
	err     error         // how it ended; read after done
}

// launch starts a process with variables of its environment, which lives until somebody ends it.
func launch(name, binary string, env []string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(binary, args...), log: new(journal), done: make(chan struct{})}
	// No setting of the machine's user is to reach it.
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.WaitDelay = 10 * time.Second
	p.cmd.SysProcAttr = bound()
	started := make(chan error)
	go func() {
		// The kernel ties a process to the thread that started it.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}

// await waits until ok is true of the living process.
func (p *process) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	eventually(t, p.name+": "+what, func() bool {
		if p.gone() && !ok() {
			t.Fatalf("%s ended before it was %s: %v\n%s", p.name, what, p.err, p.log)
		}
		return ok()
	})
}

func (p *process) gone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signal sends one. That the process is gone already shows soon enough.
func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// journal is what a process writes, log and all.
type journal struct {
	mu   sync.Mutex
	text []byte
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text = append(j.text, p...)
	return len(p), nil
}

// String is the last of the lines that warn of something, or are no log at all, as many and
// as much of each as one wants to read.
func (j *journal) String() string {
	const most, longest = 12, 400
	var telling []string
	for line := range strings.Lines(j.all()) {
		var e event
		if json.Unmarshal([]byte(line), &e) == nil && (e.Level == "INFO" || e.Level == "DEBUG") {
			continue
		}
		if line = strings.TrimSpace(line); len(line) > longest {
			line = line[:longest] + "…"
		}
		telling = append(telling, line)
	}
	return strings.Join(telling[max(0, len(telling)-most):], "\n")
}

func (j *journal) all() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return string(j.text)
}

func (j *journal) contains(text string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return bytes.Contains(j.text, []byte(text))
}

// event is a line of a structured log; of its members, those that tests look at.
type event struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
	Address string `json:"address"`
	Project string `json:"project"`
	Epoch   uint64 `json:"epoch"`
}

// last is the latest event with a message, about a project if one is named.
func (j *journal) last(message, project string) (last event, found bool) {
	for line := range strings.Lines(j.all()) {
		var e event
		if json.Unmarshal([]byte(line), &e) == nil && e.Message == message && (project == "" || e.Project == project) {
			last, found = e, true
		}
	}
	return last, found
}

// patience is how long anything may take that the tests wait for: much longer
// than it does take, on a machine that has other things to do as well.
const patience = 2 * time.Minute

// eventually asks until the answer is yes.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-deadline.C:
			t.Fatalf("still not after %v: %s", patience, what)
		}
	}
}
