package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
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

// use reads what the process has; zeros when it has ended.
func (p *process) use() (u Use) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return Use{}
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		number, _, _ := strings.Cut(strings.TrimSpace(value), " ") // the unit behind it is always kB
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "Threads":
			u.Threads = n
		case "VmSize":
			u.Addresses = n * kib
		case "VmPTE":
			u.PageTables = n * kib
		}
	}
	return u
}
