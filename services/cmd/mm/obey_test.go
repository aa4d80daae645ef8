package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/platform/wait"
)

// A command that does not look for a signal ends soon after it: here it waits for a file that never ends.
func TestEveryCommandObeysASignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		in, write := io.Pipe()
		var out, err bytes.Buffer
		code := run(ctx, []string{"rules", "check", "-"}, console{
			in: in, out: &out, err: &err, configDir: t.TempDir(), now: time.Now, sleep: wait.For,
		})
		if code == exitSuccess || err.Len() == 0 {
			t.Errorf("exit code %d, %q", code, err.String())
		}
		if err := write.CloseWithError(io.ErrUnexpectedEOF); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// TestEveryCommandThatIsInterruptedSaysSo: whatever a command does, its exit code after Ctrl-C is 130, unless its
// command line is wrong.
func TestEveryCommandThatIsInterruptedSaysSo(t *testing.T) {
	parser, err := newParser(new(commandLine), console{out: io.Discard, err: io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	service := newService(t)
	t.Chdir(t.TempDir())
	interrupted := 0
	for _, command := range parser.Model.Leaves(true) {
		args := strings.Fields(command.Path())
		for _, one := range command.Positional {
			if one.Required {
				args = append(args, "x")
			}
		}
		for _, flag := range command.Flags {
			if flag.Required {
				args = append(args, "--"+flag.Name, "x")
			}
		}
		args = append(args, "--url", service.url, "--data", t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, failure bytes.Buffer
		code := run(ctx, args, console{in: strings.NewReader(""), out: &out, err: &failure, configDir: t.TempDir(),
			now: time.Now, sleep: wait.For})
		switch code {
		case exitInterrupted:
			interrupted++
		case exitUsage:
		default:
			t.Errorf("%q: exit code %d, %q", args, code, failure.String())
		}
	}
	if interrupted < 40 {
		t.Errorf("only %d commands were interrupted", interrupted)
	}
}
