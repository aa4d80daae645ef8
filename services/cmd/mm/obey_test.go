package main

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/wait"
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
