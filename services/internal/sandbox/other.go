//go:build !linux

package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"github.com/tetratelabs/wazero/experimental"
)

// Systems other than Linux are for developing: a function has only the engine's sandbox and its own process there.

func self() (string, error) { return os.Executable() }

// launch starts a command. The child sees a closed pipe when this process ended.
func launch(cmd *exec.Cmd, _ *ruleset, _ int, _ <-chan struct{}) error { return cmd.Start() }

// nicer is no nice value: there are none here.
func nicer(int) int { return 0 }

// processorTime is not known here.
func (p *process) processorTime() time.Duration { return 0 }

func closeInherited() {}

func limitResources(childSettings) error { return nil }

func awaitThreads() {}

// use is not known here.
func (p *process) use() Use { return Use{} }

// processCount is not known here.
func processCount(string, string) (used, limit int) { return 0, 0 }

// processLimit returns a value that causes no warning.
func processLimit(string, string) int { return 1 }

// inspect reports that there are no walls.
func (c *child) inspect(walls) error {
	return c.sendInspection(inspection{Holes: []string{"do all that this user can, as there are walls on Linux alone"}})
}

// ruleset allows a child all files.
type ruleset struct{}

type rule struct {
	path     string
	access   uint64
	optional bool
}

const (
	readable = 0
	writable = 0
)

func newRuleset(string) (*ruleset, error) { return nil, nil } //nolint:nilnil // nil is no rules

func (s *ruleset) with(...rule) *ruleset { return s }

// sharedMemory does not exist: long requests and answers go through the pipes.
type sharedMemory struct{ file *os.File }

func newSharedMemory(int) *sharedMemory { return nil }

func (s *sharedMemory) write(uint64, []byte, int) error { return errors.ErrUnsupported }

func (s *sharedMemory) read([]byte, uint64) error { return errors.ErrUnsupported }

func (s *sharedMemory) lock(uint64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func (s *sharedMemory) unlock() {}

func (s *sharedMemory) close() {}

// linearMemory is the guest's memory, on the heap. It serves one module.
type linearMemory struct {
	limit   int  // bytes
	refused bool // the guest was refused more
	heap    []byte
}

// Allocate implements experimental.MemoryAllocator.
func (l *linearMemory) Allocate(_, _ uint64) experimental.LinearMemory { return l }

// Reallocate returns nil when there is no more for the guest.
func (l *linearMemory) Reallocate(size uint64) []byte {
	if size > uint64(l.limit) {
		l.refused = true
		return nil
	}
	l.heap = append(l.heap, make([]byte, size-uint64(len(l.heap)))...)
	return l.heap
}

// Free does nothing: the memory lives as long as the process.
func (l *linearMemory) Free() {}

func (l *linearMemory) share(int) error { return errors.ErrUnsupported }
