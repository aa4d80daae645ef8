// Package processtest keeps what processes and loggers write, for tests to search.
package processtest

import (
	"bytes"
	"sync"
)

// Buffer keeps what is written to it, and can be read meanwhile.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write is called by the writers.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is everything that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
