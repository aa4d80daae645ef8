package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// screen is a terminal that tells when a text was drawn on it.
type screen struct {
	drawn bytes.Buffer
	text  string
	seen  chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	before := strings.Contains(s.drawn.String(), s.text)
	s.drawn.Write(p)
	if !before && strings.Contains(s.drawn.String(), s.text) {
		close(s.seen)
	}
	return len(p), nil
}

func TestBar(t *testing.T) {
	for text, draw := range map[string]func(*session) *bar{
		"waiting for it": func(s *session) *bar { return s.begin("waiting for it", 0) },
		"50.00%":         func(s *session) *bar { b := s.begin("uploading", 10); b.reach(5); return b },
		"uploading more": func(s *session) *bar { b := s.begin("uploading", 10); b.say("uploading more"); return b },
		"mm: by the way": func(s *session) *bar { b := s.begin("waiting", 0); s.note("by the way"); return b },
	} {
		screen := &screen{text: text, seen: make(chan struct{})}
		s := &session{console: console{err: screen, width: 80}}
		bar := draw(s)
		select {
		case <-screen.seen:
		case <-time.After(time.Minute):
			t.Errorf("%q was never drawn", text)
		}
		bar.end()
		bar.end()
		s.note("afterwards")
		if !strings.HasSuffix(screen.drawn.String(), "mm: afterwards\n") {
			t.Errorf("the bar is not gone: %q", screen.drawn.String())
		}
	}
}

// Where there is no terminal there is no bar, and using it does nothing.
func TestNoBar(t *testing.T) {
	var err bytes.Buffer
	s := &session{console: console{err: &err}}
	bar := s.begin("waiting", 10)
	bar.reach(5)
	bar.say("more")
	s.note("by the way")
	bar.end()
	if err.String() != "mm: by the way\n" {
		t.Errorf("printed %q", err.String())
	}
}
