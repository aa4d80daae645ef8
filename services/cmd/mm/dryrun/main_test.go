package dryrun_test

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
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
	box   *sandbox.Box
}

var sharedFixture = sync.OnceValues(func() (f fixture, err error) {
	if f.dir, err = os.MkdirTemp("", "dryrun"); err != nil {
		return f, err
	}
	child, err := sandboxtest.Build(f.dir)
	if err != nil {
		return f, err
	}
	module := filepath.Join(f.dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", module, "../../../runner/testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		return f, fmt.Errorf("%v: %w\n%s", cmd, err, text)
	}
	if f.guest, err = os.ReadFile(module); err != nil {
		return f, err
	}
	f.box, err = sandbox.New(
		sandbox.Options{Dir: filepath.Join(f.dir, "box"), Binary: child, Log: slog.New(slog.DiscardHandler)})
	return f, err
})

func TestMain(m *testing.M) {
	m.Run()
	if f, err := sharedFixture(); err == nil {
		f.box.Close()
		_ = os.RemoveAll(f.dir)
	}
}
