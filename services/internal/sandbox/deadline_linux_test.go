package sandbox

import (
	"errors"
	"os/exec"
	"testing"
	"time"
)

// A child that got no processor has the longest time. One that works ends in time, and so does one that has no more.
func TestDeadlineWaitsForTheProcessor(t *testing.T) {
	const idle, busy = "read line", "while :; do :; done"
	for name, tt := range map[string]struct {
		script  string
		longest time.Duration
		killed  bool
	}{
		"idle":               {idle, time.Hour, false},
		"busy":               {busy, time.Hour, true},
		"idle for too long":  {idle, 150 * time.Millisecond, true},
		"no time to prolong": {idle, 100 * time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", tt.script)
			if _, err := cmd.StdinPipe(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			p := &process{cmd: cmd, exited: make(chan struct{})}
			go func() {
				_ = cmd.Wait()
				close(p.exited)
			}()
			defer func() {
				_ = cmd.Process.Kill()
				<-p.exited
			}()
			checked := time.After(300 * time.Millisecond) // several checks of the deadline
			err := p.within(t.Context(), 100*time.Millisecond, tt.longest, "it", func() error {
				if tt.killed {
					<-p.exited
				} else {
					<-checked
				}
				return nil
			})
			if e, ok := errors.AsType[*Error](err); ok != tt.killed || ok && e.Cause != Deadline {
				t.Errorf("got %v, killed is %v", err, tt.killed)
			}
		})
	}
}
