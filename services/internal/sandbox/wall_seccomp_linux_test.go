//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// In a process of its own, this test installs the filters and does what they must allow. The inspection of each
// Supervisor tries what they must not allow.
func TestFiltersAllowWhatTheRuntimeNeeds(t *testing.T) {
	if dir := os.Getenv("SANDBOX_FILTERED"); dir != "" {
		if err := filtered(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("works")
		os.Exit(0)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestFiltersAllowWhatTheRuntimeNeeds$")
	cmd.Env = []string{"SANDBOX_FILTERED=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "works\n" {
		t.Errorf("%v:\n%s", err, out)
	}
}

func filtered(dir string) error {
	startThreads(runtime.GOMAXPROCS(0) + 2*spareThreads)
	if err := loadingFilter(); err != nil {
		return err
	}
	// As a compiler does with its cache.
	folder := filepath.Join(dir, "cache")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "code.*.tmp")
	if err != nil {
		return err
	}
	if _, err := f.WriteString("code"); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	name := filepath.Join(folder, "code")
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	if code, err := os.ReadFile(name); err != nil || string(code) != "code" {
		return fmt.Errorf("read %q, %w", code, err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		return fmt.Errorf("listed %v, %w", entries, err)
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	awaitThreads()
	if err := runningFilter(); err != nil {
		return err
	}
	// The threads that there are, preemption, memory and garbage collection still work.
	done := make(chan int)
	for range 4 {
		go func() {
			runtime.LockOSThread()
			n := 0
			for range 1000 {
				n += len(make([]byte, 64*kib))
			}
			done <- n
		}()
	}
	for range 4 {
		<-done
	}
	runtime.GC()
	return nil
}
