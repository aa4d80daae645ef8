package main

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"matchmaker.dev/services/test/launch"
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

// usedBy is the processor time of a server, of the Redis and the instances that it started, and of this process.
func usedBy(pid int) usage {
	u := usage{services: processorTime(pid), generator: processorTime(os.Getpid())}
	for child, name := range launch.Children(pid) {
		if strings.Contains(name, "redis") || strings.Contains(name, "valkey") {
			u.redis += processorTime(child)
		} else {
			u.functions += processorTime(child)
		}
	}
	return u
}
