package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
)

// bar is a progress bar. A nil bar draws nothing; it is used where there is no terminal.
type bar struct {
	session *session
	writer  progress.Writer
	tracker *progress.Tracker
	drawn   sync.WaitGroup
}

// startProgress draws a bar until it is stopped. total is in bytes, or 0 when the end is not known.
func (s *session) startProgress(message string, total int64) *bar {
	if s.width == 0 {
		return nil
	}
	b := &bar{session: s, writer: progress.NewWriter(), tracker: &progress.Tracker{
		Message: oneLine(message), Total: total, Units: progress.UnitsBytes, AutoStopDisabled: true,
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
	// Rendering stops with its tracker. A Stop before it has started would have no effect.
	b.writer.SetAutoStop(true)
	b.writer.AppendTracker(b.tracker)
	b.drawn.Go(b.writer.Render)
	s.bar = b
	return b
}

func (b *bar) setMessage(message string) {
	if b != nil {
		b.tracker.UpdateMessage(oneLine(message))
	}
}

func (b *bar) setValue(n int64) {
	if b != nil {
		b.tracker.SetValue(n)
	}
}

// log prints a line above the bar.
func (b *bar) log(text string) { b.writer.Log("%s", text) }

// stop removes the bar. It may be called more than once.
func (b *bar) stop() {
	if b == nil || b.session.bar != b {
		return
	}
	b.tracker.MarkAsDone()
	b.drawn.Wait()
	_, _ = fmt.Fprint(b.session.err, text.CursorUp.Sprint(), text.EraseLine.Sprint())
	b.session.bar = nil
}
