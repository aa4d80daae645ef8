package sandbox

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// linear is the guest's memory: mapped, mostly shared with the parent, so that growing neither copies nor
// waits for the garbage collector, and so that it remembers a refusal. It
// serves one module.
type linear struct {
	limit   int  // bytes
	refused bool // the guest was refused more

	mapped []byte // all of limit is reserved, what the guest has is accessible
	size   int    // of what is accessible
}

// Allocate implements experimental.MemoryAllocator. The engine's own idea of
// the maximum is not used: it would refuse on its own, and nobody would know.
func (l *linear) Allocate(_, _ uint64) experimental.LinearMemory { return l }

// Reallocate returns nil when there is no more for the guest.
func (l *linear) Reallocate(size uint64) []byte {
	if size > uint64(l.limit) || !l.extend(int(size)) {
		l.refused = true
		return nil
	}
	return l.mapped[:size:size]
}

func (l *linear) extend(size int) bool {
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
func (l *linear) Free() {}
