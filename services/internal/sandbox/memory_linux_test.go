package sandbox_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"matchmaker.dev/services/internal/sandbox"
)

// Long requests and answers arrive unchanged, with and without shared memory.
func TestLongRequests(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*sandbox.Supervisor){
		"shared": func(*sandbox.Supervisor) {}, "through the pipes": (*sandbox.Supervisor).Unshare,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, sandbox.Limits{Memory: 64 << 20})
			prepare(b)
			i, _ := start(t, b, load(t, b, bigEcho()))
			for _, n := range []int{0, 40_000, 30_000, 250_000, 8, 32 << 10, 32<<10 - 1} {
				request := strings.Repeat("0123456789abcdef", n/16+1)[:n]
				if got := run(t, i, request); got != request {
					t.Errorf("a request of %d bytes was answered with %d others", n, len(got))
				}
			}
		})
	}
}

// An answer may be at address 0.
func TestLongAnswerAtZero(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	i, _ := start(t, b, load(t, b, reactor(answer(0, 40_000)).bytes()))
	if got := run(t, i, "x"); len(got) != 40_000 {
		t.Errorf("the answer has %d bytes", len(got))
	}
}

// Requests that are written in the buffer arrive unchanged, whatever comes between them.
func TestRequestsInTheBuffer(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{Memory: 64 << 20})
	i, _ := start(t, b, load(t, b, bigEcho()))
	if i.Buffer() != nil {
		t.Error("there is a buffer before the first request")
	}
	i.ReleaseBuffer()
	text := func(n int) string { return strings.Repeat("0123456789abcdef", n/16+1)[:n] }
	ask := func(n int, wantBuffer bool) {
		t.Helper()
		request := []byte(text(n))
		buffer := i.Buffer()
		if (buffer != nil) != wantBuffer {
			t.Fatalf("before a request of %d bytes there is a buffer of %d", n, len(buffer))
		}
		if len(buffer) >= n {
			request = buffer[:copy(buffer, request)]
		}
		answer, _, err := i.Run(t.Context(), request, 0)
		if err != nil || string(answer) != text(n) {
			t.Fatalf("a request of %d bytes was answered with %d others, %v", n, len(answer), err)
		}
	}
	ask(40_000, false)
	for _, n := range []int{40_000, 44_000, 8, 1, 45_000} {
		ask(n, true)
	}
	ask(60_000, true) // it does not fit, so the buffer is replaced
	ask(60_000, true)
	i.Buffer()
	i.ReleaseBuffer()
	ask(0, true) // nothing is written where nothing is
	ask(1000, false)
	ask(33_000, false)
	ask(33_000, true)
}

// A long request can be written where the function wants it, also the first one and one that needs a larger buffer.
func TestReservedBuffer(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{Memory: 64 << 20})
	i, _ := start(t, b, load(t, b, bigEcho()))
	for _, n := range []int{100_000, 50_000, 200_000, 33_000} {
		buffer, err := i.Reserve(t.Context(), n, time.Minute)
		if err != nil || len(buffer) < n {
			t.Fatalf("a buffer of %d bytes for %d, %v", len(buffer), n, err)
		}
		copy(buffer, bytes.Repeat([]byte("0123456789"), n/10+1)[:n])
		answer, _, err := i.Run(t.Context(), buffer[:n], 0)
		if err != nil || string(answer) != strings.Repeat("0123456789", n/10+1)[:n] {
			t.Fatalf("a request of %d bytes was answered with %d others, %v", n, len(answer), err)
		}
	}
	if _, err := i.Reserve(t.Context(), 100_000, time.Minute); err != nil { // and then not used
		t.Fatal(err)
	}
	i.ReleaseBuffer()
	for _, n := range []int{10, 70_000} {
		if got := run(t, i, strings.Repeat("x", n)); len(got) != n {
			t.Errorf("a request of %d bytes was answered with %d", n, len(got))
		}
	}
	if buffer, err := i.Reserve(t.Context(), 1000, time.Minute); buffer != nil || err != nil {
		t.Errorf("a buffer of %d bytes for a short request, %v", len(buffer), err)
	}
	_, err := i.Reserve(t.Context(), 65<<20, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "memory limit") {
		t.Error(err)
	}
}

