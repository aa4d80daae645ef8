package sandbox

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// linearMemory is the guest's memory. It is mapped, usually shared with the parent, so that it grows without a copy and
// without the garbage collector. It notes when the guest was refused more. It serves one module.
type linearMemory struct {
	limit   int  // bytes
	refused bool // the guest was refused more

	mapped []byte // reserved up to the limit
	size   int    // accessible to the guest
}

// Allocate implements experimental.MemoryAllocator. It ignores the engine's maximum, with which the engine would refuse
// memory without a note of it.
func (l *linearMemory) Allocate(_, _ uint64) experimental.LinearMemory { return l }

// Reallocate returns nil when there is no more for the guest.
func (l *linearMemory) Reallocate(size uint64) []byte {
	if size > uint64(l.limit) || !l.extend(int(size)) {
		l.refused = true
		return nil
	}
	return l.mapped[:size:size]
}

func (l *linearMemory) extend(size int) bool {
	if l.mapped == nil {
		// Reserved and inaccessible memory does not count against RLIMIT_DATA.
		m, err := unix.Mmap(-1, 0, max(l.limit, page), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err != nil {
			return false
		}
		l.mapped = m
	}
	if size > l.size {
		if err := unix.Mprotect(l.mapped[l.size:size], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return false
		}
		l.size = size
	}
	return true
}

// Free does nothing: the memory lives as long as the process.
func (l *linearMemory) Free() {}
