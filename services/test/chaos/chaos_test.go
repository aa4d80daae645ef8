package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be the NATS servers of a run.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == nodeCommand {
		os.Exit(start(context.Background(), os.Args[1:], os.Stdout))
	}
	os.Exit(m.Run())
}

// TestChaos is a short run; `make chaos` is a long one. The seed is one in whose plan each kind of process and Redis is
// killed, a route between NATS servers is cut, and a director is frozen for longer than its lease.
func TestChaos(t *testing.T) {
	look(t, "../../../functions/examples/c", "../../../pkg", "../../../proto", "../..")
	var out strings.Builder
	o := options{
		Duration: 16 * time.Second, Seed: 151700, Rate: 30, Pace: 800 * time.Millisecond, Together: 3, Projects: 2,
		Patience: 3 * time.Minute, Race: raced(),
	}
	err := run(t.Context(), o, &out)
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
}

// look looks at all files below folders. The go command takes a test's result from its cache unless something has
// changed that the test looked at, and what a build looks at it does not see.
func look(t *testing.T, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		if err := filepath.WalkDir(folder, func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			t.Fatal(err)
		}
	}
}

// raced tells whether the tests were built with the race detector.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
