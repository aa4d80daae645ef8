package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is how much processor time the process has had so far, all its threads together, as the kernel counts
// it. It is 0 when the process has ended.
func (p *process) processorTime() time.Duration {
	// The clock of another process: clock_getcpuclockid(3). The 2 asks for what the scheduler counted, in nanoseconds.
	clock := int32(^p.cmd.Process.Pid)<<3 | 2
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
