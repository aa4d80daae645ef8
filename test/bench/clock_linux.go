package main

import (
	"math"
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

// openFiles is how many files this process and the services that it starts may each have open.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt
	}
	return int(min(limit.Cur, math.MaxInt))
}
