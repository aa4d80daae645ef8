package process_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/process"
)

// patience is how long a busy machine may take.
const patience = time.Minute

// TestMain lets the test binary be a parent that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "parent" {
		pipe := os.NewFile(3, "pipe")
		child := script("echo started; exec sleep 600", pipe)
		if os.Args[2] == "orderly" {
			child = script("trap 'echo ended >&3; exit 0' TERM; echo started; while :; do sleep 0.01; done", pipe)
			process.EndOrderly(child)
		}
		child.Stdout = os.Stdout
		if _, err := process.Start(child); err != nil {
			os.Exit(1)
		}
		select {}
	}
	os.Exit(m.Run())
}

// script is a shell script as a command. Its files are those after standard error.
func script(text string, files ...*os.File) *exec.Cmd {
	cmd := exec.Command("sh", "-c", text)
	cmd.ExtraFiles = files
	return cmd
}

// start starts a command that ends with the test, and returns when it has written a line.
func start(t *testing.T, cmd *exec.Cmd) *process.Process {
	t.Helper()
	var wrote atomic.Bool
	cmd.Stdout = process.Lines(func(string) { wrote.Store(true) })
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.Wait(ctx, wrote.Load); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStopEndsAProcessInGoodOrder(t *testing.T) {
	p := start(t, script("trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done"))
	if !p.Running() || p.Err() != nil || p.PID() == 0 {
		t.Errorf("a running process: %v, %v, process %d", p.Running(), p.Err(), p.PID())
	}
	if err := p.Stop(patience); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if p.Running() || p.Err() == nil {
		t.Errorf("a process that ended: %v, %v", p.Running(), p.Err())
	}
	if err := p.Stop(patience); err != nil {
		t.Errorf("Stop after the end: %v", err)
	}
}

func TestStopKillsAProcessThatDoesNotEnd(t *testing.T) {
	p := start(t, script("trap '' TERM; echo ready; exec sleep 600"))
	if err := p.Stop(time.Millisecond); err == nil || !strings.Contains(err.Error(), "sh ended: signal: killed") {
		t.Errorf("Stop of a process that ignores SIGTERM: %v", err)
	}
}

func TestErrorsEndWithTheLastLinesOfOutput(t *testing.T) {
	p, err := process.Start(script("echo out; for n in 1 2 3 4 5 6 7; do echo line $n >&2; echo >&2; done; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	want := "sh ended: exit status 3; its last output: line 2 | line 3 | line 4 | line 5 | line 6 | line 7"
	if p.Err().Error() != want {
		t.Errorf("%v, want %s", p.Err(), want)
	}
	if err := p.Wait(t.Context(), func() bool { return false }); err == nil || err.Error() != want {
		t.Errorf("Wait for a process that ended: %v", err)
	}
	if exit := new(exec.ExitError); !errors.As(p.Err(), &exit) || exit.ExitCode() != 3 {
		t.Errorf("%v is no exit error of status 3", p.Err())
	}
}

func TestTheLastLinesAreThoseOfStandardOutputTooWhenBothAreOne(t *testing.T) {
	var out bytes.Buffer
	cmd := script("echo out; echo err >&2")
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if want := "sh ended: exit status 0; its last output: out | err"; p.Err().Error() != want ||
		out.String() != "out\nerr\n" {
		t.Errorf("%v and output %q, want %s", p.Err(), &out, want)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	p := start(t, script("echo thinking >&2; echo ready; exec sleep 600"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// Standard error may arrive after standard output.
	for {
		err := p.Wait(ctx, func() bool { return false })
		if !errors.Is(err, context.Canceled) || !p.Running() {
			t.Fatalf("Wait: %v, running: %v", err, p.Running())
		}
		if err.Error() == "sh is not ready: context canceled; its last output: thinking" {
			return
		}
	}
}

func TestAProgramThatDoesNotExistIsAnError(t *testing.T) {
	if _, err := process.Start(exec.Command("/does/not/exist")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Start: %v", err)
	}
}

func TestAChildIsInAGroupOfItsOwn(t *testing.T) {
	p := start(t, script("echo ready; exec sleep 600"))
	if group, err := syscall.Getpgid(p.PID()); err != nil || group != p.PID() {
		t.Errorf("group %d of process %d, %v", group, p.PID(), err)
	}
}

func TestLinesAreCut(t *testing.T) {
	var got []string
	w := process.Lines(func(line string) { got = append(got, line) })
	long := strings.Repeat("x", 100<<10)
	for _, text := range []string{"on", "e\ntwo\n\n", long, long, "\nfour\nunfinished"} {
		if n, err := io.WriteString(w, text); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	want := []string{"one", "two", "", long[:64<<10], "four"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d lines, want %d: %.40q", len(got), len(want), got)
	}
}
