package spantest

import (
	"slices"
	"strings"
	"sync"
)

// Log is what was logged so far, to look at while others write it.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is all of it.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// HasLine reports whether a line has all of these words.
func (l *Log) HasLine(words ...string) bool {
	for line := range strings.Lines(l.String()) {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			return true
		}
	}
	return false
}
