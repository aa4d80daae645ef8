package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	binaries = flag.String("binaries", "", "folder with the programs of the control plane, helm, and the tests of Agones")
	suites   = flag.String("suites", "^TestLive$", "which tests of Agones run, as -run of go test has it")
	built    = flag.String("node", "", "folder with matchmaker, mm and functions/duel.zip: try their pods on a real node")
	from     = flag.String("from", "HEAD^", "commit whose chart is upgraded to the one that is here")
)

// scratch is the environment variable with the folder of a run. Only the process inside the namespaces has it.
const scratch = "MATCHMAKER_KUBERNETES_SCRATCH"

// here is the cluster that all tests use.
var here *cluster

// TestMain runs the tests as the first process of a PID, a network and a mount namespace. When it ends, the kernel ends
// whatever the tests started, and the network and the mounts are gone.
func TestMain(m *testing.M) {
	flag.Parse()
	var code int
	var err error
	if dir := os.Getenv(scratch); dir != "" {
		code, err = inside(m, dir)
	} else {
		code, err = outside()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// outside prepares what needs the network or the history, and runs the tests.
func outside() (_ int, failed error) {
	switch {
	case *binaries == "":
		return 0, errors.New("this is what make kubernetes runs: -binaries is missing")
	case os.Geteuid() != 0:
		return 0, errors.New("namespaces of processes, networks and mounts need root")
	}
	dir, err := os.MkdirTemp("", "matchmaker-kubernetes-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *built != "" {
		err = arrange(ctx, dir)
		defer func() { failed = errors.Join(failed, sweep(dir)) }()
	} else {
		err = prepare(ctx, dir)
	}
	if err != nil {
		return 0, err
	}
	runtime.LockOSThread() // Pdeathsig is about the thread
	cmd := exec.CommandContext(ctx, "/proc/self/exe", os.Args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), scratch+"="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL,
	}
	err = cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return 1, nil
	}
	return 0, err
}

// modules have the custom resource definitions. They are not in go.mod, which would give the control plane other
// versions of what both need than its release has.
var modules = map[string]string{
	"gateway":    "sigs.k8s.io/gateway-api@v1.6.3",
	"prometheus": "github.com/prometheus-operator/prometheus-operator@v0.85.0",
}

// prepare gets the chart of the commit before, and links to the modules.
func prepare(ctx context.Context, dir string) error {
	if err := os.Mkdir(filepath.Join(dir, "before"), 0o700); err != nil {
		return err
	}
	const get = `set -o pipefail; git -C ../.. archive "$1" deploy | tar -x -C "$2"`
	out, err := exec.CommandContext(ctx, "bash", "-c", get, "bash", *from, filepath.Join(dir, "before")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the chart of the commit %s, which is to be upgraded: %w: %s\n"+
			"a clone without it needs git fetch --unshallow", *from, err, out)
	}
	for name, module := range modules {
		var got struct{ Dir, Error string }
		out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", module).Output()
		if failed := json.Unmarshal(out, &got); failed != nil || got.Error != "" || err != nil {
			return fmt.Errorf("go mod download %s: %w: %s", module, errors.Join(err, failed), got.Error)
		}
		if err := os.Symlink(got.Dir, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// inside starts the cluster and runs the tests.
func inside(m *testing.M, dir string) (int, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return 0, fmt.Errorf("keep mounts apart: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return 0, fmt.Errorf("mount /proc: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var err error
	if *built != "" {
		if err := hide(dir); err != nil {
			return 0, err
		}
	}
	if here, err = start(ctx, dir, *binaries); err != nil {
		return 0, err
	}
	code := m.Run()
	here.stop()
	return code, nil
}
