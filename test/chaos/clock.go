package main

import (
	"context"
	"fmt"
	"time"

	"matchmaker.dev/services/test/chaos/overlay"
)

// clockVariable is the environment variable that says how many seconds the clock of a process is ahead.
const clockVariable = "CHAOS_CLOCK"

// clocks are by how much the clocks of processes are wrong, in turn: from one process to the next, and from one start
// of a process to its next.
var clocks = []time.Duration{
	0, 6 * time.Second, -11 * time.Second, 61 * time.Minute, -61 * time.Minute, 24 * time.Hour, -24 * time.Hour,
}

// clockOf is the environment of a process, of which so many were started before.
func clockOf(started int) string {
	return fmt.Sprintf("%s=%.0f", clockVariable, clocks[started%len(clocks)].Seconds())
}

// clockEdits make a package time whose clock is wrong. Timers and deadlines are as they were: they do not follow the
// clock of a host.
func clockEdits(ctx context.Context) (overlay.Edits, error) {
	root, err := overlay.Sources(ctx)
	return overlay.Edits{Root: root, Edits: []overlay.Edit{
		{
			"time/time.go", "\tsec, nsec, mono := runtimeNow()\n",
			"\tsec, nsec, mono := runtimeNow()\n\tsec += clockAhead\n",
		},
		{
			"time/sys_unix.go", "// for testing: whatever interrupts a sleep\n",
			"var clockAhead = func() int64 {\n\ttext, _ := syscall.Getenv(\"" + clockVariable + "\")\n" +
				"\tseconds, _ := atoi(text)\n\treturn int64(seconds)\n}()\n\n" +
				"// for testing: whatever interrupts a sleep\n",
		},
	}}, err
}
