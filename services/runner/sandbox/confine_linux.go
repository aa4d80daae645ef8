package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// files is how many descriptors a child may have: three for its pipes, two for
// /dev/null, and some for the Go runtime and the cache.
const files = 32

// confine takes from this process what a child needs at no time. That it can
// gain no privileges by executing something is arranged by its parent, see
// [spawner], since a thread can only give that up for itself and its children.
func confine(s settings) error {
	// When memory runs out, the kernel should take a function before anything
	// else. Raising one's own score is always allowed, but not everywhere possible.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)

	limits := []struct {
		name     string
		resource int
		value    int
	}{
		{"RLIMIT_DATA", unix.RLIMIT_DATA, s.Data},
		{"RLIMIT_NOFILE", unix.RLIMIT_NOFILE, files},
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
