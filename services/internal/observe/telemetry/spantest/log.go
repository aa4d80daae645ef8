package spantest

import (
	"slices"
	"strings"

	"matchmaker.dev/services/internal/platform/process/processtest"
)

// Log is what was logged so far, to look at while others write it.
type Log struct{ processtest.Buffer }

// HasLine reports whether a line has all of these words.
func (l *Log) HasLine(words ...string) bool {
	for line := range strings.Lines(l.String()) {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			return true
		}
	}
	return false
}
