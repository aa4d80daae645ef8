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

// What is long goes there and back unchanged, with and without a memory in common.
func TestLongRequests(t *testing.T) {
	for name, prepare := range map[string]func(*sandbox.Box){
		"shared": func(*sandbox.Box) {}, "through the pipes": (*sandbox.Box).Unshare,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, sandbox.Limits{Memory: 64 << 20})
			prepare(b)
			i, _ := start(t, b, load(t, b, roomy()))
			for _, n := range []int{0, 40_000, 30_000, 250_000, 8, 32 << 10, 32<<10 - 1} {
				request := strings.Repeat("0123456789abcdef", n/16+1)[:n]
				if got := run(t, i, request); got != request {
					t.Errorf("a request of %d bytes was answered with %d others", n, len(got))
				}
			}
		})
	}
}

// Address 0 is as good as any other.
func TestLongAnswerAtZero(t *testing.T) {
	b := newBox(t, sandbox.Limits{})
	i, _ := start(t, b, load(t, b, reactor(answer(0, 40_000)).bytes()))
	if got := run(t, i, "x"); len(got) != 40_000 {
		t.Errorf("the answer has %d bytes", len(got))
	}
}

// Requests that are written in the room go there and back unchanged, whatever comes between them.
func TestRequestsInTheBuffer(t *testing.T) {
	b := newBox(t, sandbox.Limits{Memory: 64 << 20})
	i, _ := start(t, b, load(t, b, roomy()))
	if i.Buffer() != nil {
		t.Error("there is a room before anything was asked")
	}
	i.ReleaseBuffer()
	text := func(n int) string { return strings.Repeat("0123456789abcdef", n/16+1)[:n] }
	ask := func(n int, wantRoom bool) {
		t.Helper()
		request := []byte(text(n))
		room := i.Buffer()
		if (room != nil) != wantRoom {
			t.Fatalf("before a request of %d bytes there is a room of %d", n, len(room))
		}
		if len(room) >= n {
			request = room[:copy(room, request)]
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
	ask(60_000, true) // it is longer than the room, and gets another
	ask(60_000, true)
	i.Buffer()
	i.ReleaseBuffer()
	ask(0, true) // nothing is written where nothing is
	ask(1000, false)
	ask(33_000, false)
	ask(33_000, true)
}

// Who writes in the room of an instance that dies meanwhile is not told, and lives.
func TestBufferOfAnEndedInstance(t *testing.T) {
	b := newBox(t, sandbox.Limits{})
	i, _ := start(t, b, load(t, b, roomy()))
	run(t, i, strings.Repeat("x", 40_000))
	room := i.Buffer()
	if err := unix.Kill(i.Pid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, i.Pid())
	n := copy(room, strings.Repeat("y", len(room)))
	if e := fails(t, i, string(room[:n]), sandbox.Died); !strings.Contains(e.Detail, "killed") {
		t.Error(e.Detail)
	}
	<-i.Done()
	if i.Buffer() != nil {
		t.Error("a dead instance has a room")
	}
}

// roomy is a module that echoes up to 4 pages.
func roomy() []byte {
	m := reactor(echo())
	m.pages = 5
	return m.bytes()
}

// A child whose code was taken over may say what it likes and write to the memory in common when it likes: that ends its
// own runs and does nothing to this process.
func TestMisbehavingChildEndsOnlyItsRuns(t *testing.T) {
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
		"place beyond", "place at the edge", "room beyond", "place far beyond", "no place", "place twice", "answer beyond", "answer far beyond", "answer too long",
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
	t.Run("place out of line", func(t *testing.T) { // is no crime, but nobody writes columns there
		i := lying(t, "place out of line")
		if _, _, err := i.Run(t.Context(), []byte(request), 0); err != nil || i.Buffer() != nil {
			t.Errorf("%v, or there is a room", err)
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

// A memory of which a child could cut off something would be the end of this process, which writes to it.
func TestSharedMemoryIsSealed(t *testing.T) {
	if err := sandbox.Cut(1 << 20); err == nil {
		t.Error("the memory was cut off")
	}
}

// The memory goes with the process, not with the last of its users.
func TestSharedMemoryIsGivenBack(t *testing.T) {
	b := newBox(t, sandbox.Limits{})
	i, _ := start(t, b, load(t, b, roomy()))
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
