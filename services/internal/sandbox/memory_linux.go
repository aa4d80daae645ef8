package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// sharedMemory is the parent's view of a guest's linear memory, which it shares with the child. Long requests and
// answers go through it, since a pipe would copy them twice more, page by page.
//
// The child may write to it at any time. So the parent never reads a request back, and copies an answer once before it
// looks at it. To access a page that does not exist would be SIGBUS in the parent, so the size of the file is sealed
// before the child gets it.
type sharedMemory struct {
	file *os.File
	size int

	mu     sync.Mutex // for mapped, which is unmapped when the child ends
	mapped []byte
	closed bool
}

// newSharedMemory makes a memory of a size in bytes, of which none are allocated yet. It is nil where the system has no
// such files.
func newSharedMemory(size int) *sharedMemory {
	fd, err := unix.MemfdCreate("guest", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil
	}
	s := &sharedMemory{file: os.NewFile(uintptr(fd), "guest"), size: size}
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

// seals fix the size of a memory for ever.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// sealed reports whether a descriptor is a memory that newSharedMemory made.
func sealed(fd int) bool {
	is, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	return err == nil && is&seals == seals
}

// write writes bytes to the beginning of a buffer of that size.
func (s *sharedMemory) write(at uint64, b []byte, size int) error {
	buffer, err := s.lock(at, size)
	if err != nil {
		return err
	}
	defer s.unlock()
	copy(buffer, b)
	return nil
}

// read copies len(b) bytes.
func (s *sharedMemory) read(b []byte, at uint64) error {
	buffer, err := s.lock(at, len(b))
	if err != nil {
		return err
	}
	defer s.unlock()
	copy(b, buffer)
	return nil
}

// lock returns n bytes, which stay mapped until unlock.
func (s *sharedMemory) lock(at uint64, n int) (buffer []byte, err error) {
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

func (s *sharedMemory) unlock() { s.mu.Unlock() }

// close unmaps the memory. It is freed when the child has ended, too.
func (s *sharedMemory) close() {
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

// share makes the memory that the parent passed the guest's memory.
func (l *linearMemory) share(fd int) error {
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
