package sandbox

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// maxFiles is how many descriptors a child may have: three for its pipes, two for /dev/null, and some for the Go
// runtime and the files of machine code.
const maxFiles = 32

// maxCompiledFile is the largest file that a compiler may write, in bytes.
const maxCompiledFile = gib

// closeInherited closes all descriptors but the pipes to the parent, the guest's memory and the Go runtime's own. A
// child does not inherit what Go opens, but it does inherit what the parent itself inherited.
func closeInherited() {
	for fd := framesFD + 1; fd < maxFiles; fd++ {
		if _, is := unexpected(fd); is {
			_ = unix.Close(fd)
		}
	}
	_ = unix.CloseRange(maxFiles, math.MaxUint32, 0) // the runtime's own are lower
}

// limitResources gives up what a child never needs and only the process itself can give up. The parent does the rest,
// see launch.
func limitResources(s childSettings) error {
	written := 0
	if s.Compile {
		written = maxCompiledFile
	}
	limits := []struct {
		name     string
		resource int
		value    int
	}{
		{"RLIMIT_DATA", unix.RLIMIT_DATA, s.Data},
		{"RLIMIT_NOFILE", unix.RLIMIT_NOFILE, maxFiles},
		{"RLIMIT_FSIZE", unix.RLIMIT_FSIZE, written},
		{"RLIMIT_CORE", unix.RLIMIT_CORE, 0},
	}
	for _, l := range limits {
		n := uint64(l.value)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	// Other processes of this user cannot read its memory or attach to it.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_DUMPABLE: %w", err)
	}
	if s.Compile { // runs are more urgent
		_ = unix.Setpriority(unix.PRIO_PGRP, 0, 10) // for all threads, which are its process group
	}
	return nil
}
