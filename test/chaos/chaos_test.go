package main

import (
	"context"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be a NATS server.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == nodeCommand {
		os.Exit(start(context.Background(), os.Args[1:], os.Stdout))
	}
	os.Exit(m.Run())
}

// TestChaos is a short run. With this seed the schedule kills processes of most services, of NATS and of Redis, fills
// the memory of Redis, cuts a route between NATS servers, and freezes a director for longer than its lease.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it; with -short, simulate checks the promises")
	}
	var out strings.Builder
	o := options{
		Duration: 16 * time.Second, Seed: 5390, Rate: 30, Pace: 800 * time.Millisecond, Together: 3, Projects: 2,
		State: single, Large: 0.05,
		Patience: 3 * time.Minute, Race: raceEnabled(),
	}
	err := run(t.Context(), o, &out)
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
}

// raceEnabled reports whether the tests were built with the race detector.
func raceEnabled() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
