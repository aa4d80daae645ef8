package sandbox

import (
	"bytes"
	"strings"
)

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
