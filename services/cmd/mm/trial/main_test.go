package trial_test

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

// workshop is what the tests share, so that each module is compiled once.
type workshop struct {
	dir   string
	guest []byte // does as the settings say, see its source
	box   *sandbox.Box
}

// built makes the workshop, the first time.
var built = sync.OnceValues(func() (w workshop, err error) {
	if w.dir, err = os.MkdirTemp("", "trial"); err != nil {
		return w, err
	}
	child, err := sandboxtest.Build(w.dir)
	if err != nil {
		return w, err
	}
	module := filepath.Join(w.dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", module, "../../../runner/testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		return w, fmt.Errorf("%v: %w\n%s", cmd, err, text)
	}
	if w.guest, err = os.ReadFile(module); err != nil {
		return w, err
	}
	w.box, err = sandbox.New(sandbox.Options{Dir: filepath.Join(w.dir, "box"), Binary: child, Log: slog.New(slog.DiscardHandler)})
	return w, err
})

func TestMain(m *testing.M) {
	m.Run()
	if w, err := built(); err == nil {
		w.box.Close()
		_ = os.RemoveAll(w.dir)
	}
}
