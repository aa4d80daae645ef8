package main

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// watchedOutput calls found whenever it contains the text after a write.
type watchedOutput struct {
	strings.Builder
	text  string
	found func()
}

func (w *watchedOutput) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.found()
	}
	return n, err
}

func TestProgressIsDrawnAndRemoved(t *testing.T) {
	for text, draw := range map[string]func(*session) *bar{
		"waiting for it": func(s *session) *bar { return s.startProgress("waiting for it", 0) },
		"50.00%":         func(s *session) *bar { b := s.startProgress("uploading", 10); b.setValue(5); return b },
		"another text":   func(s *session) *bar { b := s.startProgress("any", 10); b.setMessage("another text"); return b },
		"mm: by the way": func(s *session) *bar { b := s.startProgress("waiting", 0); s.note("by the way"); return b },
	} {
		drawn := make(chan struct{})
		screen := &watchedOutput{text: text, found: sync.OnceFunc(func() { close(drawn) })}
		s := &session{console: console{err: screen, width: 80}}
		bar := draw(s)
		select {
		case <-drawn:
		case <-time.After(time.Minute):
			t.Errorf("%q was never drawn", text)
		}
		bar.stop()
		bar.stop()
		s.note("afterwards")
		if !strings.HasSuffix(screen.String(), "mm: afterwards\n") {
			t.Errorf("the bar was not removed: %q", screen.String())
		}
	}
}

// In a narrow terminal the message is cut, so that the part shows that matters, and the line is one line.
func TestProgressFitsIntoANarrowTerminal(t *testing.T) {
	for want, total := range map[string]int64{"50.00%": 10, "wait": 0} {
		for _, width := range []int{24, 40, 60, 100} {
			drawn := make(chan struct{})
			screen := &watchedOutput{text: want, found: sync.OnceFunc(func() { close(drawn) })}
			s := &session{console: console{err: screen, width: width}}
			bar := s.startProgress("any", total)
			bar.setValue(5)
			bar.setMessage("waiting for a-function-with-a-long-name")
			select {
			case <-drawn:
			case <-time.After(time.Minute):
				t.Errorf("%d columns: %q was never drawn", width, want)
			}
			bar.stop()
			for line := range strings.Lines(plain(screen.String())) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
					t.Errorf("%d columns: a line of %d: %q", width, n, line)
				}
			}
		}
	}
}

// plain removes what moves the cursor and sets colours.
func plain(text string) string {
	return regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]").ReplaceAllString(text, "")
}

func TestWithoutATerminalThereIsNoProgress(t *testing.T) {
	var err bytes.Buffer
	s := &session{console: console{err: &err}}
	bar := s.startProgress("waiting", 10)
	bar.setValue(5)
	bar.setMessage("more")
	s.note("by the way")
	bar.stop()
	if err.String() != "mm: by the way\n" {
		t.Errorf("printed %q", err.String())
	}
}
