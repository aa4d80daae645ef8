package languages

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
)

// workshop builds what the tests need, once.
type workshop struct {
	child func() (string, error)

	mu      sync.Mutex
	modules map[string][]byte // by name of the language and of the program
}

var built = workshop{modules: map[string][]byte{}}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.Main())
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "languages")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built.child = sync.OnceValues(func() (string, error) { return sandboxtest.Build(dir) })
	return m.Run()
}

// instance is a program in the sandbox, and what it printed since the last call of printed.
type instance struct {
	*sandbox.Instance
	module *sandbox.Module
	lines  []string
}

func start(t testing.TB, wasm []byte) *instance {
	t.Helper()
	return startWithin(t, wasm, sandbox.Limits{Run: time.Minute})
}

// startWithin is start with other limits than the usual ones.
func startWithin(t testing.TB, wasm []byte, limits sandbox.Limits) *instance {
	t.Helper()
	child, err := built.child()
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Options{
		Dir: t.TempDir(), Code: sandbox.UserCode(), Binary: child, Limits: limits, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(box.Close)
	i := &instance{}
	if i.module, _, err = box.Load(t.Context(), "", wasm); err != nil {
		t.Fatal(err)
	}
	i.Instance, err = box.Start(t.Context(), i.module, t.Name(), func(line string) { i.lines = append(i.lines, line) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

// answer runs the program and returns a copy of what it answers.
func (i *instance) answer(t testing.TB, request []byte) []byte {
	t.Helper()
	if buffer := i.Buffer(); len(buffer) >= len(request) { // as the runner does
		request = buffer[:copy(buffer, request)]
	}
	answer, _, err := i.Run(t.Context(), request, 0)
	if err != nil {
		t.Fatalf("%v\n%q", err, i.printed())
	}
	return slices.Clone(answer)
}

// ended reports whether the process has ended.
func (i *instance) ended() bool {
	select {
	case <-i.Done():
		return true
	default:
		return false
	}
}

func (i *instance) printed() []string {
	lines := i.lines
	i.lines = nil
	return lines
}
