package sandbox

import (
	"context"
	"crypto/sha256"
	"os"
	"slices"
	"testing"
)

// RaceDetector is true when the detector is in this binary.
const RaceDetector = raceDetector

// MainWithout is Main with one of its walls missing.
func MainWithout(wall string) int {
	w := allWalls()
	none := func() error { return nil }
	switch wall {
	case "closeInherited":
		w.closeInherited = func() {}
	case "limitResources":
		w.limitResources = func(childSettings) error { return nil }
	case "loading":
		w.filterLoading = none
	case "running":
		w.filterRunning = none
	}
	return runChild(w)
}

// Unshare makes a Supervisor's instances use the pipes only, as on systems without shared memory.
func (b *Supervisor) Unshare() { b.newMemory = func(int) *sharedMemory { return nil } }

// OnLaunch calls f before each launch of an instance.
func (b *Supervisor) OnLaunch(f func()) {
	b.newMemory = func(size int) *sharedMemory {
		f()
		return newSharedMemory(size)
	}
}

// Closing is closed when Close refuses further launches, before it waits for those under way.
func (b *Supervisor) Closing() <-chan struct{} { return b.life.Done() }

// Cut tries to truncate a memory that is to be shared.
func Cut(size int) error {
	s := newSharedMemory(size)
	defer s.close()
	return s.file.Truncate(int64(size / 2))
}

// KeptAnswer is how many bytes of memory for answers the instance keeps.
func (i *Instance) KeptAnswer() int { return cap(i.answer) }

// TakeTurn waits until an instance may start, and keeps its turn until the function that it returns is called.
func (b *Supervisor) TakeTurn(ctx context.Context) (func(), error) {
	t, err := b.starts.Enter(ctx, "")
	return func() { t.Leave(0) }, err
}

// HasTurn reports whether an instance may start at once.
func (b *Supervisor) HasTurn() bool {
	taken := 0
	b.starts.Open(func(_ string, held, _ int) { taken += held })
	return taken < b.starts.Places
}

// Entry is a file in the folder of machine code.
func Entry(hash string, content []byte) []byte {
	return slices.Concat(checksum(hash, content), content)
}

// Forge changes a file in the folder of machine code, with the right checksum.
func Forge(t *testing.T, file, hash string, change func(content []byte) []byte) {
	t.Helper()
	entry, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, Entry(hash, change(entry[sha256.Size:])), 0o600); err != nil {
		t.Fatal(err)
	}
}
