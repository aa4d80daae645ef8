//go:build !linux

package sandbox

import "github.com/tetratelabs/wazero/experimental"

// linear is the guest's memory, on the heap. It serves one module.
type linear struct {
	limit   int  // bytes
	refused bool // the guest was refused more
	heap    []byte
}

// Allocate implements experimental.MemoryAllocator.
func (l *linear) Allocate(_, _ uint64) experimental.LinearMemory { return l }

// Reallocate returns nil when there is no more for the guest.
func (l *linear) Reallocate(size uint64) []byte {
	if size > uint64(l.limit) {
		l.refused = true
		return nil
	}
	l.heap = append(l.heap, make([]byte, size-uint64(len(l.heap)))...)
	return l.heap
}

// Free does nothing: the memory lives as long as the process.
func (l *linear) Free() {}
