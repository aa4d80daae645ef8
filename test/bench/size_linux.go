package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/services/test/launch"
)

// familyTimes are the processor times of processes, each with its children.
func familyTimes(pids ...int) []time.Duration {
	times := make([]time.Duration, len(pids))
	for i, pid := range pids {
		times[i] = processorTime(pid)
	}
	for child, p := range launch.Processes() {
		if i := slices.Index(pids, p.Parent); i >= 0 {
			times[i] += processorTime(child)
		}
	}
	return times
}

// familyMemory is the memory of a process and its children in MiB.
func familyMemory(pid int) (held float64) {
	for _, p := range family(pid) {
		held += memory(p)
	}
	return held
}

// memory is the memory of a process in MiB. What it shares is divided among the processes that do.
func memory(pid int) (held float64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0 // it has ended
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "Pss: %f kB", &kib); n == 1 {
			held += kib / 1024
		}
	}
	return held
}

// familySwitches is how often the threads of a process and its children left a processor.
func familySwitches(pid int) (n float64) {
	for _, p := range family(pid) {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p))
		for _, file := range files {
			text, _ := os.ReadFile(file) // an error means that it has ended
			for line := range strings.Lines(string(text)) {
				if _, value, found := strings.Cut(line, "voluntary_ctxt_switches:"); found {
					more, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
					n += more
				}
			}
		}
	}
	return n
}

// family is a process and its children.
func family(pid int) []int {
	return append(launch.Children(pid), pid)
}
