package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"matchmaker.dev/services/internal/sandbox"
)

// run runs a request that is expected to be answered.
func run(t testing.TB, i *sandbox.Instance, request string) string {
	t.Helper()
	b, _, err := i.Run(t.Context(), []byte(request), 0)
	if err != nil {
		t.Fatalf("Run(%.40q): %v", request, err)
	}
	return string(b)
}

// ended reports whether the process of an instance has ended.
func ended(i *sandbox.Instance) bool {
	select {
	case <-i.Done():
		return true
	default:
		return false
	}
}

// fails runs a request that is expected to end the instance.
func fails(t testing.TB, i *sandbox.Instance, request string, cause sandbox.Cause) *sandbox.Error {
	t.Helper()
	b, _, err := i.Run(t.Context(), []byte(request), 0)
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok || e.Cause != cause {
		t.Fatalf("Run(%.40q) = %.40q, %v; want an error of cause %s", request, b, err, cause)
	}
	if !ended(i) {
		t.Fatalf("Run(%.40q) failed with %v and left the instance alive", request, err)
	}
	if b, _, err := i.Run(t.Context(), []byte(request), 0); err == nil {
		t.Fatalf("the dead instance answered %.40q", b)
	}
	return e
}

func TestGoFunction(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{Memory: 64 << 20})
	m := load(t, b, guest(t))

	if m.Manifest.Attributes == nil || !slices.Equal(m.Manifest.Attributes, []string{"skill"}) ||
		m.Manifest.Properties == nil || len(m.Manifest.Properties) != 0 {
		t.Errorf("manifest = %#v, want the attribute skill and no property", m.Manifest)
	}
	again, cost, err := b.Load(t.Context(), "", guest(t))
	if err != nil || again.Hash != m.Hash || cost != (sandbox.Cost{}) {
		t.Errorf("the second Load of the same module was not remembered: %+v, %v", cost, err)
	}

	t.Run("answers", func(t *testing.T) {
		i, log := start(t, b, m)
		big := strings.Repeat("0123456789abcdef", 3_200_000/16)
		for _, request := range []string{"hello", "", big, "again", big[:70_000]} {
			if got := run(t, i, request); got != request {
				t.Errorf("a request of %d bytes was answered with %d others", len(request), len(got))
			}
		}
		if log.String() != "" {
			t.Errorf("it printed %q", log)
		}
		_, stats, err := i.Run(t.Context(), []byte("x"), 0)
		if err != nil || stats.Memory < len(big) || stats.Compute <= 0 ||
			stats.Processor <= 0 && runtime.GOOS == "linux" {
			t.Errorf("stats = %+v, %v; want time, and memory for what it was given", stats, err)
		}
		run(t, i, big)
		if i.ReleaseBuffer(); i.KeptAnswer() != 0 {
			t.Errorf("after an answer of %d bytes it keeps memory for %d", len(big), i.KeptAnswer())
		}
		run(t, i, big[:70_000])
		if i.ReleaseBuffer(); i.KeptAnswer() < 70_000 {
			t.Errorf("after an answer of 70,000 bytes it keeps memory for %d", i.KeptAnswer())
		}
	})
	t.Run("prints", func(t *testing.T) {
		i, log := start(t, b, m)
		run(t, i, "print äöü")
		run(t, i, "print twice")
		want := "on standard output: äöü\non standard error, without newline\n" +
			"on standard output: twice\non standard error, without newline"
		if got := log.String(); got != want {
			t.Errorf("log:\n%s\nwant:\n%s", got, want)
		}
	})
	t.Run("replays", func(t *testing.T) {
		one, _ := start(t, b, m)
		two, _ := start(t, b, m)
		if a, b := run(t, one, "replay"), run(t, two, "replay"); a != b {
			t.Errorf("two fresh instances differ: %s, %s", a, b)
		}
	})
	t.Run("reaches nothing", func(t *testing.T) {
		i, _ := start(t, b, m)
		if got := run(t, i, "reach"); got != "" {
			t.Errorf("it reached out:\n%s", got)
		}
	})
	t.Run("panics", func(t *testing.T) {
		i, log := start(t, b, m)
		e := fails(t, i, "panic oh dear", sandbox.Trap)
		if !strings.Contains(log.String(), "panic: oh dear") || !strings.Contains(e.Stack, "mm_run") ||
			e.Detail != "panic: oh dear (unreachable)" {
			t.Errorf("it says %q, log:\n%s\nstack:\n%s", e.Detail, log, e.Stack)
		}
	})
	t.Run("exits", func(t *testing.T) {
		i, _ := start(t, b, m)
		if e := fails(t, i, "exit", sandbox.Exit); !strings.Contains(e.Detail, "code 3") {
			t.Errorf("detail = %s, want the exit code", e.Detail)
		}
	})
	t.Run("eats memory", func(t *testing.T) {
		i, log := start(t, b, m)
		if e := fails(t, i, "eat", sandbox.Memory); !strings.Contains(e.Detail, "64 MiB") {
			t.Errorf("detail = %s, want the limit", e.Detail)
		}
		if !strings.Contains(log.String(), "out of memory") {
			t.Errorf("log:\n%s", log)
		}
	})
	t.Run("recurses", func(t *testing.T) {
		i, _ := start(t, b, m)
		_ = fails(t, i, "recurse", sandbox.Memory)
	})
	t.Run("waits for itself", func(t *testing.T) {
		i, log := start(t, b, m)
		_ = fails(t, i, "deadlock", sandbox.Trap)
		if !strings.Contains(log.String(), "deadlock") {
			t.Errorf("log:\n%s", log)
		}
	})
}

