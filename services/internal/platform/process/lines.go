package process

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	maxLine = 64 << 10 // bytes of a line that are kept
	maxTail = 6        // lines of output in an error
)

// Lines is a writer that calls each for every line, without the line's end. It may be called by one goroutine at a
// time. Bytes of a line after the first 64 KiB are dropped.
func Lines(each func(line string)) io.Writer { return &lines{each: each} }

type lines struct {
	each func(string)
	rest []byte // of an unfinished line
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte("\n"))
		l.rest = append(l.rest, line[:min(len(line), maxLine-len(l.rest))]...)
		if !found {
			return n, nil
		}
		l.each(string(l.rest))
		l.rest, p = l.rest[:0], rest
	}
}

// tail keeps the last lines of a process's output for errors.
type tail struct {
	mu   sync.Mutex
	last []string
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if line = strings.TrimSpace(line); line == "" {
		return
	}
	if t.last = append(t.last, line); len(t.last) > maxTail {
		t.last = t.last[1:]
	}
}

// String is the end of an error; "" when there was no output.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.last) == 0 {
		return ""
	}
	return "; its last output: " + strings.Join(t.last, " | ")
}
