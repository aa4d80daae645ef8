package sandbox

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// files is how many descriptors a child may have: three for its pipes, two for
// /dev/null, and some for the Go runtime and the cache.
const files = 32

// machineCode is the most bytes of a file that a compiler may write.
const machineCode = gib

// shed closes the descriptors that are neither pipes to the parent, nor the guest's memory, nor the Go runtime's own. What Go opens is
// not inherited; what this process's parent, or that one's, left open is.
func shed() {
	for fd := framesFD + 1; fd < files; fd++ {
		if _, is := strange(fd); is {
			_ = unix.Close(fd)
		}
	}
	_ = unix.CloseRange(files, math.MaxUint32, 0) // the runtime has none as high yet
}

// confine takes from this process what a child needs at no time, and what only the
// process itself can give up. The rest its parent did, see launch.
func confine(s settings) error {
	written := 0
	if s.Compile {
		written = machineCode
	}
	limits := []struct {
		name     string
		resource int
		value    int
	}{
		{"RLIMIT_DATA", unix.RLIMIT_DATA, s.Data},
		{"RLIMIT_NOFILE", unix.RLIMIT_NOFILE, files},
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
	if s.Compile { // nobody waits for it as urgently as for a run
		_ = unix.Setpriority(unix.PRIO_PGRP, 0, 10) // of all its threads, which are its group
	}
	return nil
}
