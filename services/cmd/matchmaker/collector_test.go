package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/internal/platform/process"
	"matchmaker.dev/services/internal/platform/process/processtest"
)

// TestMissingCollectorIsNoFailure: a process that cannot send its last spans says so, and ends with exit code 0. The
// collector takes connections and answers nothing, so that a send ends with its deadline.
func TestMissingCollectorIsNoFailure(t *testing.T) {
	for service, path := range map[string]string{
		catalog.Ticket: "tickets", catalog.Config: "configs", catalog.Registry: "functions", catalog.Backfill: "backfill",
		catalog.Party: "parties",
	} {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			loseSpan(t, service, path)
		})
	}
}

// loseSpan lets a service answer a request, and stops it.
func loseSpan(t *testing.T, service, path string) {
	t.Helper()
	collector, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = collector.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	issuers := write(t, "- {issuer: me, jwks: nowhere.json, audiences: [m], kinds: [player], anyProject: true}\n")
	arguments := []string{asProcess, service, "--listen", "127.0.0.1:0", "--log-format", "json",
		"--issuers", issuers, "--redis", "redis://127.0.0.1:1", "--nats", "nats://127.0.0.1:1"}
	if service == catalog.Registry { // the race detector leaves no room for all walls of the sandbox
		arguments = append(arguments, "--modules", t.TempDir(), "--sandbox", "prefer")
	}
	cmd := exec.Command(self, arguments...)
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+collector.Addr().String(),
		"OTEL_BSP_SCHEDULE_DELAY=3600000") // the spans are sent at the end
	var log processtest.Buffer
	cmd.Stderr = &log
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var address string
	if err := p.Wait(ctx, func() bool { address = servingAt(log.String()); return address != "" }); err != nil {
		t.Fatal(err)
	}
	// It has no token, and its span is one that the process has to send.
	in, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/p/matchmaking/api/v1/"+path,
		http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	out, err := http.DefaultClient.Do(in)
	if err != nil {
		t.Fatal(err)
	}
	_ = out.Body.Close()
	if err := p.Stop(2 * time.Minute); err != nil {
		t.Errorf("a missing collector costs spans, and not the exit code: %v", err)
	}
	if !strings.Contains(log.String(), "the last spans or metrics were lost") {
		t.Errorf("the log does not say what was lost:\n%s", log.String())
	}
}

// servingAt finds in a log where the process serves; "" before it does.
func servingAt(log string) string {
	for line := range strings.Lines(log) {
		var e struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Msg == "serving" {
			return e.Address
		}
	}
	return ""
}
