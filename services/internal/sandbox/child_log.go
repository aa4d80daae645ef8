package sandbox

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	// maxLine is where a line of log is cut, in bytes.
	maxLine = 8 * kib
	// lineCost is how many bytes a line counts besides its own, about the cost of sending and storing it. Without it 64
	// KiB would be 65,536 lines.
	lineCost = 64
)

// guestLog is the guest's standard output and error. It cuts long lines, and drops and counts what is over the limit of
// a run, so that a flood costs nothing but the guest's own time.
type guestLog struct {
	limit int                // bytes a run
	send  func(lines []byte) // gets whole lines, at most maxLogFrame bytes

	panics  panicScanner // sees all lines, also those over the limit
	left    int          // of the limit
	dropped int          // bytes in this run
	line    []byte       // the line that has not ended yet
	cut     int          // bytes that were cut off it
	lines   []byte       // scratch: whole lines to send
}

// startRun starts the limit of a run.
func (l *guestLog) startRun() {
	l.left, l.dropped = l.limit, 0
	l.panics.message, l.panics.line = "", l.panics.line[:0]
}

// Write never fails: a full log is no error of the function.
func (l *guestLog) Write(p []byte) (int, error) {
	n := len(p)
	l.panics.scan(p)
	for len(p) > 0 && l.left > 0 {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		room := min(len(part), maxLine-len(l.line), max(0, l.left-len(l.line)))
		l.line = append(l.line, part[:room]...)
		l.cut += len(part) - room
		if ended {
			l.endLine()
		}
		p = rest
	}
	l.dropped += len(p)
	l.flush()
	return n, nil
}

// endRun ends the log of a run. A last line without a newline counts as a line.
func (l *guestLog) endRun() {
	if len(l.line)+l.cut > 0 {
		l.endLine()
	}
	if l.dropped > 0 {
		l.lines = fmt.Appendf(l.lines, "… %d bytes dropped: the log of a run is limited to %d bytes\n", l.dropped, l.limit)
	}
	l.flush()
}

func (l *guestLog) endLine() {
	if l.cut > 0 {
		l.line = fmt.Appendf(l.line, " … %d bytes cut", l.cut)
	}
	if len(l.lines)+len(l.line)+1 > maxLogFrame {
		l.flush()
	}
	l.lines = append(append(l.lines, l.line...), '\n')
	l.left -= len(l.line) + lineCost
	l.line, l.cut = l.line[:0], 0
}

func (l *guestLog) flush() {
	if len(l.lines) > 0 {
		l.send(l.lines)
		l.lines = l.lines[:0]
	}
}

// panicScanner finds the message of a panic in what a guest prints. When a Go program panics, or its runtime fails, the
// engine sees only an unreachable instruction.
type panicScanner struct {
	line    []byte // the beginning of the line that has not ended yet
	message string // of this run
}

// maxPanicLine is how much of a line is scanned, in bytes.
const maxPanicLine = 256

// panicPrefixes are how the messages of Go, AssemblyScript and Rust begin.
var panicPrefixes = []string{"panic: ", "fatal error: ", "abort: ", "panicked at "}

// scan scans a part of what is printed. The first message counts.
func (s *panicScanner) scan(p []byte) {
	for s.message == "" && len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		s.line = append(s.line, part[:min(len(part), maxPanicLine-len(s.line))]...)
		if ended {
			s.endLine()
		}
		p = rest
	}
}

func (s *panicScanner) endLine() {
	for _, begin := range panicPrefixes {
		if s.message == "" && bytes.HasPrefix(s.line, []byte(begin)) {
			s.message = strings.ToValidUTF8(string(s.line), "")
		}
	}
	s.line = s.line[:0]
}
