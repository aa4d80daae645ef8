package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
)

// bar shows that something is under way. A nil bar shows nothing: there is no
// terminal to draw on.
type bar struct {
	session *session
	writer  progress.Writer
	tracker *progress.Tracker
	drawn   sync.WaitGroup
}

// begin draws a bar until end is called on it: of total bytes, or when total is
// 0, of something whose end cannot be told.
func (s *session) begin(message string, total int64) *bar {
	if s.width == 0 {
		return nil
	}
	b := &bar{session: s, writer: progress.NewWriter(), tracker: &progress.Tracker{
		Message: plain(message), Total: total, Units: progress.UnitsBytes, AutoStopDisabled: true,
	}}
	style := progress.StyleDefault
	style.Visibility.Percentage = total > 0
	style.Visibility.Value = total > 0
	style.Options.TimeInProgressPrecision = 100 * time.Millisecond
	b.writer.SetStyle(style)
	b.writer.SetOutputWriter(s.err)
	b.writer.SetTerminalWidth(s.width)
	b.writer.SetTrackerLength(24)
	b.writer.SetUpdateFrequency(100 * time.Millisecond)
	// Rendering ends with its tracker. Told to stop before it has begun, it would go on for ever.
	b.writer.SetAutoStop(true)
	b.writer.AppendTracker(b.tracker)
	b.drawn.Go(b.writer.Render)
	s.bar = b
	return b
}

// say changes the message.
func (b *bar) say(message string) {
	if b != nil {
		b.tracker.UpdateMessage(plain(message))
	}
}

// reach moves the bar to so many bytes.
func (b *bar) reach(n int64) {
	if b != nil {
		b.tracker.SetValue(n)
	}
}

// log prints a line above the bar.
func (b *bar) log(text string) { b.writer.Log("%s", text) }

// end takes the bar away. It may be called more than once.
func (b *bar) end() {
	if b == nil || b.session.bar != b {
		return
	}
	b.tracker.MarkAsDone()
	b.drawn.Wait()
	_, _ = fmt.Fprint(b.session.err, text.CursorUp.Sprint(), text.EraseLine.Sprint())
	b.session.bar = nil
}
