package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// shared is this side's view of a guest's linear memory, which it has in common with the child. What is long travels that way: a pipe would
// copy it twice more, page by page.
//
// The child may write to it at any time, whatever it was told. So this side writes requests there and believes nothing that it reads
// back, and copies an answer once, before it looks at it. A page that is not there would be SIGBUS here, so the file's size is
// sealed before the child gets it.
type shared struct {
	file *os.File
	size int

	mu     sync.Mutex // of mapped, which the child's death unmaps
	mapped []byte
	closed bool
}

// newShared makes a memory of so many bytes, of which none takes room yet; nil where the system has no such thing.
func newShared(size int) *shared {
	fd, err := unix.MemfdCreate("guest", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil
	}
	s := &shared{file: os.NewFile(uintptr(fd), "guest"), size: size}
	err = unix.Ftruncate(fd, int64(size))
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		s.close()
		return nil
	}
	return s
}

// seals keep the size of a memory as it is, for ever.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// sealed tells whether a descriptor is a memory that newShared made.
func sealed(fd int) bool {
	is, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	return err == nil && is&seals == seals
}

// write puts bytes at the beginning of a place of that size.
func (s *shared) write(at uint64, b []byte, size int) error {
	return s.within(at, size, func(place []byte) { copy(place, b) })
}

// read copies from there.
func (s *shared) read(b []byte, at uint64) error {
	return s.within(at, len(b), func(place []byte) { copy(b, place) })
}

func (s *shared) within(at uint64, n int, f func(place []byte)) error {
	place, err := s.hold(at, n)
	if err != nil {
		return err
	}
	defer s.leave()
	f(place)
	return nil
}

// hold returns n bytes from there, which stay until leave. Nobody else comes in between.
func (s *shared) hold(at uint64, n int) (place []byte, err error) {
	if n > s.size || at > uint64(s.size-n) {
		return nil, failure(Died, "its process sent nonsense: %d bytes at %#x of %d", n, at, s.size)
	}
	s.mu.Lock()
	defer func() {
		if err != nil {
			s.mu.Unlock()
		}
	}()
	if s.closed {
		return nil, os.ErrClosed
	}
	if s.mapped == nil {
		m, err := unix.Mmap(int(s.file.Fd()), 0, s.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return nil, fmt.Errorf("map the guest's memory: %w", err)
		}
		s.mapped = m
	}
	return s.mapped[at:][:n:n], nil
}

func (s *shared) leave() { s.mu.Unlock() }

// close gives the memory back as soon as the child is gone, too.
func (s *shared) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.mapped != nil {
		_ = unix.Munmap(s.mapped)
		s.mapped = nil
	}
	_ = s.file.Close()
}

// share makes the memory that the parent passed that of the guest.
func (l *linear) share(fd int) error {
	if !sealed(fd) {
		return errors.New("its memory is not the one that was made for it")
	}
	m, err := unix.Mmap(fd, 0, max(l.limit, page), unix.PROT_NONE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map the guest's memory: %w", err)
	}
	l.mapped = m
	return unix.Close(fd)
}
