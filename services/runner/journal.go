package runner

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// linger is how long lines wait for more of them, so that a function that is run a
// hundred times a second does not fill its log with as many messages.
const linger = time.Second

// journal puts what an instance prints, and what happens to it, into its
// function's log. One goroutine uses it.
type journal struct {
	now      func() time.Time
	say      func(*pb.LogLines)
	allow    func(bytes int) bool // tells whether the function may print so much more
	instance string

	text    []byte
	dropped int              // lines that were not allowed, since the last that was
	due     <-chan time.Time // when text is to be sent; nil when there is none
}

// line adds a line of the function's.
func (j *journal) line(text string) {
	if j.allowed(text) {
		j.add(text)
	}
}

// complaint adds what a function gave as the reason for failing a run, which it may do in every run.
func (j *journal) complaint(err error) {
	if text := err.Error(); j.allowed(text) {
		j.event("%s", text)
	}
}

// allowed tells whether the function may say so much more. What it may not is counted, and told with what comes next, or soon.
func (j *journal) allowed(text string) bool {
	if !j.allow(len(text) + 1) {
		j.dropped++
		j.soon()
		return false
	}
	j.complain()
	return true
}

// complain tells how many lines were dropped.
func (j *journal) complain() {
	if n := j.dropped; n > 0 {
		j.dropped = 0
		what := fmt.Sprintf("%d lines were", n)
		if n == 1 {
			what = "a line was"
		}
		j.event("%s dropped: in the long run a function may print %d KiB a second on a runner", what, printRate>>10)
	}
}

// add adds a line, which is sent soon, and in several messages when it does not fit into one.
func (j *journal) add(text string) {
	text = strings.ToValidUTF8(text, "\ufffd") + "\n"
	if len(j.text)+len(text) > bus.MaxLogText {
		j.flush()
	}
	for len(text) > bus.MaxLogText {
		n := bus.MaxLogText
		for !utf8.RuneStart(text[n]) {
			n--
		}
		j.send(text[:n])
		text = text[n:]
	}
	j.text = append(j.text, text...)
	j.soon()
}

func (j *journal) soon() {
	if j.due == nil {
		j.due = time.After(linger)
	}
}

// event adds lines of the runner's own, marked as such.
func (j *journal) event(format string, args ...any) {
	for text := range strings.Lines(fmt.Sprintf(format, args...)) {
		j.add("[runner] " + strings.TrimSuffix(text, "\n"))
	}
}

// flush sends the lines so far in one message.
func (j *journal) flush() {
	j.complain()
	j.due = nil
	if len(j.text) > 0 {
		j.send(string(j.text))
		j.text = j.text[:0]
	}
}

func (j *journal) send(text string) {
	j.say(&pb.LogLines{Instance: j.instance, Time: j.now().UnixMilli(), Text: text})
}