func TestInstancesAreIndependent(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	m := load(t, b, reactor(echo()).bytes())
	var wg sync.WaitGroup
	for n := range 4 {
		i, _ := start(t, b, m)
		wg.Go(func() {
			request := bytes.Repeat([]byte{byte(n)}, 1000)
			for range 50 {
				answer, _, err := i.Run(t.Context(), request, 0)
				if err != nil || !bytes.Equal(answer, request) {
					t.Errorf("instance %d: %v, %d bytes", n, err, len(answer))
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestRunEndsWithContext(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	// It prints that it runs, so that the test knows when to cancel.
	m := reactor(cat(write(16, 8), loop(nil)), printing())
	m.text = "running\n"
	mod := load(t, b, m.bytes())

	ctx, cancel := context.WithCancel(t.Context())
	i, err := b.Start(t.Context(), mod, "spinner", func(line string) {
		if line == "running" {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	_, _, err = i.Run(ctx, nil, 0)
	if e, ok := errors.AsType[*sandbox.Error](err); !ok || e.Cause != sandbox.Canceled ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want canceled", err)
	}
	<-i.Done()
}

// An instance needs a turn to start, and holds none afterwards.
func TestStartTakesATurn(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	mod := load(t, b, reactor(echo()).bytes())
	for range 2 * runtime.GOMAXPROCS(0) {
		i, err := b.Start(t.Context(), mod, "one of many", func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		defer i.Close()
	}
	for b.HasTurn() {
		left, err := b.TakeTurn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer left()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	i, err := b.Start(ctx, mod, "one too many", func(string) {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Start without a turn = %v", err)
	}
	if err == nil {
		i.Close()
	}
}

func TestCloseDuringRun(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	m := reactor(cat(write(16, 8), loop(nil)), printing())
	m.text = "running\n"
	running := make(chan struct{})
	i, err := b.Start(t.Context(), load(t, b, m.bytes()), "spinner", func(string) { close(running) })
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-running
		i.Close()
	}()
	_, _, err = i.Run(t.Context(), nil, 0)
	if e, ok := errors.AsType[*sandbox.Error](err); !ok || e.Cause != sandbox.Closed {
		t.Errorf("Run = %v, want closed", err)
	}
}

func TestBoxCloseEndsInstances(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	m := load(t, b, reactor(echo()).bytes())
	i, _ := start(t, b, m)
	b.Close()
	<-i.Done()
	if _, err := b.Start(t.Context(), m, "late", func(string) {}); err == nil {
		t.Error("a closed box started an instance")
	}
}

// Close waits for the launch of an instance that is not one of its processes yet. The race detector sees if it does
// not.
func TestBoxCloseWaitsForLaunches(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	m := load(t, b, reactor(echo()).bytes())
	launched := make(chan struct{})
	b.OnLaunch(func() {
		close(launched)
		<-b.Closing()
	})
	started := make(chan *sandbox.Instance, 1)
	go func() {
		i, err := b.Start(t.Context(), m, "meanwhile", func(string) {})
		if err != nil {
			i = nil
		}
		started <- i
	}()
	<-launched
	b.Close()
	i := <-started
	if i == nil {
		return
	}
	defer i.Close()
	select {
	case <-i.Done():
	default:
		t.Error("an instance lives after Close")
	}
}

func TestBoxesShareAFolderOneAfterTheOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := range 2 {
		b := boxOf(t, sandbox.Options{Dir: dir, Binary: child(t)})
		i, _ := start(t, b, load(t, b, reactor(echo()).bytes()))
		if got := run(t, i, "x"); got != "x" {
			t.Errorf("box %d: answer = %q", n, got)
		}
		b.Close()
	}
}

func TestLimitsAreChecked(t *testing.T) {
	for _, l := range []sandbox.Limits{{Memory: 2 << 30}, {Memory: -1}} {
		if b, err := sandbox.New(sandbox.Options{Dir: t.TempDir(), Limits: l}); err == nil {
			b.Close()
			t.Errorf("New accepted %+v", l)
		}
	}
}

// The box executes its own binary by default: here the test's, which calls sandbox.Main. The module is tiny, since that
// binary may have the race detector in it.
func TestBoxExecutesItsOwnBinary(t *testing.T) {
	t.Parallel()
	b := boxOf(t, sandbox.Options{Dir: t.TempDir()})
	i, _ := start(t, b, load(t, b, reactor(echo()).bytes()))
	if got := run(t, i, "hello"); got != "hello" {
		t.Errorf("answer = %q", got)
	}
}

func ExampleInstance_Run() {
	// In a service: the request is a block of columns, see package matchfn/block.
	serve := func(ctx context.Context, b *sandbox.Supervisor, wasm, request []byte) error {
		m, _, err := b.Load(ctx, "demo", wasm)
		if err != nil {
			return err // of the kind Invalid, for its author
		}
		i, err := b.Start(ctx, m, "duel-1", func(line string) { fmt.Println(line) })
		if err != nil {
			return err
		}
		defer i.Close()
		answer, stats, err := i.Run(ctx, request, 0)
		if err != nil {
			return err // the instance is dead, start another one
		}
		fmt.Println(len(answer), stats.Compute)
		return nil
	}
	_ = serve
}
