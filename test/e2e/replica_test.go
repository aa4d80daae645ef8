package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/process"
	"matchmaker.dev/services/internal/platform/process/processtest"
)

// replica is one process of a system.
type replica struct {
	*process.Process
	name    string
	address string // of its HTTP server, host:port
	log     *buffer
}

// launch starts a process with variables for its environment. It runs until the test ends it.
func launch(name, binary string, env []string, args ...string) (*replica, error) {
	r := &replica{name: name, log: new(buffer)}
	cmd := exec.Command(binary, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...) // without settings of the machine's user
	cmd.Stdout, cmd.Stderr = r.log, r.log
	var err error
	r.Process, err = process.Start(cmd)
	return r, err
}

// await waits until ok is true. It fails the test when the process ends before.
func (r *replica) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := r.Wait(ctx, ok); err != nil {
		t.Fatalf("%s was not %s: %v\n%s", r.name, what, err, r.log)
	}
}

// buffer is a buffer with structured logs.
type buffer struct{ processtest.Buffer }

// String is the end of the last lines that are warnings, errors or no log lines.
func (b *buffer) String() string {
	const most, longest = 12, 400
	var chosen []string
	for line := range strings.Lines(b.all()) {
		var e event
		if json.Unmarshal([]byte(line), &e) == nil && (e.Level == "INFO" || e.Level == "DEBUG") {
			continue
		}
		if line = strings.TrimSpace(line); len(line) > longest {
			line = line[:longest] + "…"
		}
		chosen = append(chosen, line)
	}
	return strings.Join(chosen[max(0, len(chosen)-most):], "\n")
}

func (b *buffer) all() string { return b.Buffer.String() }

func (b *buffer) contains(text string) bool { return strings.Contains(b.all(), text) }

// event is a line of a structured log, with the members that tests need.
type event struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
	Address string `json:"address"`
	Project string `json:"project"`
	Epoch   uint64 `json:"epoch"`
}

// last is the latest event with a message, and with a project if that is not "".
func (b *buffer) last(message, project string) (last event, found bool) {
	for line := range strings.Lines(b.all()) {
		var e event
		if !strings.Contains(line, message) || !strings.Contains(line, project) {
			continue // most lines: to decode them all takes long
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Message == message && (project == "" || e.Project == project) {
			last, found = e, true
		}
	}
	return last, found
}

// patience is how long the tests wait for anything. It is much longer than things take, for busy machines.
const patience = 2 * time.Minute

// eventually waits until ok is true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-deadline.C:
			t.Fatalf("still not after %v: %s", patience, what)
		}
	}
}
