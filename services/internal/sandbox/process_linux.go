package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is the largest pipe that a process without privileges may ask for.
const pipeSize = mib

// widen enlarges a pipe, so that its two ends wait for each other less often: a request of 100,000 tickets would fill
// the usual 64 KiB eighty times. All pipes of a user may hold 64 MiB, so only instances that need it get larger ones.
// When the kernel refuses, the pipe stays as it is.
func widen(pipe *os.File) {
	if raw, err := pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}

// self is the binary of this process: the file that it was started from, even if that was replaced since.
func self() (string, error) { return "/proc/self/exe", nil }
