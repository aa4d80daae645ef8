// Package sandboxtest builds the program that a sandbox executes, for tests of packages that start match functions. A
// test's own binary is not suitable when it has the race detector in it: compiling a Go function then takes a minute,
// and the detector's shadow memory is more than RLIMIT_DATA allows.
package sandboxtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build builds the child into dir and returns the file, for Options.Binary. It takes about a second. Call it from
// TestMain, with a folder that TestMain removes.
func Build(dir string) (string, error) {
	file := filepath.Join(dir, "child")
	cmd := exec.Command("go", "build", "-o", file, "matchmaker.dev/services/internal/sandbox/sandboxtest/child")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return file, nil
}
