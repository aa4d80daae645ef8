package sandbox

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	// maxLine is where a line of log is cut, in bytes.
	maxLine = 8 * kib
	// lineCost is what a line counts besides its bytes: about what it costs
	// those who carry and keep it. Without it 64 KiB would be 65,536 lines.
	lineCost = 64
)

// journal is the guest's standard output and error: it cuts lines, and what is
// over the quota of a run is counted and dropped, so that a flood costs the
// guest's own time alone.
type journal struct {
	quota int
	send  func(lines []byte) // gets whole lines, at most maxLog bytes

	words   words  // of a guest that gives up, whether or not they are within the quota
	left    int    // of the quota
	dropped int    // bytes in this run
	line    []byte // the line that has not ended yet
	lost    int    // bytes that were cut off it
	lines   []byte // scratch: whole lines to send
}

// begin starts the quota of a run.
func (j *journal) begin() {
	j.left, j.dropped = j.quota, 0
	j.words.said, j.words.line = "", j.words.line[:0]
}

// Write never fails: a full log is no error of the function.
func (j *journal) Write(p []byte) (int, error) {
	n := len(p)
	j.words.hear(p)
	for len(p) > 0 && j.left > 0 {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		room := min(len(part), maxLine-len(j.line), max(0, j.left-len(j.line)))
		j.line = append(j.line, part[:room]...)
		j.lost += len(part) - room
		if ended {
			j.endLine()
		}
		p = rest
	}
	j.dropped += len(p)
	j.flush()
	return n, nil
}

// end closes the log of a run: a last line without a newline counts as one.
func (j *journal) end() {
	if len(j.line)+j.lost > 0 {
		j.endLine()
	}
	if j.dropped > 0 {
		j.lines = fmt.Appendf(j.lines, "… %d bytes dropped: the log of a run is limited to %d bytes\n", j.dropped, j.quota)
	}
	j.flush()
}

func (j *journal) endLine() {
	if j.lost > 0 {
		j.line = fmt.Appendf(j.line, " … %d bytes cut", j.lost)
	}
	if len(j.lines)+len(j.line)+1 > maxLog {
		j.flush()
	}
	j.lines = append(append(j.lines, j.line...), '\n')
	j.left -= len(j.line) + lineCost
	j.line, j.lost = j.line[:0], 0
}

func (j *journal) flush() {
	if len(j.lines) > 0 {
		j.send(j.lines)
		j.lines = j.lines[:0]
	}
}

// words hears what a guest says when it gives up. Of a Go program that panics, or whose runtime cannot go on, the engine
// knows no more than that it hit an unreachable instruction.
type words struct {
	line []byte // as much of the line that has not ended yet as is listened to
	said string // in this run
}

// mostWords is how much of a line is listened to, in bytes.
const mostWords = 256

// lasts are how lines begin that a runtime writes when it gives up: those of Go, AssemblyScript and Rust.
var lasts = []string{"panic: ", "fatal error: ", "abort: ", "panicked at "}

// hear listens to a part of what is printed. The first of the lines that say why counts: what follows is where.
func (w *words) hear(p []byte) {
	for w.said == "" && len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		w.line = append(w.line, part[:min(len(part), mostWords-len(w.line))]...)
		if ended {
			w.end()
		}
		p = rest
	}
}

func (w *words) end() {
	for _, begin := range lasts {
		if w.said == "" && bytes.HasPrefix(w.line, []byte(begin)) {
			w.said = strings.ToValidUTF8(string(w.line), "")
		}
	}
	w.line = w.line[:0]
}
