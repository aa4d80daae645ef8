package sandbox

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// maxFiles is how many descriptors a child may have: three for its pipes, two for /dev/null, and some for the Go
// runtime and the files of machine code.
const maxFiles = 32

// A child's address space, in bytes, is what it may have of memory, and room for what is reserved or mapped from files:
// Go's runtime reserves 1.4 GB, and each thread of the C library 72 MB where Go is linked with it.
const (
	reservedAddresses = 3 * gib
	// maxAddresses bounds the sum for an instance with the highest limits.
	maxAddresses = 8 * gib
)

func addressSpace(s childSettings) int {
	return reservedAddresses + maxCompiledFile + s.Memory + s.Data
}

// maxPendingSignals is how many signals may wait for a child.
const maxPendingSignals = 64

// maxCompiledFile is the largest value of Limits.Code, in bytes.
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
	type limit struct {
		name     string
		resource int
		value    int
	}
	limits := []limit{
		{"RLIMIT_DATA", unix.RLIMIT_DATA, s.Data},
		{"RLIMIT_NOFILE", unix.RLIMIT_NOFILE, maxFiles},
		{"RLIMIT_FSIZE", unix.RLIMIT_FSIZE, s.Code},
		{"RLIMIT_CORE", unix.RLIMIT_CORE, 0},
		{"RLIMIT_MEMLOCK", unix.RLIMIT_MEMLOCK, 0},
		{"RLIMIT_SIGPENDING", unix.RLIMIT_SIGPENDING, maxPendingSignals},
		{"RLIMIT_AS", unix.RLIMIT_AS, addressSpace(s)},
	}
	if s.Processor > 0 {
		limits = append(limits, limit{"RLIMIT_CPU", unix.RLIMIT_CPU, s.Processor})
	}
	for _, l := range limits {
		if l.resource == unix.RLIMIT_AS && raceDetector {
			continue
		}
		n := uint64(l.value)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	// Other processes of this user cannot read its memory or attach to it.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_DUMPABLE: %w", err)
	}
	return nil
}
