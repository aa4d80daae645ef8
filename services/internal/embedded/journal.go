package embedded

import (
	"bytes"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
)

// spoken is how many of the last lines of a child an error repeats.
const spoken = 6

// line takes apart "12345:M 21 Nov 2025 03:22:00.123 # Ready to accept connections":
// the level, of . - * # (the highest), and the text.
var line = regexp.MustCompile(`^\d+:[A-Z] \d+ \w+ \d+ [\d:.]+ ([.*#-]) (.*)$`)

// journal passes the lines that Redis writes on to slog, and keeps the last.
type journal struct {
	log *slog.Logger
	// loud lets warnings through as such. While the server starts and stops it
	// gives its greetings as warnings; they matter only when it fails, and then
	// the error has them.
	loud atomic.Bool

	mu    sync.Mutex
	rest  []byte // an unfinished line
	lines []string
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rest = append(j.rest, p...)
	for {
		i := bytes.IndexByte(j.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		j.hear(strings.TrimSpace(string(j.rest[:i])))
		j.rest = j.rest[i+1:]
	}
}

func (j *journal) hear(text string) {
	level := slog.LevelDebug
	if m := line.FindStringSubmatch(text); m != nil {
		text = m[2]
		if m[1] == "#" && j.loud.Load() {
			level = slog.LevelWarn
		}
	}
	if text == "" {
		return
	}
	if level == slog.LevelWarn {
		j.log.Warn("redis: " + text)
	} else {
		j.log.Debug("redis: " + text)
	}
	j.lines = append(j.lines, text)
	if len(j.lines) > spoken {
		j.lines = j.lines[1:]
	}
}

// last is the end of what the child said, in one line.
func (j *journal) last() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.lines) == 0 {
		return "none"
	}
	return strings.Join(j.lines, " | ")
}
