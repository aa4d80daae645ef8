package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is the processor time that a process has used.
func processorTime(pid int) time.Duration {
	const scheduled = 2 // CPUCLOCK_SCHED: all of its threads
	clock := int32(^pid<<3 | scheduled)
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