// To write in the buffer of an instance that ended meanwhile does no harm.
func TestBufferOfAnEndedInstance(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	i, _ := start(t, b, load(t, b, bigEcho()))
	run(t, i, strings.Repeat("x", 40_000))
	buffer := i.Buffer()
	if err := unix.Kill(i.Pid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, i.Pid())
	n := copy(buffer, strings.Repeat("y", len(buffer)))
	if e := fails(t, i, string(buffer[:n]), sandbox.Died); !strings.Contains(e.Detail, "killed") {
		t.Error(e.Detail)
	}
	<-i.Done()
	if i.Buffer() != nil {
		t.Error("an instance that ended has a buffer")
	}
}

// bigEcho is a module that echoes up to 4 pages.
func bigEcho() []byte {
	m := reactor(echo())
	m.pages = 5
	return m.bytes()
}

// A child whose code was taken over may send anything and write to the shared memory at any time. That ends its own
// runs and does nothing to this process.
func TestMisbehavingChildEndsOnlyItsRuns(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	request := strings.Repeat("x", 100_000)
	lying := func(t *testing.T, lie string) *sandbox.Instance {
		b := boxOf(t, sandbox.Options{Dir: t.TempDir(), Binary: exe, Args: []string{liar, lie},
			Limits: sandbox.Limits{Memory: 16 << 20, Run: time.Minute, Start: time.Minute}})
		i, _ := start(t, b, load(t, b, reactor(echo()).bytes()))
		return i
	}
	for _, lie := range []string{
		"place beyond", "place at the edge", "buffer beyond", "place far beyond", "no place", "place twice", "answer beyond",
		"answer far beyond", "answer too long",
	} {
		t.Run(lie, func(t *testing.T) {
			if e := fails(t, lying(t, lie), request, sandbox.Died); !strings.Contains(e.Detail, "its process sent") {
				t.Errorf("detail = %s", e.Detail)
			}
		})
	}
	t.Run("mutters", func(t *testing.T) {
		if e := fails(t, lying(t, "mutters"), request, sandbox.Died); !strings.Contains(e.Detail, "words") ||
			!utf8.ValidString(e.Detail) {
			t.Errorf("detail = %q", e.Detail)
		}
	})
	t.Run("place out of line", func(t *testing.T) { // is allowed, but no host writes columns there
		i := lying(t, "place out of line")
		if _, _, err := i.Run(t.Context(), []byte(request), 0); err != nil || i.Buffer() != nil {
			t.Errorf("%v, or there is a buffer", err)
		}
	})
	t.Run("changes its mind", func(t *testing.T) {
		i := lying(t, "changes its mind")
		answer, _, err := i.Run(t.Context(), []byte(request), 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = fails(t, i, request, sandbox.Died) // by when what it answered with is zero
		if !bytes.Equal(answer, bytes.Repeat([]byte("honest, "), len(answer)/8)) {
			t.Error("an answer changed after it was read")
		}
	})
}

// If a child could truncate the memory, a write would end this process.
func TestSharedMemoryIsSealed(t *testing.T) {
	if err := sandbox.Cut(1 << 20); err == nil {
		t.Error("the memory was cut off")
	}
}

// The memory is freed when the process ends.
func TestSharedMemoryIsGivenBack(t *testing.T) {
	b := newBox(t, sandbox.Limits{})
	i, _ := start(t, b, load(t, b, bigEcho()))
	mapped := func() bool { return strings.Contains(proc(t, os.Getpid(), "maps"), "/memfd:guest") }
	run(t, i, strings.Repeat("x", 40_000))
	if !mapped() {
		t.Fatal("the memory is not shared")
	}
	if err := unix.Kill(i.Pid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-i.Done()
	if mapped() {
		t.Error("the memory of a dead process is kept")
	}
}
