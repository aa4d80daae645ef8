package runner

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// Limits of a function's log on one runner: bytes a second in the long run, and bytes at once. A function that floods
// its log loses lines; other functions keep theirs.
const (
	logRate  = 256 << 10
	logBurst = 1 << 20
	// All functions of a project together.
	projectLogRate  = 4 * logRate
	projectLogBurst = 4 * logBurst
)

// logDelay is how long lines wait for more of them, to be sent in one message.
const logDelay = time.Second

// instanceLog sends an instance's output and its life to its function's log. One goroutine uses it.
type instanceLog struct {
	now func() time.Time
	// shown is the clock of the lines.
	shown    func() time.Time
	send     func(*pb.LogLines)
	budget   *rate.Limiter // of the function, in bytes
	project  *rate.Limiter // of all functions of the project
	instance string
	upload   int64
	config   string // of the run under way, or of the last one
	// measure gets the bytes that were sent, and the lines that were dropped; may be nil.
	measure func(bytes, dropped int)

	text    []byte
	lines   int              // in text
	marks   []*pb.LogMark    // of these lines
	marked  int              // about how many bytes the marks take
	dropped int              // lines over the budget, not reported yet
	due     <-chan time.Time // when text is to be sent; nil when there is none
}

// line adds a line that the function printed.
func (l *instanceLog) line(text string) {
	if l.allow(text) {
		l.add(text)
	}
}

// byRunner is before each line that the runner adds.
const byRunner = "[runner] "

// functionError adds the reason that a function gave for failing a run. It may do so in every run.
func (l *instanceLog) functionError(err error) {
	if text := err.Error(); l.allow(byRunner + strings.ReplaceAll(text, "\n", "\n"+byRunner)) {
		l.event("%s", text)
	}
}

// allow reports whether the budget has room for a line. A line that is dropped is counted, and reported soon.
func (l *instanceLog) allow(text string) bool {
	if !l.budget.AllowN(l.now(), len(text)+1) || !l.project.AllowN(l.now(), len(text)+1) {
		l.dropped++
		if l.measure != nil {
			l.measure(0, 1)
		}
		l.flushSoon()
		return false
	}
	l.reportDropped()
	return true
}

// reportDropped adds how many lines were dropped.
func (l *instanceLog) reportDropped() {
	if n := l.dropped; n > 0 {
		l.dropped = 0
		subject := fmt.Sprintf("%d lines were", n)
		if n == 1 {
			subject = "a line was"
		}
		l.event("%s dropped: in the long run a function may print %d KiB a second on a runner, all of a project %d KiB",
			subject, logRate>>10, projectLogRate>>10)
	}
}

// add adds a line, to be sent soon. A line that does not fit into one message goes into several.
func (l *instanceLog) add(text string) {
	text = strings.ToValidUTF8(text, "\ufffd") + "\n"
	if len(l.text)+len(text) > bus.MaxLogText {
		l.flush()
	}
	l.mark()
	for len(text) > bus.MaxLogText {
		n := bus.MaxLogText
		for !utf8.RuneStart(text[n]) {
			n--
		}
		l.sendText(text[:n])
		text = text[n:]
		l.mark()
	}
	l.text = append(l.text, text...)
	l.lines++
	l.flushSoon()
}

// The most bytes of the marks in a message, and of a config's name in a mark.
const (
	maxMarks      = 512
	maxMarkConfig = 128
	markBytes     = 16
)

// mark notes when the next line was written, and for which config, unless the line before it says the same.
func (l *instanceLog) mark() {
	now, config := l.shown().UnixMilli(), l.config[:min(len(l.config), maxMarkConfig)]
	if n := len(l.marks); n > 0 && l.marks[n-1].GetTime() == now && l.marks[n-1].GetConfig() == config {
		return
	}
	if l.marked += markBytes + len(config); l.marked > maxMarks && len(l.text) > 0 {
		l.flush()
		l.marked = markBytes + len(config)
	}
	l.marks = append(l.marks, &pb.LogMark{
		Line: uint32(l.lines), Time: now, Config: strings.ToValidUTF8(config, ""),
	})
}

func (l *instanceLog) flushSoon() {
	if l.due == nil {
		l.due = time.After(logDelay)
	}
}

// event adds lines of the runner's own, marked as such.
func (l *instanceLog) event(format string, args ...any) {
	for text := range strings.Lines(fmt.Sprintf(format, args...)) {
		l.add(byRunner + strings.TrimSuffix(text, "\n"))
	}
}

// flush sends the lines so far in one message.
func (l *instanceLog) flush() {
	l.reportDropped()
	l.due = nil
	if len(l.text) > 0 {
		l.sendText(string(l.text))
		l.text = l.text[:0]
	}
}

func (l *instanceLog) sendText(text string) {
	if l.measure != nil {
		l.measure(len(text), 0)
	}
	l.send(&pb.LogLines{
		Instance: l.instance, Time: l.shown().UnixMilli(), Text: text, Upload: l.upload, Marks: l.marks,
	})
	l.marks, l.marked, l.lines = nil, 0, 0
}
