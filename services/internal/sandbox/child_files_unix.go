//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// inherit takes a descriptor that the parent passed. It is blocking: a child does one thing at a time, and a blocked
// read wakes up faster than a poller.
func inherit(fd int, name string) (*os.File, error) {
	if err := syscall.SetNonblock(fd, false); err != nil {
		return nil, fmt.Errorf("descriptor %d (%s): %w", fd, name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// readFile maps a file, so that all instances of a module share one copy. The file must not change any more.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", name, err)
	}
	return b, nil
}

// isPrivate reports whether a folder belongs to this user and is open to no other one.
func isPrivate(folder os.FileInfo) bool {
	stat, ok := folder.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && folder.Mode().Perm()&0o077 == 0
}

// isTooLong reports whether an error is that a file exceeds the limit of this process.
func isTooLong(err error) bool { return errors.Is(err, syscall.EFBIG) }
