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

// TestRuntimeSleepsWithSlack: the runtime's own thread, which starts before main, and not those that have timers.
func TestRuntimeSleepsWithSlack(t *testing.T) {
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
	slacks := map[string]int{}
	for _, thread := range threads {
		text, err := os.ReadFile("/proc/" + thread.Name() + "/timerslack_ns")
		if err != nil {
			t.Fatal(err)
		}
		slacks[strings.TrimSpace(string(text))]++
	}
	if slacks["1000000"] == 0 || slacks["50000"] <= slacks["1000000"] {
		t.Errorf("threads by their slack in nanoseconds: %v, want one with 1000000, and the others with 50000", slacks)
	}
}
