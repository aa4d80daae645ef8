package runner

import (
	"fmt"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// journalSize is when lines are sent without waiting for the end of the run, in bytes.
const journalSize = 60 << 10

// journal puts what an instance prints, and what happens to it, into its
// function's log. One goroutine uses it.
type journal struct {
	now      func() time.Time
	say      func(*pb.LogLines)
	instance string
	text     []byte
}

// line adds a line; it is sent at the next flush.
func (j *journal) line(text string) {
	if len(j.text)+len(text) > journalSize {
		j.flush()
	}
	j.text = append(append(j.text, text...), '\n')
}

// event adds lines of the runner's own, marked as such.
func (j *journal) event(format string, args ...any) {
	for text := range strings.Lines(fmt.Sprintf(format, args...)) {
		j.line("[runner] " + strings.TrimSuffix(text, "\n"))
	}
}

// flush sends the lines so far in one message.
func (j *journal) flush() {
	if len(j.text) == 0 {
		return
	}
	j.say(&pb.LogLines{
		Instance: j.instance,
		Time:     j.now().UnixMilli(),
		Text:     strings.ToValidUTF8(string(j.text), "\ufffd"),
	})
	j.text = j.text[:0]
}
