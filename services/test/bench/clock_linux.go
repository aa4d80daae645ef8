package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// usedBy is the processor time of a server, of the Redis and the instances that it started, and of this process.
func usedBy(pid int) usage {
	u := usage{services: processorTime(pid), generator: processorTime(os.Getpid())}
	for child, name := range children(pid) {
		if strings.Contains(name, "redis") || strings.Contains(name, "valkey") {
			u.redis += processorTime(child)
		} else {
			u.functions += processorTime(child)
		}
	}
	return u
}

// children are the child processes of a process, and their names.
func children(pid int) map[int]string {
	all := map[int]string{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		var child, parent int
		var state string
		// pid (name) state parent …; a name may have any characters.
		before, after, _ := strings.Cut(string(text), " (")
		end := strings.LastIndexByte(after, ')')
		name, after := after[:end], after[end+1:]
		if _, err := fmt.Sscan(before, &child); err != nil {
			continue
		}
		if _, err := fmt.Sscan(after, &state, &parent); err == nil && parent == pid {
			all[child] = name
		}
	}
	return all
}
