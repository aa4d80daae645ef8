package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/process"
	"matchmaker.dev/services/internal/platform/process/processtest"
)

// TestAllThreadsSleepWithSlack: also the runtime's own thread, which starts before main.
func TestAllThreadsSleepWithSlack(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, asProcess, "director", "--listen", "127.0.0.1:0", "--log-format", "json",
		"--redis", "redis://127.0.0.1:1", "--nats", "nats://127.0.0.1:1")
	var log processtest.Buffer
	cmd.Stderr = &log
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := p.Wait(ctx, func() bool { return servingAt(log.String()) != "" }); err != nil {
		t.Fatal(err)
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID()))
	if err != nil || len(threads) < 2 {
		t.Fatal(threads, err)
	}
	for _, thread := range threads {
		text, err := os.ReadFile("/proc/" + thread.Name() + "/timerslack_ns")
		if got := strings.TrimSpace(string(text)); err == nil && got != fmt.Sprint(timerSlack.Nanoseconds()) {
			t.Errorf("thread %s of process %d wakes up to %s ns late, want %v", thread.Name(), p.PID(), got, timerSlack)
		}
	}
}
