package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is the most that a process without privileges may have a pipe hold.
const pipeSize = mib

// widen lets a pipe hold more, so that the two at its ends wait for each other less
// often: a request of 100,000 tickets would fill the usual 64 KiB eighty times. All pipes of
// a user may hold 64 MiB, so this is for instances that need it. When the kernel refuses, the pipe stays as it is.
func widen(pipe *os.File) {
	if raw, err := pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}

// self is this process's binary: the very file it was started from, also when
// another one was put in its place since.
func self() (string, error) { return "/proc/self/exe", nil }
