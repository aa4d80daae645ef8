package sandbox_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
)

// workshop builds the programs that tests use, each once when it is needed.
type workshop struct {
	child func() (string, error)
	// attackers are these tests, without the race detector, whose memory is beyond the limits.
	attackers func() (string, error)
	guest     func() ([]byte, error)
}

var built workshop

// without makes the test binary a child that lacks the wall of the next argument.
const without = "without"

// liar makes the test binary a child that misbehaves as the next argument says.
const liar = "liar"

// attacker makes the test binary a child that is taken over and attacks as the next argument says.
const attacker = "attacker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.Main())
	}
	if len(os.Args) == 3 && os.Args[1] == without {
		os.Exit(sandbox.MainWithout(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == liar {
		os.Exit(sandbox.LiarMain(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == attacker {
		os.Exit(sandbox.AttackMain(os.Args[2]))
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sandbox")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built.child = sync.OnceValues(func() (string, error) { return sandboxtest.Build(dir) })
	built.attackers = sync.OnceValues(func() (string, error) {
		if !sandbox.RaceDetector {
			return os.Executable()
		}
		file := filepath.Join(dir, "attackers")
		if out, err := exec.Command("go", "test", "-c", "-o", file, ".").CombinedOutput(); err != nil {
			return "", fmt.Errorf("the tests as a program: %w\n%s", err, out)
		}
		return file, nil
	})
	built.guest = sync.OnceValues(func() ([]byte, error) { return sandboxtest.Module(dir, ".", "./testdata/guest") })
	return m.Run()
}

// child is the program that a Supervisor of the tests executes.
func child(t testing.TB) string {
	t.Helper()
	file, err := built.child()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// newBox makes a Supervisor in a fresh folder that ends with the test.
func newBox(t testing.TB, l sandbox.Limits) *sandbox.Supervisor {
	t.Helper()
	l.Run, l.Start = cmp.Or(l.Run, time.Minute), cmp.Or(l.Start, time.Minute) // a loaded machine takes long
	return boxOf(t, sandbox.Options{Dir: t.TempDir(), Limits: l, Binary: child(t)})
}

func boxOf(t testing.TB, o sandbox.Options) *sandbox.Supervisor {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	if o.Code == "" && testing.Short() {
		o.Code = sandbox.UserCode() // otherwise all modules are compiled here
	}
	b, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// load loads a module that is expected to be good.
func load(t testing.TB, b *sandbox.Supervisor, wasm []byte) *sandbox.Module {
	t.Helper()
	m, _, err := b.Load(t.Context(), "", wasm)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return m
}

// start starts an instance that ends with the test.
func start(t testing.TB, b *sandbox.Supervisor, m *sandbox.Module) (*sandbox.Instance, *logLines) {
	t.Helper()
	var l logLines
	i, err := b.Start(t.Context(), m, t.Name(), l.add)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(i.Close)
	return i, &l
}

// guest is testdata/guest's module.
func guest(t testing.TB) []byte {
	t.Helper()
	wasm, err := built.guest()
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// logLines collects what a function printed.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}
