package local

import (
	"bytes"
	"log/slog"
	"sync"
)

// maxLine bounds what is kept of a line without end.
const maxLine = 4096

// journal passes what a process writes on its standard error on to slog, and
// keeps the last line.
type journal struct {
	log *slog.Logger

	mu   sync.Mutex
	rest []byte
	line string
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rest = append(j.rest, p...)
	for {
		line, rest, found := bytes.Cut(j.rest, []byte("\n"))
		if !found {
			j.rest = line[:min(len(line), maxLine)]
			return len(p), nil
		}
		j.rest = rest
		if text := string(bytes.TrimSpace(line)); text != "" {
			j.line = text
			j.log.Warn("game server process: " + text)
		}
	}
}

// last is the last line written, "" when there is none.
func (j *journal) last() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.line
}
