package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/lab"
)

// bar is a progress bar. A nil bar draws nothing; it is used where there is no terminal.
type bar struct {
	session *session
	writer  progress.Writer
	tracker *progress.Tracker
	drawn   sync.WaitGroup
	room    int // columns for the message
}

// How many columns there are beside a message: in a whole line, in one that says only how far it is, and in one that
// says only that it goes on.
const (
	wholeLine  = 64
	shortTotal = 14
	shortBar   = 18
)

// startProgress draws a bar until it is stopped. total is in bytes, or 0 when the end is not known.
func (s *session) startProgress(message string, total int64) *bar {
	if s.width == 0 {
		return nil
	}
	b := &bar{session: s, writer: progress.NewWriter(), tracker: &progress.Tracker{
		Total: total, Units: progress.UnitsBytes, AutoStopDisabled: true,
	}}
	style := progress.StyleDefault
	style.Visibility.Percentage = total > 0
	style.Visibility.Value = total > 0
	style.Options.TimeInProgressPrecision = 100 * time.Millisecond
	length := 24
	if text.StringWidthWithoutEscSequences(message)+wholeLine > s.width {
		style.Visibility.Value, style.Visibility.Time, style.Visibility.Tracker = false, false, total == 0
		length = 8
	}
	if b.room = s.width - shortBar; total > 0 {
		b.room = s.width - shortTotal
	}
	b.tracker.Message = b.fit(message)
	b.writer.SetStyle(style)
	b.writer.SetOutputWriter(s.err)
	b.writer.SetTerminalWidth(s.width)
	b.writer.SetTrackerLength(length)
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
		b.tracker.UpdateMessage(b.fit(message))
	}
}

// fit cuts a message so that the line fits into the terminal.
func (b *bar) fit(message string) string {
	return text.Snip(oneLine(message), max(b.room, 1), "~")
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

// terminal is what the commands of lab get.
func (s *session) terminal() (*lab.Terminal, error) {
	return &lab.Terminal{
		Binary: s.binary, Now: s.now, ReadJSON: s.readJSON, ReadConfig: s.readConfig, AddFile: addFile,
		Structured: s.structured(), Note: s.note,
		Log:     s.printLog,
		Connect: func() (*client.Client, error) { return s.connect(asDeveloper(), reconnecting) },
		Show: func(value any, tables ...lab.Table) error {
			grids := make([]grid, len(tables))
			for i, t := range tables {
				for _, column := range t.Head {
					grids[i].head = append(grids[i].head, oneLine(fmt.Sprint(column)))
				}
				for _, row := range t.Rows {
					grids[i].add(row...)
				}
				if t.Sparse {
					grids[i] = grids[i].withoutEmptyColumns()
				}
			}
			return s.show(value, grids...)
		},
		Progress: func(message string) (setMessage func(string), stop func()) {
			b := s.startProgress(message, 0)
			return b.setMessage, b.stop
		},
	}, nil
}

// printLog prints a function's log.
func (s *session) printLog(lines []string) {
	for _, line := range lines {
		_, _ = fmt.Fprintln(s.err, "log:", printable(line, "\t"))
	}
}
