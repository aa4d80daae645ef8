package dryrun_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
)

// fixture is shared by the tests, so that each module is compiled once.
type fixture struct {
	dir   string
	guest []byte // does what the settings say, see its source
	box   *sandbox.Supervisor
}

var sharedFixture = sync.OnceValues(func() (f fixture, err error) {
	if f.dir, err = os.MkdirTemp("", "dryrun"); err != nil {
		return f, err
	}
	child, err := sandboxtest.Build(f.dir)
	if err != nil {
		return f, err
	}
	if f.guest, err = sandboxtest.Module(f.dir, ".", "matchmaker.dev/services/runner/testdata/guest"); err != nil {
		return f, err
	}
	f.box, err = sandbox.New(sandbox.Options{Dir: filepath.Join(f.dir, "box"), Code: sandbox.UserCode(), Binary: child,
		Log: slog.New(slog.DiscardHandler)})
	return f, err
})

func TestMain(m *testing.M) {
	m.Run()
	if f, err := sharedFixture(); err == nil {
		f.box.Close()
		_ = os.RemoveAll(f.dir)
	}
}
