package runner_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/runner"
)

// testPrograms are what the tests share: programs, and one sandbox for all runners in this process, so that each module
// is compiled once.
type testPrograms struct {
	child              string // what a sandbox executes
	duel, guest, enemy []byte
	deaf               []byte
	box                *sandbox.Supervisor
}

// programs builds the testPrograms, once.
var programs = sync.OnceValues(build)

// runnerCommand makes the test binary a runner. Its arguments are the URLs of Redis and NATS, its name, the folder and
// the child of the sandbox.
const runnerCommand = "runner"

func TestMain(m *testing.M) {
	if len(os.Args) == 7 && os.Args[1] == runnerCommand {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := child(ctx, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	code := embeddedtest.Run(m)
	if shop, err := programs(); err == nil {
		shop.box.Close()
		_ = os.RemoveAll(filepath.Dir(shop.child))
	}
	os.Exit(code)
}

func build() (testPrograms, error) {
	var shop testPrograms
	dir, err := os.MkdirTemp("", "runner")
	if err != nil {
		return shop, err
	}
	if shop.child, err = sandboxtest.Build(dir); err != nil {
		return shop, err
	}
	if shop.duel, err = sandboxtest.Shipped(dir, "../../functions", "duel"); err != nil {
		return shop, err
	}
	if shop.guest, err = sandboxtest.Module(dir, ".", "./testdata/guest"); err != nil {
		return shop, err
	}
	if shop.enemy, err = sandboxtest.Module(dir, ".", "./testdata/enemy"); err != nil {
		return shop, err
	}
	if shop.deaf, err = sandboxtest.Module(dir, ".", "./testdata/deaf"); err != nil {
		return shop, err
	}
	shop.box, err = newBox(filepath.Join(dir, "box"), shop.child)
	return shop, err
}

func newBox(dir, child string) (*sandbox.Supervisor, error) {
	return sandbox.New(sandbox.Options{
		Dir: dir, Code: sandbox.UserCode(), Binary: child, Log: discard(),
		Limits: sandbox.Limits{Memory: 64 << 20, Run: endless, Start: time.Minute}, // a loaded machine takes long
	})
}

// child is a runner in a process of its own, which a test may kill.
func child(ctx context.Context, args []string) error {
	redis, nats, name, dir, child := args[0], args[1], args[2], args[3], args[4]
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	store, err := state.Open(state.Options{Server: state.Server{URL: redis}, Log: log})
	if err != nil {
		return err
	}
	b, err := bus.Connect(ctx, bus.Options{Server: bus.Server{URL: nats}, Name: name, Log: log})
	if err != nil {
		return err
	}
	box, err := newBox(dir, child)
	if err != nil {
		return err
	}
	defer box.Close()
	r, err := runner.New(runner.Options{
		Store: store, Bus: b, Engine: runner.Processes(box), Name: name, Log: log, Now: time.Now, Settings: quickSettings(),
	})
	if err != nil {
		return err
	}
	return r.Run(ctx)
}

// quickSettings are for tests that wait until other runners are missed, on a machine that may be loaded.
func quickSettings() runner.Settings {
	s := settings.Default[runner.Settings]()
	s.Heartbeat, s.Silence, s.Settle = 100*time.Millisecond, time.Second, 100*time.Millisecond
	return s
}
