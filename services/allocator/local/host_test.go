package local

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

func TestKilledProcess(t *testing.T) {
	f := open(t, Options{PerProcess: 2})
	lost := allocate(t, f, "m1")
	allocate(t, f, "m2")
	other := allocate(t, f, "m3") // in a process of its own

	f.hosts[0].Signal(syscall.SIGKILL)
	waittest.Until(t, "the loss of the process", func() bool { return f.InUse() == 1 })
	if s := poll(t, f, "m1"); s.Status != provider.Gone {
		t.Errorf("a match whose process was killed is %v", s.Status)
	}
	if !free(lost) {
		t.Errorf("the port of %s is still taken", lost)
	}
	if got := allocate(t, f, "m3"); got != other {
		t.Errorf("the loss of one process moved a server of another from %s to %s", other, got)
	}
	release(t, f, "m2") // which is gone already
	if _, err := gameservertest.Hello(t.Context(), allocate(t, f, "m1"), "m1-a"); err != nil {
		t.Errorf("the new server: %v", err)
	}
}

func TestProcessThatHangs(t *testing.T) {
	f := open(t, Options{})
	allocate(t, f, "m1")
	freeze(t, f.hosts[0])
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error)
	go func() {
		_, err := f.Allocate(ctx, request("m2"))
		answer <- err
	}()
	waittest.Until(t, "the question for a server", func() bool { return poll(t, f, "m2").Status == provider.Pending })
	cancel()
	if err := <-answer; err == nil || provider.Final(err) {
		t.Errorf("Allocate on a process that hangs: %v, want an error that is not final", err)
	}
	if err := f.Release(ctx, ref("m1")); err == nil || provider.Final(err) {
		t.Errorf("Release on a process that hangs: %v, want an error that is not final", err)
	}
	if s := poll(t, f, "m1"); s.Status != provider.Gone {
		t.Errorf("a match whose release began is %v", s.Status)
	}
	if _, err := f.Allocate(t.Context(), request("m1")); provider.ReasonOf(err) != provider.Contention {
		t.Errorf("Allocate during the release: %v", err)
	}

	f.hosts[0].Signal(syscall.SIGCONT)
	release(t, f, "m1")
	allocate(t, f, "m2")
	if n := f.InUse(); n != 1 {
		t.Errorf("%d servers in use, want the one that was asked for twice", n)
	}
}

func TestProcessThatDiesWhileAMatchWaits(t *testing.T) {
	f := open(t, Options{})
	allocate(t, f, "m1")
	h := f.hosts[0]
	freeze(t, h)
	answer := make(chan error)
	go func() {
		_, err := f.Allocate(t.Context(), request("m2"))
		answer <- err
	}()
	waittest.Until(t, "the question for a server", func() bool { return poll(t, f, "m2").Status == provider.Pending })
	h.Signal(syscall.SIGKILL)
	err := <-answer
	if provider.Final(err) || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("Allocate on a process that is killed: %v", err)
	}
	allocate(t, f, "m2")
}

func TestProcessesThatAreNoGameServers(t *testing.T) {
	tests := []struct{ binary, part, want string }{
		{os.Args[0], "crash", "exit status 3; its last output: no luck today"},
		{os.Args[0], "babble", "its answers make no sense"},
		{"/does/not/exist", "", "no such file or directory"},
	}
	for _, test := range tests {
		f := open(t, Options{Binary: test.binary, Args: []string{test.part}})
		for range 2 {
			_, err := f.Allocate(t.Context(), request("m"))
			if provider.ReasonOf(err) != provider.Contention || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %q", test.part, err, test.want)
			}
		}
		if f.InUse() != 0 {
			t.Errorf("%s: %d servers in use", test.part, f.InUse())
		}
	}
}

func TestClose(t *testing.T) {
	f := open(t, Options{PerProcess: 1})
	addrs := []string{allocate(t, f, "m1"), allocate(t, f, "m2")}
	hosts := append([]*host(nil), f.hosts...)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for i, h := range hosts {
		if err := h.Stop(0); err != nil {
			t.Errorf("process %d: %v, want a good end", i, err)
		}
		if !free(addrs[i]) {
			t.Errorf("the port of %s is still taken", addrs[i])
		}
	}
	if _, err := f.Allocate(t.Context(), request("m3")); provider.ReasonOf(err) != provider.Contention {
		t.Errorf("Allocate after Close: %v", err)
	}
	if f.InUse() != 0 {
		t.Errorf("%d servers in use after Close", f.InUse())
	}
}

func TestServersEndWithAKilledAllocator(t *testing.T) {
	allocator := exec.Command(os.Args[0], "allocator")
	out, err := allocator.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := allocator.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimSpace(line)
	if _, err := gameservertest.Hello(t.Context(), addr, "m-a"); err != nil {
		t.Fatal(err)
	}
	if err := allocator.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = allocator.Wait() // "signal: killed"
	waittest.Until(t, "the end of the orphaned server", func() bool { return free(addr) })
}

// freeze stops a process and returns when it stands still: the signal alone lets its threads go on
// for a moment, and on a busy machine that is long enough to answer.
func freeze(t *testing.T, h *host) {
	t.Helper()
	h.Signal(syscall.SIGSTOP)
	waittest.Until(t, "the process to stand still", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", h.PID()))
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads { // none where there is no /proc
			stat, err := os.ReadFile(thread)
			if err == nil && !bytes.Contains(stat, []byte(") T ")) {
				return false
			}
		}
		return true
	})
}
